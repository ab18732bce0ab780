"""The offset map as a comparison uses it: between which offsets the other side's record must lie."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from mirror.wire.partition_state import PartitionState
from mirror.wire.segments import Segment

_upstream_start = attrgetter("upstream_start")
_downstream_start = attrgetter("downstream_start")


class Bracket(NamedTuple):
    """The first and the last offset that it can be; the same where the map is exact."""

    earliest: int
    latest: int


class OffsetMap:
    """One partition's segments, asked from both sides."""

    def __init__(self, state: PartitionState | None) -> None:
        self._segments: tuple[Segment, ...] = state.history.segments if state else ()
        self._position = state.position if state else 0
        self._end = state.downstream_end if state else 0

    def downstream(self, offset: int) -> Bracket:
        """Where the copy of the first record at or after this upstream offset lies."""
        at = bisect_right(self._segments, offset, key=_upstream_start) - 1
        if at >= 0 and offset < self._segments[at].upstream_end:
            early, at_most = self._segments[at].downstream_of(offset)
            return Bracket(early, early + at_most)
        if at + 1 < len(self._segments):
            start = self._segments[at + 1].downstream_start
            return Bracket(start, start)
        return Bracket(self._end, self._end)

    def upstream(self, offset: int) -> Bracket:
        """Where the original of the first copy at or after this downstream offset lies."""
        at = bisect_right(self._segments, offset, key=_downstream_start) - 1
        if at >= 0 and offset < self._segments[at].downstream_end:
            early, at_most = self._segments[at].upstream_of(offset)
            return Bracket(early, early + at_most)
        if at + 1 < len(self._segments):
            start = self._segments[at + 1].upstream_start
            return Bracket(start, start)
        return Bracket(self._position, self._position)

    def is_foreign(self, downstream: int) -> bool:
        """Whether no record of ours can lie there, by segments that say so exactly."""
        at = bisect_right(self._segments, downstream, key=_downstream_start) - 1
        return at < 0 or downstream >= self._segments[at].downstream_end

    def places(self, upstream: int, downstream: int) -> bool:
        """Whether the map is right about a record whose offsets on both sides are known."""
        at = bisect_right(self._segments, upstream, key=_upstream_start) - 1
        if at < 0 or upstream >= self._segments[at].upstream_end:
            return False
        early, at_most = self._segments[at].downstream_of(upstream)
        return early <= downstream <= early + at_most

    def misplaced(self, upstream: Sequence[int], downstream: Sequence[int]) -> list[tuple[int, int]]:
        """The records, equal on both sides, about which the map is wrong; quick where offsets are consecutive."""
        if not upstream:
            return []
        is_run = upstream[-1] - upstream[0] == len(upstream) - 1 == downstream[-1] - downstream[0]
        if is_run and self._is_one_line(upstream[0], upstream[-1]):
            ends = ((upstream[0], downstream[0]), (upstream[-1], downstream[-1]))
            if all(self.places(*pair) for pair in ends):
                return []
        return [pair for pair in zip(upstream, downstream, strict=True) if not self.places(*pair)]

    def _is_one_line(self, first: int, last: int) -> bool:
        at = bisect_right(self._segments, first, key=_upstream_start) - 1
        return at >= 0 and self._segments[at].is_exact and last < self._segments[at].upstream_end
