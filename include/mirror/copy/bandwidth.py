"""Holds a copy to a number of bytes per second."""

from __future__ import annotations

import time
from collections.abc import Callable

# Seconds slept at most at once, so that delivery reports are still served.
PATIENCE_S = 0.2


class Bandwidth:
    """A limit in bytes per second, 0 for none."""

    def __init__(self, bytes_per_second: float) -> None:
        self._bytes_per_second = bytes_per_second
        self._free_at = time.monotonic()

    def spend(self, byte_count: int, wait: Callable[[float], object]) -> None:
        """Wait until what was spent before is paid for; idle time is not saved up."""
        if not self._bytes_per_second:
            return
        self._free_at = max(self._free_at, time.monotonic()) + byte_count / self._bytes_per_second
        while (left := self._free_at - time.monotonic()) > 0:
            wait(min(left, PATIENCE_S))
