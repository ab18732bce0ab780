"""Random copies of one partition, remembered twice: as a History, and as the full list of what lies where."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from mirror.wire.history import History, HistoryBuilder


@dataclass
class Oracle:
    """Every copied record's upstream and downstream offset, as long as both logs hold what they held."""

    upstream: list[int] = field(default_factory=list)
    downstream: list[int] = field(default_factory=list)

    def next_downstream(self, offset: int) -> int:
        """Where the first copied record at or behind this upstream offset lies, or the end."""
        at = bisect_left(self.upstream, offset)
        return self.downstream[at] if at < len(self.upstream) else self.downstream[-1] + 1

    def next_upstream(self, offset: int, position: int) -> int:
        at = bisect_left(self.downstream, offset)
        return self.upstream[at] if at < len(self.downstream) else position

    def records_between(self, start: int, end: int) -> int:
        return bisect_left(self.upstream, end) - bisect_left(self.upstream, start)


class Copier:
    """Copies a random source to a random target, step by step."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.cap = rng.choice([4, 5, 8, 16, 33, 64])
        self.has_foreign_writer = rng.random() < 0.3
        self.is_transactional = rng.random() < 0.6
        self.filter_share = random.Random(seed + 10**6).choice([0.0, 0.0, 0.3, 0.9])  # records that are left out
        self.position = rng.choice([0, 0, 700, 10**12])  # the log may start late
        self.end = rng.choice([0, 0, 13, 10**9])  # records may already be there
        self.history = History(complete_from_start=rng.random() < 0.7)
        self.oracle = Oracle()
        self.run_count = 0  # segments that a history without a cap would have

    def steps(self, count: int) -> Iterator[None]:
        for _ in range(count):
            draft = self.history.builder(cap=self.cap)
            event = self.rng.random()
            if event < 0.01:
                self._recreate_target()
                draft = self.history.builder(cap=self.cap)
            elif event < 0.02:
                self._rewind_source()
            elif event < 0.12:
                self._abort(draft)
                draft = self.history.builder(cap=self.cap)
            for _ in range(self.rng.randint(1, 4)):
                self._copy_run(draft)
            self.history = draft.freeze()
            if self.rng.random() < 0.5:
                self.end += 1  # our own commit marker
            if self.rng.random() < 0.5:
                self.position += self.rng.randint(0, 3)  # markers and aborted records before the source's end
            if self.rng.random() < self.filter_share:
                self.position += self.rng.randint(1, 30)  # and what a filter drops
            yield

    def _recreate_target(self) -> None:
        self.history, self.oracle, self.end, self.run_count = History(), Oracle(), self.rng.randint(0, 5), 0

    def _rewind_source(self) -> None:
        if self.oracle.upstream:
            self.position = self.rng.randint(0, self.oracle.upstream[-1])
            self.oracle, self.run_count = Oracle(), 0

    def _abort(self, draft: HistoryBuilder) -> None:
        length = self.rng.randint(1, 30)
        draft.append_run(self.position, length, self.end, length)
        self.end += length + 1

    def _copy_run(self, draft: HistoryBuilder) -> None:
        rng, oracle = self.rng, self.oracle
        is_rewound = not oracle.upstream and bool(self.history.segments)  # the next run must lie below the old head
        if not is_rewound and (self.is_transactional or rng.random() < 0.3):
            self.position += rng.choice([1, 1, 1, 2, rng.randint(1, 60)])  # markers, aborted or compacted records
        if not is_rewound and rng.random() < self.filter_share:
            self.position += rng.randint(1, 30)  # records that a filter drops
        if rng.random() < 0.2:
            self.end += rng.randint(1, 40)  # markers of ours, an aborted attempt, a foreign writer
        length = rng.choice([1, 2, rng.randint(1, 20), rng.randint(1, 80)])
        spread = rng.randint(1, 5) if self.has_foreign_writer and length > 1 and rng.random() < 0.2 else 0
        inner = (
            sorted(rng.sample(range(self.end + 1, self.end + length + spread - 1), length - 2)) if length > 2 else []
        )
        last = [self.end + length + spread - 1] if length > 1 else []
        goes_on = (
            bool(oracle.upstream)
            and (self.position, self.end) == (oracle.upstream[-1] + 1, oracle.downstream[-1] + 1)
            and not self.has_foreign_writer
        )
        self.run_count += not goes_on
        oracle.upstream.extend(range(self.position, self.position + length))
        oracle.downstream.extend([self.end, *inner, *last])
        draft.append_run(self.position, length, self.end, length + spread)
        self.position += length
        self.end += length + spread
