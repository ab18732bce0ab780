"""A comparison's books: what was equal, what was not, and what waits for a later record to explain it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from mirror.verify.differences import Difference, Kind, Right
from mirror.verify.entries import Content, differing_fields, is_tombstone
from mirror.verify.offset_map import OffsetMap
from mirror.verify.suspects import Share, Suspects
from mirror.wire.gaps import Gap

# Differences named with their offsets, per partition; all are counted.
NAMED = 10
# Records behind us among which a doubled one is surely recognised; further back it is told as an extra one.
DOUBLED_WITHIN = 100_000
# Differences that may still turn out to be records out of order.
OPEN_MAX = 50_000


@dataclass(slots=True, kw_only=True)
class Rules:
    """What is right for one partition although it is different."""

    map: OffsetMap
    gaps: tuple[Gap, ...] = ()
    upstream_is_compacted: bool = False
    downstream_is_compacted: bool = False
    # The logs' starts; they move on while retention works beside us.
    upstream_start: int = 0
    downstream_start: int = 0
    # Records before these, met before the first equal pair, lie outside of what is compared: the map is not exact.
    upstream_certain: int = 0
    downstream_certain: int = 0
    # The keys to look at in this pass.
    share: Share = field(default_factory=Share)


class Findings:
    """Takes in what a walk meets."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.record_count = 0
        self.kinds: Counter[str] = Counter()
        self.right: Counter[Right] = Counter()
        self.suspects = Suspects(share=rules.share)
        self._named: list[Difference] = []
        # Two generations of hashes: the older one is forgotten when the younger one is full.
        self._recent: set[int] = set()
        self._less_recent: set[int] = set()
        self._open_missing: dict[Content, tuple[int, int]] = {}
        self._open_extra: dict[Content, tuple[int, int]] = {}
        self._is_in_step = False
        # A further pass is about keys that the first one had no room for; all else was told by the first.
        self._is_first_pass = rules.share == Share()

    @property
    def first(self) -> tuple[Difference, ...]:
        """The first differences of the partition, in order."""
        return tuple(sorted(self._named, key=Difference.order)[:NAMED])

    def equal(
        self,
        upstream: Sequence[int],
        downstream: Sequence[int],
        contents: Sequence[Content],
        *,
        checks_map: bool = True,
    ) -> None:
        """Records that are the same on both sides; where others are out of order, no map can be right about them."""
        if checks_map:
            for here, there in self.rules.map.misplaced(upstream, downstream):
                self._differ(Kind.OFFSET_MAP, here, there)
        self.record_count += len(contents)
        self._remember(contents)
        self._is_in_step = self._is_in_step or bool(contents)
        if self.suspects:
            self.suspects.clear(contents, self.suspects.missing, self.suspects.extra)

    def _remember(self, contents: Sequence[Content]) -> None:
        if len(self._recent) >= DOUBLED_WITHIN:
            self._less_recent, self._recent = self._recent, set()
        self._recent.update(map(hash, contents))

    def _was_met(self, content: Content) -> bool:
        met = hash(content)
        return met in self._recent or met in self._less_recent

    def out_of_order(self, upstream: int, downstream: int) -> None:
        self.record_count += 1
        self._differ(Kind.ORDER, upstream, downstream)

    def changed(self, upstream: int, here: Content, downstream: int, there: Content) -> None:
        """A record and its copy that are not the same in all fields."""
        fields = differing_fields(here, there)
        if not fields:
            self.right[Right.TIME_OF_COPY] += 1
        for name in fields:
            self._differ(Kind(name), upstream, downstream)
        self.record_count += 1
        if self.suspects:
            self.suspects.clear((there,), self.suspects.missing, self.suspects.extra)

    def missing(self, upstream: int, content: Content) -> None:
        """A record of the source that has no copy."""
        right = self._is_right_to_miss(upstream)
        if right is not None:
            self.right[right] += 1
        elif (late := self._open_extra.pop(content, None)) is not None:
            self.record_count += 1
            self._differ(Kind.ORDER, upstream, late[1], place=late[0])
        elif self.rules.downstream_is_compacted:
            self.suspects.clear((content,), self.suspects.extra)
            self.suspects.note(self.suspects.missing, self.record_count, upstream, content)
        else:
            self._keep_open(self._open_missing, content, upstream, Kind.MISSING)

    def extra(self, downstream: int, content: Content, beside: Collection[Content] = ()) -> None:
        """A record of the target that is no copy; `beside` are equal records around it."""
        right = self._is_right_to_have(downstream)
        if right is not None:
            self.right[right] += 1
        elif (earlier := self._open_missing.pop(content, None)) is not None:
            self.record_count += 1
            self._differ(Kind.ORDER, earlier[1], downstream, place=earlier[0])
        elif content in beside or self._was_met(content):
            self._differ(Kind.DOUBLED, None, downstream)
        elif self.rules.upstream_is_compacted and not self.rules.map.is_foreign(downstream):
            self.suspects.clear((content,), self.suspects.missing, self.suspects.extra)
            self.suspects.note(self.suspects.extra, self.record_count, downstream, content)
        else:
            self._keep_open(self._open_extra, content, downstream, Kind.EXTRA)

    def finish(self) -> None:
        """Both logs are at their end: nothing comes any more that could explain what is open."""
        for place, upstream in self._open_missing.values():
            self._differ(Kind.MISSING, upstream, None, place=place)
        for place, downstream in self._open_extra.values():
            self._differ(Kind.EXTRA, None, downstream, place=place)
        self._open_missing.clear()
        self._open_extra.clear()
        if self.suspects.cleared:
            self.right[Right.COMPACTED] += self.suspects.cleared
        for suspect in self.suspects.missing.values():
            self._convict(Kind.MISSING, suspect.place, suspect.offset, suspect.content, suspect.count)
        for suspect in self.suspects.extra.values():
            self._convict(Kind.EXTRA, suspect.place, suspect.offset, suspect.content, suspect.count)

    def _convict(self, kind: Kind, place: int, offset: int, content: Content, count: int) -> None:
        """The last record of a key has no counterpart: a tombstone may be cleaned away, nothing else may."""
        if is_tombstone(content):
            self.right[Right.COMPACTED] += count
            return
        is_upstream = kind is Kind.MISSING
        self._enter(kind, offset if is_upstream else None, None if is_upstream else offset, place, count)

    def _is_right_to_miss(self, upstream: int) -> Right | None:
        if any(gap.start <= upstream < gap.end for gap in self.rules.gaps):
            return Right.IN_GAP
        if self.rules.map.downstream(upstream).latest < self.rules.downstream_start:
            return Right.GONE_DOWNSTREAM
        return Right.OUTSIDE if not self._is_in_step and upstream < self.rules.upstream_certain else None

    def _is_right_to_have(self, downstream: int) -> Right | None:
        if self.rules.map.is_foreign(downstream):
            return None
        if self.rules.map.upstream(downstream).latest < self.rules.upstream_start:
            return Right.GONE_UPSTREAM
        return Right.OUTSIDE if not self._is_in_step and downstream < self.rules.downstream_certain else None

    def _keep_open(self, of: dict[Content, tuple[int, int]], content: Content, offset: int, kind: Kind) -> None:
        """It may be out of order, and come later on the other side; the oldest are given up where there are many."""
        if len(of) >= OPEN_MAX:
            place, oldest = of.pop(next(iter(of)))
            self._differ(kind, *((oldest, None) if kind is Kind.MISSING else (None, oldest)), place=place)
        if content in of:  # equal to the byte: one of them is enough to find its counterpart by
            self._differ(kind, *((offset, None) if kind is Kind.MISSING else (None, offset)))
        else:
            of[content] = (self.record_count, offset)

    def _differ(self, kind: Kind, upstream: int | None, downstream: int | None, *, place: int | None = None) -> None:
        if self._is_first_pass:
            self._enter(kind, upstream, downstream, self.record_count if place is None else place, 1)

    def _enter(self, kind: Kind, upstream: int | None, downstream: int | None, place: int, count: int) -> None:
        self.kinds[kind.value] += count
        self._named.append(Difference(place=place, kind=kind.value, upstream=upstream, downstream=downstream))
        if len(self._named) > 100 * NAMED:
            self._named = sorted(self._named, key=Difference.order)[:NAMED]
