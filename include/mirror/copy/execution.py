"""Where slots run: on Spark's executors as a rule, in this process where Spark would be too much."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Protocol

from mirror.copy.result import SlotResult
from mirror.copy.slot import run_slot
from mirror.copy.spec import SlotSpec

# Seconds between two looks at the progress, and at whether the claim still stands.
WATCH_S = 1.0


class Executor(Protocol):
    """Runs slots side by side."""

    def slot_count(self) -> int:
        """How many slots can run at once; starts what has to be started."""

    def run(self, specs: Sequence[SlotSpec], watch: Callable[[], bool]) -> list[SlotResult]:
        """Run all slots; `watch` is called every second and says whether to go on."""


class InProcessExecutor:
    """Runs slots in threads of this process: for topics so small that they must not wake Spark."""

    def __init__(self, slots: int = 1) -> None:
        self._slots = slots

    def slot_count(self) -> int:
        return self._slots

    def run(self, specs: Sequence[SlotSpec], watch: Callable[[], bool]) -> list[SlotResult]:
        name = f"{socket.gethostname()}/{os.getpid()}"
        told_to_stop = threading.Event()
        with ThreadPoolExecutor(max(len(specs), 1)) as threads:
            running = [threads.submit(run_slot, spec, told_to_stop.is_set) for spec in specs]
            pending = set(running)
            while pending:
                _, pending = wait(pending, timeout=WATCH_S)
                if not watch():
                    told_to_stop.set()
        return [replace(slot.result(), executor=name) for slot in running]
