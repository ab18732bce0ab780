"""Stretches of a partition whose downstream offset is its upstream offset plus a constant, and how they are thinned.

A segment draws a straight line through the records it covers. What was appended as one run is exactly that line;
two segments merged to save room are not, so a segment also says how far its line may be from the truth:

    line(o) = downstream_start + (o - upstream_start) - slack
    line(o) <= the downstream offset of the first record at or after o <= line(o) + bound

`slack` pulls the line down until it overshoots nowhere, because a translated group offset that is too far skips
records. `bound` is then the largest error on the early side; 0 means exact.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

# Below this, "the newest quarter stays exact" would promise less than one segment.
SMALLEST_CAP = 4


class Segment(NamedTuple):
    """Records from `upstream_start`, both ends being records whose offsets are known on both sides."""

    upstream_start: int
    upstream_length: int
    downstream_start: int
    downstream_length: int
    slack: int = 0
    bound: int = 0

    @property
    def upstream_end(self) -> int:
        return self.upstream_start + self.upstream_length

    @property
    def downstream_end(self) -> int:
        return self.downstream_start + self.downstream_length

    @property
    def is_exact(self) -> bool:
        return self.bound == 0

    def downstream_of(self, offset: int) -> tuple[int, int]:
        """The downstream offset for an upstream one inside, never late, and by how much it may be early."""
        inside = offset - self.upstream_start
        if inside == 0:
            return self.downstream_start, 0
        last = self.downstream_end - 1
        if inside == self.upstream_length - 1:
            return last, 0
        line = self.downstream_start + inside - self.slack
        # Behind the first record there is at least one downstream offset, whatever the line says.
        early = max(self.downstream_start + 1, line)
        return early, min(line + self.bound, last) - early

    def upstream_of(self, offset: int) -> tuple[int, int]:
        """The upstream offset for a downstream one inside, never late, and how many records early it may be."""
        inside = offset - self.downstream_start
        if inside == 0:
            return self.upstream_start, 0
        last = self.upstream_end - 1
        if inside == self.downstream_length - 1:
            return last, 0
        latest = self.upstream_start + inside + self.slack
        early = max(self.upstream_start + 1, latest - self.bound)
        return early, min(latest, last) - early


def run_segment(upstream_start: int, upstream_length: int, downstream_start: int, downstream_length: int) -> Segment:
    """The segment of one run of consecutive upstream offsets, all copied; the last one ends the downstream length.

    A foreign writer may have put records between ours, so the downstream side can be longer, never shorter.
    """
    spread = downstream_length - upstream_length
    if upstream_length < 1 or spread < 0:
        raise ValueError(f"{upstream_length} records cannot lie on {downstream_length} downstream offsets")
    return Segment(upstream_start, upstream_length, downstream_start, downstream_length, 0, spread)


def merge(first: Segment, second: Segment) -> Segment:
    """One segment for two neighbours: a line that is late nowhere, and the exact worst error of it."""
    up, up_length, down, _, first_slack, first_bound = first
    shift = (second.upstream_start - up) - (second.downstream_start - down)
    slack = max(first_slack, second.slack + shift, 0)
    bound = max(first_bound + slack - first_slack, second.bound + slack - second.slack - shift)
    if second.upstream_start > up + up_length:
        # An offset in the source gap means the second's first record; the line is furthest from it at the gap's start.
        bound = max(bound, second.downstream_start - (down + up_length - slack))
    return Segment(up, second.upstream_end - up, down, second.downstream_end - down, slack, bound)


def thin(segments: list[Segment], cap: int) -> list[Segment]:
    """At most `cap` segments: the cheapest neighbours merged, the newest quarter and the first start untouched.

    Cheap means a small error for its distance from the head, as groups far behind can bear more than those near it.
    """
    if cap < SMALLEST_CAP:
        raise ValueError(f"a history needs room for at least {SMALLEST_CAP} segments, not {cap}")
    surplus = len(segments) - cap
    if surplus <= 0:
        return segments
    head = segments[-1].upstream_end
    old: list[Segment | None] = list(segments[: len(segments) - cap // 4])
    following = list(range(1, len(old) + 1))
    preceding = list(range(-1, len(old) - 1))

    def offer(left: int) -> tuple[float, int, int, Segment, Segment, Segment] | None:
        right = following[left] if left >= 0 else len(old)
        first, second = (old[left], old[right]) if right < len(old) else (None, None)
        if first is None or second is None:
            return None
        merged = merge(first, second)
        return merged.bound / (head - merged.upstream_end), left, right, first, second, merged

    offers = [found for left in range(len(old)) if (found := offer(left))]
    heapq.heapify(offers)
    while surplus:
        _, left, right, first, second, merged = heapq.heappop(offers)
        if old[left] is not first or old[right] is not second:
            continue  # one of the two was merged with its other neighbour meanwhile
        old[left], old[right] = merged, None
        following[left] = following[right]
        if following[left] < len(old):
            preceding[following[left]] = left
        for changed in (offer(preceding[left]), offer(left)):
            if changed:
                heapq.heappush(offers, changed)
        surplus -= 1
    return [kept for kept in old if kept is not None] + segments[len(old) :]
