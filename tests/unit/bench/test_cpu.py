"""CPU time of a program and of what it started."""

from __future__ import annotations

import subprocess
import sys

from bench.cpu import SessionCpu

# Says what it used together with its child, which has ended by then; goes when its stdin does.
PROGRAM = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"])
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(one.ru_utime + one.ru_stime for one in used), flush=True)
sys.stdin.read()
"""


def test_children_that_ended_are_counted_and_other_sessions_are_not() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        cpu = SessionCpu(program.pid)
        said = float(program.stdout.readline())  # type: ignore[union-attr]
        own = cpu.seconds()
        assert not cpu.is_empty()
    assert cpu.is_empty()
    assert cpu.seconds() >= own > 0
    assert said <= cpu.seconds_after_end() < said + 1.0
