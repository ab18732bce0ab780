"""`make up` refuses before it starts anything; `make down` leaves nothing, whatever was started by what it stops."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from world import down, running, up
from world.process import Process
from world.running import alone, mark, stop_services

# A service that starts processes in sessions of their own, as Airflow's tasks may, so that its group does not hold
# them: one that lost its environment, as those do that give themselves a title, and one whose parent is gone already.
SERVICE = """
import subprocess, time
lost = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True, env={})
shell = ["/bin/sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"]
orphan = subprocess.run(shell, stdout=subprocess.PIPE, start_new_session=True)
print(lost.pid, int(orphan.stdout), flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Short waits for what must be killed anyhow; and a test that fails half-way leaves no process either."""
    monkeypatch.setattr(running, "GRACE_S", 0.2)
    yield
    for home in tmp_path.iterdir():
        stop_services(home)


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for_numbers(log: Path) -> list[int]:
    deadline = time.monotonic() + 20
    while not (text := log.read_text() if log.exists() else "").endswith("\n"):
        assert time.monotonic() < deadline, "the service said nothing"
        time.sleep(0.05)
    return [int(word) for word in text.split()]


def start_service(home: Path) -> list[int]:
    """A detached service and the processes that it would leave behind."""
    environment = {**os.environ, **mark(home)}
    service = Process("service", [sys.executable, "-c", SERVICE], directory=home, env=environment, detach=True)
    service.start()
    return [service.pid, *wait_for_numbers(service.log_path)]


def test_stopping_ends_what_a_service_started_in_sessions_of_their_own(tmp_path: Path) -> None:
    ours = start_service(tmp_path / "ours")
    neighbours = start_service(tmp_path / "theirs")
    try:
        assert stop_services(tmp_path / "ours") == ["ours/service"]
        assert not any(is_alive(pid) for pid in ours)
        assert all(is_alive(pid) for pid in neighbours)
        assert stop_services(tmp_path / "ours") == []
    finally:
        stop_services(tmp_path / "theirs")
    assert not any(is_alive(pid) for pid in neighbours)


def test_down_stops_both_kinds_of_services_and_may_be_called_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(running.project, "root", lambda: tmp_path)
    pids = [*start_service(running.demo_home()), *start_service(running.up_home())]
    assert down.main() == 0
    assert capsys.readouterr().out == "stopped .demo/service, .airflow/service\n"
    assert not any(is_alive(pid) for pid in pids)
    assert down.main() == 0
    assert capsys.readouterr().out == "nothing is running\n"


def test_two_commands_do_not_start_the_same_services_at_once(tmp_path: Path) -> None:
    holder = (
        "import sys; from pathlib import Path; from world.running import alone\n"
        "with alone(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        with pytest.raises(running.Busy, match="another command is at work"), alone(tmp_path):
            pass
        other.communicate("")
    with alone(tmp_path):
        pass


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clusters = A, B\nA.bootstrap.servers = a:1\nA->B.enabled = perhaps\ntasks.max = many\n", "problems"),
        ("clusters = A, B\nA.bootstrap.servers = a:1\nB.bootstrap.servers = b:1\n", "enables no flow"),
        (None, "cannot read"),
    ],
)
def test_up_refuses_a_file_with_all_its_problems_and_starts_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str | None,
    said: str,
) -> None:
    monkeypatch.setattr(running.project, "root", lambda: tmp_path)
    path = tmp_path / "mm2.properties"
    if text is not None:
        path.write_text(text)
    assert up.main([str(path)]) == 2
    told = capsys.readouterr().err
    assert said in told
    if said == "problems":
        assert "A->B.enabled" in told
        assert "tasks.max" in told
    assert not running.up_home().exists()
