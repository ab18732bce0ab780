"""Named points: faults strike in order, once, at the occurrence they name, and leave proof."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mirror.copy import points


@pytest.fixture(autouse=True)
def _nothing_seen_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "_seen", type(points._seen)())


def test_nothing_happens_where_no_fault_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIRMIRROR_FAULT", raising=False)
    for point in points.POINTS:
        points.reached(point)


def test_a_fault_waits_for_its_occurrence_and_for_those_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setenv("AIRMIRROR_FAULT", f"flushed:2:self:note:{first};committed:1:self:note:{second}")
    points.reached("flushed")
    points.reached("committed")
    assert (first.exists(), second.exists()) == (False, False)
    points.reached("flushed")
    assert (first.exists(), second.exists()) == (True, False)
    points.reached("committed")
    assert second.read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize(("what", "code"), [("kill", -signal.SIGKILL), ("note", 0)])
def test_a_fault_strikes_its_own_process_once(tmp_path: Path, what: str, code: int) -> None:
    fault = f"produced:1:self:{what}:{tmp_path / 'fired'}"
    command = [sys.executable, "-c", "from mirror.copy.points import reached; reached('produced')"]
    environment = {**os.environ, "AIRMIRROR_FAULT": fault}
    assert subprocess.run(command, env=environment, check=False).returncode == code
    assert (tmp_path / "fired").exists()
    assert subprocess.run(command, env=environment, check=False).returncode == 0
