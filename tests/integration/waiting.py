"""Bounded waits for what brokers learn a moment after their controller said that it is so."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
DEADLINE_S = 30.0


def wait_until(look: Callable[[], T], is_so: Callable[[T], bool], deadline_s: float = DEADLINE_S) -> T:
    """Look again until it is so; what was seen last is in the failure."""
    give_up = time.monotonic() + deadline_s
    while not is_so(seen := look()):
        assert time.monotonic() < give_up, f"not within {deadline_s:.0f} s; last seen: {seen!r}"
        time.sleep(0.05)
    return seen


def wait_for_equal(look: Callable[[], T], expected: T, deadline_s: float = DEADLINE_S) -> None:
    """Wait until what is seen equals what is expected, and say both if it does not."""
    give_up = time.monotonic() + deadline_s
    while look() != expected and time.monotonic() < give_up:
        time.sleep(0.05)
    assert look() == expected
