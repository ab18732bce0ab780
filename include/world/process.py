"""One process of the embedded world: its log, its end with its parent, or its life beyond it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

# Waits on the other end of our pipe: it closes when we die, however we die (kill -9 too, and on any Unix).
_WATCHDOG = """
read -r _
kill -s {sign} -- -{pid}
seconds=0
while kill -s 0 -- -{pid} && [ $seconds -lt {grace} ]; do seconds=$((seconds+1)); sleep 1; done
kill -s KILL -- -{pid}
"""
_SUFFIX = ".process.json"


class ProcessDied(RuntimeError):
    """A process ended before it did what was waited for; the message ends with the tail of its log."""


class Process:
    """A child process in a session of its own, which dies with this one unless it is detached."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        directory: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        detach: bool = False,
        stop_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.name = name
        self.log_path = directory / f"{name}.log"
        self._command = list(command)
        self._state_path = directory / f"{name}{_SUFFIX}"
        self._env = env
        self._cwd = cwd
        self._detach = detach
        self._stop_signal = stop_signal
        self._child: subprocess.Popen[bytes] | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        self._cpu_seconds = 0.0

    @property
    def pid(self) -> int:
        if self._child is None:
            raise RuntimeError(f"{self.name} was never started")
        return self._child.pid

    def is_running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def exit_code(self) -> int | None:
        """None as long as it runs; the negative number of a signal that ended it."""
        return None if self._child is None else self._child.poll()

    def start(self) -> None:
        """Start it and return at once; its output is appended to the log."""
        if self.is_running():
            raise RuntimeError(f"{self.name} is running already, as process {self.pid}")
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with self.log_path.open("ab") as log:
            self._log_start = log.tell()
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=None if self._env is None else dict(self._env),
                cwd=self._cwd,
                start_new_session=True,
            )
        if self._detach:
            _write_state(self._state_path, self._child.pid, self._stop_signal)
        else:
            self._watchdog = _watch(self._child.pid, self._stop_signal)

    def stop(self, timeout_s: float = 30) -> None:
        """End it in its own way and wait; what does not end in time is killed."""
        if self.is_running():
            self._remember_cpu()
            os.kill(self.pid, self._stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._wait(timeout_s)
        self.kill()

    def kill(self, sign: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal (kill -9) to it and all of its process group, and wait for its end."""
        if self._child is None:
            return
        self._remember_cpu()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, sign)
        self._wait(30)
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
            self._watchdog = None
        self._state_path.unlink(missing_ok=True)

    def freeze(self) -> None:
        """Stop it in its tracks (SIGSTOP)."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def cpu_seconds(self) -> float:
        """CPU time used since its last start, user and system; after its end, what was seen last."""
        self._remember_cpu()
        return self._cpu_seconds

    def log(self) -> str:
        """What it wrote since its last start."""
        with self.log_path.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def wait_for_line(self, text: str, timeout_s: float) -> None:
        """Wait until its log says `text`."""
        deadline = time.monotonic() + timeout_s
        while text not in self.log():
            if not self.is_running():
                raise ProcessDied(f"{self.name} ended before it said {text!r}:\n{self.log()[-4000:]}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name} did not say {text!r} in {timeout_s} s:\n{self.log()[-4000:]}")
            time.sleep(0.05)

    def _wait(self, timeout_s: float) -> None:
        if self._child is not None:
            self._child.wait(timeout_s)

    def _remember_cpu(self) -> None:
        if self.is_running():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = psutil.Process(self.pid).cpu_times()
                self._cpu_seconds = times.user + times.system


def _watch(pid: int, sign: signal.Signals) -> subprocess.Popen[bytes]:
    grace = 0 if sign is signal.SIGTERM else 15
    first = "KILL" if sign is signal.SIGTERM else sign.name.removeprefix("SIG")
    script = _WATCHDOG.format(pid=pid, sign=first, grace=grace)
    return subprocess.Popen(
        ["sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _write_state(path: Path, pid: int, sign: signal.Signals) -> None:
    # The creation time tells our process from a later one with the same number.
    state = {"pid": pid, "created": psutil.Process(pid).create_time(), "signal": int(sign)}
    path.write_text(json.dumps(state))


def running_detached(directory: Path) -> list[tuple[Path, str, psutil.Process]]:
    """Every detached process below a directory that is alive: the folder of its state, its name, itself."""
    running = []
    for path in sorted(directory.rglob(f"*{_SUFFIX}")):
        state = json.loads(path.read_text())
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(state["pid"])
            is_ours = abs(process.create_time() - state["created"]) <= 1
            if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                running.append((path.parent, path.name.removesuffix(_SUFFIX), process))
    return running


def stop_detached(directory: Path, timeout_s: float = 30) -> list[str]:
    """Stop every detached process that left its state below a directory; returns their names."""
    stopping: list[tuple[Path, psutil.Process, int]] = []
    for path in sorted(directory.rglob(f"*{_SUFFIX}")):
        state = json.loads(path.read_text())
        try:
            process = psutil.Process(state["pid"])
            if abs(process.create_time() - state["created"]) > 1:
                raise psutil.NoSuchProcess(process.pid)  # another one has its number now
            process.send_signal(state["signal"])
            stopping.append((path, process, process.pid))
        except psutil.NoSuchProcess:
            path.unlink()
    psutil.wait_procs([process for _, process, _ in stopping], timeout=timeout_s)
    for path, _, group in stopping:
        # The group outlives its leader where the leader does not clean up behind itself.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        path.unlink(missing_ok=True)
    return [path.name.removesuffix(_SUFFIX) for path, _, _ in stopping]
