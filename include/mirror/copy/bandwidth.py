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
        self._record_count = 0
        self._byte_count = 0

    def batch_count(self, most: int) -> int:
        """How many records to take at once: a second's worth, or the pause outlasts the transaction."""
        if not self._bytes_per_second:
            return most
        mean_bytes = self._byte_count / self._record_count if self._record_count else self._bytes_per_second
        return max(1, min(most, int(self._bytes_per_second / max(mean_bytes, 1))))

    def spend(self, record_count: int, byte_count: int, wait: Callable[[float], object]) -> None:
        """Wait until what was spent before is paid for; idle time is not saved up."""
        if not self._bytes_per_second:
            return
        self._record_count += record_count
        self._byte_count += byte_count
        self._free_at = max(self._free_at, time.monotonic()) + byte_count / self._bytes_per_second
        while (left := self._free_at - time.monotonic()) > 0:
            wait(min(left, PATIENCE_S))
