"""The services that stay up after their command ended: where they live, and how all of them are ended.

`make demo` keeps its own below .demo/, `make up` below .airflow/. Each service leaves a file with its process number;
what Airflow starts (task supervisors, spark-submit, Spark's Python workers) leaves none, and may outlive it, so its
environment carries a mark.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from world import project
from world.process import running_detached, stop_detached

MARK = "AIRMIRROR_SERVICES"
DEFAULT_PORT = 8080
# Seconds for a Spark job to end by itself when its Airflow is gone.
GRACE_S = 5.0


class Busy(RuntimeError):
    """Another command is starting or stopping the same services."""


def demo_home() -> Path:
    return project.root() / ".demo"


def up_home() -> Path:
    return project.root() / ".airflow"


def mark(home: Path) -> dict[str, str]:
    """What a service's environment carries, so that its descendants are known by it."""
    return {MARK: str(home)}


@contextlib.contextmanager
def alone(home: Path) -> Iterator[None]:
    """Keep two commands from starting the same services at once."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"another command is at work on the services below {home.name}/") from None
        yield


def stop_services(home: Path) -> list[str]:
    """End every service below a directory and all that they started; returns the services, as folder/name."""
    if not home.is_dir():
        return []
    services = running_detached(home)
    descendants = [child for _, _, service in services for child in _children(service)]
    stop_detached(home, timeout_s=40)
    # Those that see their parent go end by themselves; what is still there then is killed.
    give_up = time.monotonic() + GRACE_S
    while (left := _left_of(descendants, home)) and time.monotonic() < give_up:
        time.sleep(0.1)
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=10)
    return [f"{folder.name}/{name}" for folder, name, _ in services]


def _children(service: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return list(service.children(recursive=True))
    return []


def _left_of(descendants: list[psutil.Process], home: Path) -> list[psutil.Process]:
    """What still runs: descendants known from before, and whoever carries the mark.

    Both are needed: a process that gives itself a title overwrites its environment, and one whose parent died earlier
    is nobody's descendant.
    """
    return list({*(process for process in descendants if _is_alive(process)), *_marked(home)})


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _marked(home: Path) -> list[psutil.Process]:
    wanted = str(home)
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == wanted and process.pid != os.getpid():
                found.append(process)
    return found


def preferred_port() -> int | None:
    """Airflow's usual port where it is free; None leaves the choice to whoever starts it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", DEFAULT_PORT))
        except OSError:
            return None
    return DEFAULT_PORT
