"""CPU time of a program with everything it started: JVMs, drivers, workers, however short they live."""

from __future__ import annotations

import contextlib
import os
import resource

import psutil


class SessionCpu:
    """User and system seconds of all processes in one session; ask often, what ended is kept as last seen."""

    def __init__(self, session: int) -> None:
        self._session = session
        self._members: dict[int, psutil.Process] = {}
        self._others: set[int] = set()
        self._seconds: dict[int, float] = {}
        self._ended_s = 0.0
        self._reaped_before = _reaped()

    def seconds(self) -> float:
        """CPU seconds until now; never less than before."""
        for pid in psutil.pids():
            if pid not in self._others and pid not in self._members:
                self._sort_in(pid)
        for pid, process in list(self._members.items()):
            try:
                times = process.cpu_times()
                self._seconds[pid] = max(self._seconds.get(pid, 0.0), times.user + times.system)
            except psutil.NoSuchProcess:
                del self._members[pid]
                self._ended_s += self._seconds.pop(pid, 0.0)
        return self._ended_s + sum(self._seconds.values())

    def seconds_after_end(self) -> float:
        """The whole: what was seen, or what the kernel counted for the ended program and those it waited for."""
        return max(self.seconds(), _reaped() - self._reaped_before)

    def is_empty(self) -> bool:
        """Whether every process of the session has ended."""
        self.seconds()
        return not self._members

    def _sort_in(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getsid(pid) == self._session:
                self._members[pid] = psutil.Process(pid)
            else:
                self._others.add(pid)


def _reaped() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
