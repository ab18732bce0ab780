"""`airmirror copy` as its user runs it: the real command with Spark, its words, its exit codes, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from integration.command import Command
from integration.copying import Mirrored, make_topic
from integration.records import numbered
from mirror.copy.control import Control
from mirror.kafka.values import TopicPartition

# Spark's start and end on a busy machine.
PATIENCE_S = 180


class Running:
    """The command in a session of its own, so that all it starts can be found."""

    def __init__(self, flow: Mirrored, directory: Path, *arguments: str) -> None:
        program = Path(sys.executable).with_name("airmirror")
        self.errors = directory / "stderr"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [program, "--config", str(flow.config), "copy", flow.flow.id, "--master", "local[2,4]", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )

    def end(self) -> tuple[int, str, str]:
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out.decode(), self.errors.read_text()

    def left_behind(self) -> list[int]:
        """Processes of the session that still live; Spark's JVM ends a moment after the command that started it."""
        deadline = time.monotonic() + 30
        while (alive := list(self._session())) and time.monotonic() < deadline:
            time.sleep(0.1)
        return alive

    def _session(self) -> Iterator[int]:
        for pid in psutil.pids():
            try:
                if os.getsid(pid) == self.process.pid and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                    yield pid
            except (ProcessLookupError, psutil.NoSuchProcess):
                continue

    def kill(self) -> None:
        for pid in self._session():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()


def wait_until(what: str, is_so: object) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"not within {PATIENCE_S} s: {what}"
        time.sleep(0.1)


@pytest.mark.slow
def test_the_command_copies_exactly_with_spark_and_the_next_one_does_not_start_it(
    flow: Mirrored, tmp_path: Path
) -> None:
    topic = flow.topic("orders", 4)
    flow.write(topic, numbered(2000, partitions=4))
    flow.make_remote_topics()
    running = Running(flow, tmp_path, "--json")
    try:
        code, out, errors = running.end()
        assert code == 0, errors
        assert running.left_behind() == []
    finally:
        running.kill()
    document = json.loads(out)
    assert (document["records"], document["error"]) == (2000, None)
    assert sorted(slot["slot"] for slot in document["slots"]) == [0, 1]
    assert all(slot["executor"] for slot in document["slots"])
    assert "starting Spark on local[2,4]" in errors
    assert "Spark started in" in errors
    assert "copying 4 partitions of 1 topic" in errors
    flow.assert_equal(topic)

    ends = flow.target_ends()
    again = Running(flow, tmp_path)
    try:
        code, out, errors = again.end()
    finally:
        again.kill()
    assert (code, "nothing to copy" in out, "Spark" in errors) == (0, True, False), errors
    assert flow.target_ends() == ends


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.long("ends as with the other signal")), signal.SIGTERM]
)
def test_an_interrupted_copy_ends_cleanly_and_leaves_nothing_running_or_open(
    flow: Mirrored, tmp_path: Path, number: signal.Signals
) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(500))
    flow.make_remote_topics()
    # A transaction that stays open until the signal comes; the broker itself would end it after a minute.
    flow.configure("airmirror.copy.commit.interval.ms = 40000")
    remote = TopicPartition(flow.remote(topic), 0)
    running = Running(flow, tmp_path, "--window", "600")
    try:
        wait_until("records in an open transaction", lambda: flow.target.high_watermarks([remote])[remote] > 0)
        assert flow.target.stable_ends([remote])[remote] == 0
        os.kill(running.process.pid, number)
        code, _, errors = running.end()
        assert code == 128 + number, errors
        assert "was interrupted; what is committed stands" in errors
        assert "Traceback" not in errors
        assert running.left_behind() == []
    finally:
        running.kill()
    ends = (flow.target.stable_ends([remote]), flow.target.high_watermarks([remote]))
    assert ends[0] == ends[1]
    control = Control(flow.links, flow.target).read()
    assert control.claim is not None
    assert control.lives[control.claim.run][0].state == "ended"
    flow.configure("")
    assert flow.copy().record_count == 500
    flow.assert_equal(topic)


def test_only_topics_that_match_are_copied_and_those_without_a_copy_are_named(
    flow: Mirrored, airmirror: Command
) -> None:
    orders, payments = flow.topic("orders", 2), flow.topic("payments")
    flow.write(orders, numbered(10, partitions=2))
    flow.write(payments, numbered(7))
    flow.make_remote_topics()
    late = flow.topic("orders-late")
    flow.write(late, numbered(3))
    copied = airmirror("copy", "--topics", r".*\Qorders\E(-late)?")
    assert copied.code == 0
    (row,) = copied.rows(orders)
    assert row[1:3] == ["2", "10"]
    assert f"waiting: {late}: {flow.remote(late)} does not exist" in copied.out
    assert "copied 10 records" in copied.out
    assert payments not in copied.out
    assert flow.downstream_values(payments) == []
    whole = airmirror("copy", "--json")
    assert (whole.code, whole.document["records"]) == (0, 7)


def test_a_copy_that_another_takes_over_says_so_and_exits_1(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(10))
    flow.make_remote_topics()

    def take_over() -> None:
        wait_until("a first commit", lambda: flow.downstream_values(topic))
        flow.copy(on_held="take-over", window_s=0.5, run="the-newer-run")
        flow.write(topic, numbered(1, start=10))  # what the old run now tries to copy, and may not

    newer = threading.Thread(target=take_over)
    newer.start()
    try:
        superseded = airmirror("copy", "--window", "120")
    finally:
        newer.join(PATIENCE_S)
    assert superseded.code == 1
    assert "run the-newer-run took" in superseded.err
    assert len(flow.downstream_values(topic)) == 10
    assert airmirror("copy").code == 0
    flow.assert_equal(topic)


def test_a_copy_that_fails_as_a_whole_is_one_document_and_exits_1(flow: Mirrored, airmirror: Command) -> None:
    flow.topic("orders")
    ours = f"mm2-offset-syncs-airmirror.{flow.aliases[0]}.internal"
    make_topic(flow.target, ours, 2, **{"cleanup.policy": "compact"})
    failed = airmirror("copy", "--json")
    assert failed.code == 1
    assert failed.document["error"]["error"] == "TopicRefused"
    assert ours in failed.err
