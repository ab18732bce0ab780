"""Ties a Spark job to the life of the task that started it, however that life ends.

A task that is killed with -9 can do nothing about its job any more, and Spark does not notice. So the task holds one
end of a named pipe and the job's driver reads from the other: the system closes it when the task is gone. Through the
same pipe the task can send one line, which no disk and no process list shows. Imports neither Airflow nor Spark,
because both sides use it.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import psutil

# The driver's exit code when its task was gone; nobody is left to read it but a log.
LET_GO = 70
_SUBMIT = "org.apache.spark.deploy.SparkSubmit"


class Leash:
    """The task's end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._end: int | None = None

    def __enter__(self) -> Leash:
        os.mkfifo(self.path, 0o600)
        # Read and write: for writing alone, the open would wait for the driver.
        self._end = os.open(self.path, os.O_RDWR)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._end is not None:
            os.close(self._end)
            self._end = None

    def send(self, line: str) -> None:
        """Give the driver this line when it comes for it; returns at once."""
        data, end = f"{line}\n".encode(), self._end

        def write() -> None:
            # More than the pipe holds waits for the driver; with no driver ever, it ends with the task.
            with suppress(OSError):
                at = 0
                while end is not None and at < len(data):
                    at += os.write(end, data[at:])

        threading.Thread(target=write, name="leash-send", daemon=True).start()


class Told:
    """What the driver's end of the leash brought: the line that the task sent."""

    def __init__(self) -> None:
        self._line = b""
        self._whole = threading.Event()

    def line(self) -> str:
        """The line, waited for: a task that is gone before it sent it ends this process."""
        self._whole.wait()
        return self._line.decode()

    def add(self, data: bytes) -> None:
        if not self._whole.is_set():
            line, end, _ = (self._line + data).partition(b"\n")
            self._line = line
            if end:
                self._whole.set()


def end_with(path: str) -> Told:
    """The driver's end: when the task is gone, end Spark's JVM, all that it started, and this process."""
    jvm, told = _jvm(), Told()
    threading.Thread(target=_watch, args=(path, jvm, told), name="leash", daemon=True).start()
    return told


def _watch(path: str, jvm: psutil.Process | None, told: Told) -> None:
    # A path that is gone says the same as an end of file: nobody holds the other end.
    with suppress(OSError):
        end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # with nobody there, a blocking open would wait for ever
        os.set_blocking(end, True)
        while data := os.read(end, 4096):
            told.add(data)
    if jvm is not None:
        end_tree(jvm)
    os._exit(LET_GO)


def _jvm() -> psutil.Process | None:
    """Our parent, unless it is gone already and whoever adopts orphans stands in its place."""
    with suppress(psutil.Error):
        parent = psutil.Process(os.getppid())
        if _SUBMIT in parent.cmdline():
            return parent
    return None


def end_tree(root: psutil.Process) -> None:
    """Kill a process and all below it, except ourselves; listed first, because an orphan is nobody's child."""
    with suppress(psutil.NoSuchProcess):
        tree = [root, *root.children(recursive=True)]
        for process in tree:
            if process.pid != os.getpid():
                with suppress(psutil.NoSuchProcess):
                    process.kill()
