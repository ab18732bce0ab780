"""Where the tasks of a verification run: on Spark's executors as a rule, in this process for a few records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

Spec = TypeVar("Spec")
Result = TypeVar("Result")

# Seconds between two looks at the progress.
WATCH_S = 1.0


class Executor(Protocol):
    """Runs tasks side by side; mirror.spark has one for Spark."""

    def slot_count(self) -> int:
        """How many tasks can run at once; starts what has to be started."""

    def host(self) -> str:
        """The address under which tasks reach this process."""

    def run_each(
        self, function: Callable[[Spec], Result], specs: Sequence[Spec], watch: Callable[[], bool]
    ) -> list[Result] | None:
        """One task per spec; `watch` is called every second and says whether to go on. None if it said no."""


class InProcessExecutor:
    """Runs tasks in threads of this process: for tests, and for the newest part of a small flow."""

    def __init__(self, tasks: int = 2) -> None:
        self._tasks = tasks

    def slot_count(self) -> int:
        return self._tasks

    def host(self) -> str:
        return "127.0.0.1"

    def run_each(
        self, function: Callable[[Spec], Result], specs: Sequence[Spec], watch: Callable[[], bool]
    ) -> list[Result] | None:
        with ThreadPoolExecutor(max(len(specs), 1)) as threads:
            running = [threads.submit(function, spec) for spec in specs]
            pending = set(running)
            while pending:
                _, pending = wait(pending, timeout=WATCH_S)
                watch()
        return [task.result() for task in running]
