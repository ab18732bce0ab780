"""Walks along a partition and its copy at once, record by record, in memory that does not grow with them.

As long as both sides are equal, nothing is kept. Where they are not, a window of both is looked at, a small one
first, until they are in step again:

    upstream    a b c d e f g        b is missing, and x is an extra one: found when d, e, f, g are in step
    downstream  a c d x e f g

The bound: WINDOW records of each side at about 300 bytes, whatever their own size, and what `findings` remembers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mirror.verify.alignment import Pair, align, is_in_step
from mirror.verify.entries import Stream
from mirror.verify.findings import Findings
from mirror.verify.settling import Window, settle

# Records of each side that are looked at to get back into step: the first try, how it grows, and the most.
FIRST_WINDOW, GROWTH, WINDOW = 64, 8, 65_536


class Walk:
    """One partition's comparison; `on_way` is told the upstream offset that was reached, now and then."""

    def __init__(
        self, upstream: Stream, downstream: Stream, findings: Findings, on_way: Callable[[int], None] | None = None
    ) -> None:
        self._here = upstream
        self._there = downstream
        self._findings = findings
        self._on_way = on_way or (lambda offset: None)

    def run(self) -> None:
        while self._here.fill(1) + self._there.fill(1):
            if not self._take_equal():
                self._resolve()
            if self._here.at:
                self._on_way(self._here.offsets[self._here.at - 1])
        self._findings.finish()

    def _take_equal(self) -> int:
        """Take what is equal on both sides; compared in one go, because as a rule all of it is."""
        here, there = self._here, self._there
        count = min(len(here.offsets) - here.at, len(there.offsets) - there.at)
        if not count:
            return 0
        offsets, contents = here.ahead(count)
        other_offsets, other_contents = there.ahead(count)
        if contents != other_contents:
            count = next(n for n in range(count) if contents[n] != other_contents[n])
        if count:
            self._findings.equal(offsets[:count], other_offsets[:count], contents[:count])
            here.at += count
            there.at += count
        return count

    def _resolve(self) -> None:
        """The next records are not the same: look ahead until both sides are in step again."""
        size = FIRST_WINDOW
        while True:
            here, there = self._here.fill(size), self._there.fill(size)
            pairs = align(self._here.ahead(here)[1], self._there.ahead(there)[1])
            sees_ends = here < size and there < size
            if sees_ends or is_in_step(pairs) or size >= WINDOW:
                break
            size = min(size * GROWTH, WINDOW)
        if sees_ends:
            self._settle(pairs, here, there)
        elif pairs:
            self._settle(pairs, pairs[-1][0] + 1, pairs[-1][1] + 1)
        else:
            self._settle([], *self._without_a_pair(here, there))

    def _without_a_pair(self, here: int, there: int) -> tuple[int, int]:
        """How much of each window to take where no record of one is in the other: the offset map says who is behind."""
        rules = self._findings.rules
        if not here or not there:
            return here, there
        ours, theirs = self._here.ahead(here)[0], self._there.ahead(there)[0]
        if rules.map.upstream(theirs[0]).earliest > ours[-1]:
            return here, 0
        if rules.map.downstream(ours[0]).earliest > theirs[-1]:
            return 0, there
        if rules.downstream_is_compacted and ours[-1] < rules.map.upstream(theirs[0]).latest:
            return here, 0
        if rules.upstream_is_compacted and theirs[-1] < rules.map.downstream(ours[0]).latest:
            return 0, there
        if theirs[-1] < rules.downstream_certain:
            return 0, there
        if ours[-1] < rules.upstream_certain:
            return here, 0
        # In step by the map, and every record is another one.
        both = min(here, there)
        return both, both

    def _settle(self, pairs: Sequence[Pair], here: int, there: int) -> None:
        """Enter what the windows hold up to these numbers of records, and take it."""
        settle(self._findings, pairs, Window(*self._here.ahead(here)), Window(*self._there.ahead(there)))
        self._here.at += here
        self._there.at += there
