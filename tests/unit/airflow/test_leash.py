"""A driver on a leash ends when its holder does, however that ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from mirror.airflow.leash import LET_GO, Leash, end_tree

HOLDER = """
import sys, time
from pathlib import Path
from mirror.airflow.leash import Leash
with Leash(Path(sys.argv[1])):
    print("holding", flush=True)
    sys.stdin.read()
"""
DRIVER = """
import sys, time
from mirror.airflow.leash import end_with
end_with(sys.argv[1])
print("working", flush=True)
sys.stdin.read()
"""
TOLD = """
import sys
from mirror.airflow.leash import end_with
line = end_with(sys.argv[1]).line()
print(len(line), *set(line), flush=True)
sys.stdin.read()
"""
TREE = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"])
print(child.pid, flush=True)
sys.stdin.read()
"""


class Started:
    """Python processes that end with the test."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[str]] = []

    def __call__(self, code: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._processes.append(process)
        return process

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()


@pytest.fixture
def start() -> Iterator[Started]:
    started = Started()
    yield started
    started.end()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_driver_ends_when_its_holder_is_killed(start: Started, tmp_path: Path) -> None:
    path = str(tmp_path / "leash")
    holder = start(HOLDER, path)
    assert said(holder) == "holding"
    driver = start(DRIVER, path)
    assert said(driver) == "working"
    assert driver.poll() is None
    holder.kill()
    assert driver.wait(20) == LET_GO


def test_a_driver_ends_when_its_holder_lets_go(start: Started, tmp_path: Path) -> None:
    with Leash(tmp_path / "leash") as leash:
        driver = start(DRIVER, str(leash.path))
        assert said(driver) == "working"
        assert driver.poll() is None
    assert driver.wait(20) == LET_GO


@pytest.mark.parametrize("size", [10, 300_000], ids=["a password", "more than a pipe holds"])
def test_a_driver_gets_the_line_that_its_task_sent_and_stays_on_the_leash(
    start: Started, tmp_path: Path, size: int
) -> None:
    with Leash(tmp_path / "leash") as leash:
        leash.send("x" * size)
        driver = start(TOLD, str(leash.path))
        assert said(driver) == f"{size} x"
        assert driver.poll() is None
    assert driver.wait(20) == LET_GO


@pytest.mark.parametrize("removed", [False, True], ids=["let go", "removed"])
def test_a_driver_that_starts_too_late_ends_at_once(start: Started, tmp_path: Path, removed: bool) -> None:
    with Leash(tmp_path / "leash") as leash:
        pass
    if removed:
        leash.path.unlink()
    assert start(DRIVER, str(leash.path)).wait(20) == LET_GO


def test_a_driver_leaves_a_parent_alone_that_is_not_its_jvm(start: Started, tmp_path: Path) -> None:
    with Leash(tmp_path / "leash") as leash:
        driver = start(DRIVER, str(leash.path))
        assert said(driver) == "working"
    assert driver.wait(20) == LET_GO
    assert psutil.Process(os.getpid()).is_running()  # we are its parent


def test_a_tree_ends_with_all_its_branches(start: Started) -> None:
    root = start(TREE)
    child = psutil.Process(int(said(root)))
    end_tree(psutil.Process(root.pid))
    assert root.wait(20) < 0
    deadline = time.monotonic() + 20
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.05)


def test_a_tree_that_is_gone_is_no_error(start: Started) -> None:
    process = start("")
    gone = psutil.Process(process.pid)
    process.wait(20)
    end_tree(gone)
