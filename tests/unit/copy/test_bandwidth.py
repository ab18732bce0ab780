"""The bandwidth limit, on a clock that only moves when somebody waits."""

from __future__ import annotations

import pytest

from mirror.copy import bandwidth
from mirror.copy.bandwidth import PATIENCE_S, Bandwidth


class Clock:
    """Stands in for the time module; counts how long was waited, and the longest single wait."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.longest = 0.0

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.longest = max(self.longest, seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(bandwidth, "time", clock)
    return clock


@pytest.mark.parametrize(("limit", "chunk", "chunks"), [(1_000, 100, 50), (1_000_000, 64_000, 30), (10, 100, 1)])
def test_bytes_take_the_time_that_the_limit_gives_them(clock: Clock, limit: int, chunk: int, chunks: int) -> None:
    held = Bandwidth(limit)
    begun = clock.now
    for _ in range(chunks):
        held.spend(1, chunk, clock.wait)
    assert clock.now - begun == pytest.approx(chunk * chunks / limit)


def test_idle_time_is_not_saved_up_for_a_burst(clock: Clock) -> None:
    held = Bandwidth(1_000)
    clock.now += 3600
    begun = clock.now
    held.spend(1, 5_000, clock.wait)
    assert clock.now - begun == pytest.approx(5)


def test_a_long_wait_is_broken_into_short_ones_so_that_reports_are_served(clock: Clock) -> None:
    Bandwidth(10).spend(1, 1_000, clock.wait)
    assert clock.longest <= PATIENCE_S


def test_no_limit_means_no_wait(clock: Clock) -> None:
    Bandwidth(0).spend(1, 10**12, clock.wait)
    assert clock.longest == 0


def test_batches_are_a_seconds_worth_once_the_records_size_is_known(clock: Clock) -> None:
    held = Bandwidth(10_000)
    assert held.batch_count(4000) == 1
    held.spend(10, 1_000, clock.wait)
    assert held.batch_count(4000) == 100
    assert Bandwidth(0).batch_count(4000) == 4000
