"""Where each copied record of a partition lies on both sides, kept small: the segments of everything copied so far.

upstream    0 . . . . 5 m 7 . . . . 12 m 14 . . p        m: a marker, p: the position
downstream  0 . . . . 5 6 . . . . 11 12 . . |             |: the end
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from mirror.wire.primitives import read_unsigned_varint
from mirror.wire.segment_codec import decode_segments, encode_segments
from mirror.wire.segments import Segment, run_segment, thin

# Segments per partition. Each costs about three bytes in every sync; fewer make old translations coarser.
DEFAULT_CAP = 256

_upstream_start = attrgetter("upstream_start")
_downstream_start = attrgetter("downstream_start")


@dataclass(frozen=True, slots=True)
class Exact:
    """The very next record a reader of the source would see is the next one from here."""

    downstream: int


@dataclass(frozen=True, slots=True)
class Early:
    """No record is skipped from here; up to `at_most` are seen again."""

    downstream: int
    at_most: int


@dataclass(frozen=True, slots=True)
class Upstream:
    """A downstream offset's counterpart on the source: no record is skipped, up to `at_most` are seen again."""

    offset: int
    at_most: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """No translation, and why."""

    reason: str


Translation = Exact | Early | Unknown

NOTHING_COPIED = Unknown("nothing was copied from this partition yet")
BEFORE_HISTORY = Unknown("the offset lies before what airmirror copied from this partition")


class History:
    """The segments of one partition, oldest first; a value, decoded only when somebody looks at the segments.

    `complete_from_start`: copying began at the start that the log had at that time, so an offset before the first
    segment means the first copied record. Otherwise another replicator may have copied what lies before.
    """

    __slots__ = ("_raw", "_segments", "complete_from_start")

    def __init__(self, segments: Iterable[Segment] = (), *, complete_from_start: bool = False) -> None:
        self._segments: tuple[Segment, ...] | None = tuple(segments)
        self._raw: bytes | None = None
        self.complete_from_start = complete_from_start

    @property
    def segments(self) -> tuple[Segment, ...]:
        if self._segments is None:
            self._segments = decode_segments(self._raw or b"")
        return self._segments

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, History):
            return NotImplemented
        return self.segments == other.segments and self.complete_from_start == other.complete_from_start

    def __hash__(self) -> int:
        return hash((self.segments, self.complete_from_start))

    def __repr__(self) -> str:
        return f"History(segments={self.segments!r}, complete_from_start={self.complete_from_start})"

    @property
    def is_exact(self) -> bool:
        """Whether every offset since the first copied record translates exactly."""
        return all(segment.is_exact for segment in self.segments)

    def builder(self, *, cap: int = DEFAULT_CAP) -> HistoryBuilder:
        """A draft that goes on from here; throw it away when the transaction aborts."""
        return HistoryBuilder(self, cap=cap)

    def append_run(
        self,
        upstream_start: int,
        upstream_length: int,
        downstream_start: int,
        downstream_length: int,
        *,
        cap: int = DEFAULT_CAP,
    ) -> History:
        """This history and one more run; for many runs use a builder."""
        draft = self.builder(cap=cap)
        draft.append_run(upstream_start, upstream_length, downstream_start, downstream_length)
        return draft.freeze()

    def cut(self, upstream_end: int) -> History:
        """Only what lies before an upstream offset; inside a segment that is not exact, the whole segment goes."""
        kept: list[Segment] = []
        for segment in self.segments:
            if segment.upstream_end <= upstream_end:
                kept.append(segment)
            elif segment.upstream_start < upstream_end and segment.is_exact:
                length = upstream_end - segment.upstream_start
                kept.append(Segment(segment.upstream_start, length, segment.downstream_start, length))
        return History(kept, complete_from_start=self.complete_from_start)

    def cut_back(self, downstream_end: int) -> History:
        """Only what lies before a downstream offset."""
        kept: list[Segment] = []
        for segment in self.segments:
            if segment.downstream_end <= downstream_end:
                kept.append(segment)
            elif segment.downstream_start < downstream_end and segment.is_exact:
                length = downstream_end - segment.downstream_start
                kept.append(Segment(segment.upstream_start, length, segment.downstream_start, length))
        return History(kept, complete_from_start=self.complete_from_start)

    def thinned(self, cap: int) -> History:
        return History(thin(list(self.segments), cap), complete_from_start=self.complete_from_start)

    def translate(self, offset: int, *, position: int) -> Translation:
        """Where a group that stands at this upstream offset goes on downstream: never behind a record it has not seen.

        `position` is the next upstream offset to copy; beyond it the answer is the end, early by what is not copied.
        """
        segments = self.segments
        if not segments:
            return NOTHING_COPIED
        at = bisect_right(segments, offset, key=_upstream_start) - 1
        if at < 0:
            return Exact(segments[0].downstream_start) if self.complete_from_start else BEFORE_HISTORY
        found = segments[at]
        if offset < found.upstream_end:
            downstream, at_most = found.downstream_of(offset)
            return Early(downstream, at_most) if at_most else Exact(downstream)
        if at + 1 < len(segments):
            return Exact(segments[at + 1].downstream_start)
        if offset <= position:
            return Exact(found.downstream_end)
        return Early(found.downstream_end, offset - position)

    def translate_back(self, downstream: int, *, position: int) -> Upstream | Unknown:
        """Where a group that stands at this downstream offset goes on upstream: the way back, rounded early."""
        segments = self.segments
        if not segments:
            return NOTHING_COPIED
        at = bisect_right(segments, downstream, key=_downstream_start) - 1
        if at < 0:
            return Upstream(segments[0].upstream_start, 0) if self.complete_from_start else BEFORE_HISTORY
        found = segments[at]
        if downstream < found.downstream_end:
            return Upstream(*found.upstream_of(downstream))
        if at + 1 < len(segments):
            return Upstream(segments[at + 1].upstream_start, 0)
        return Upstream(position, 0)

    def encode(self) -> bytes:
        if self._raw is None:
            self._raw = encode_segments(self.segments, self.complete_from_start)
        return self._raw

    @staticmethod
    def decode(raw: bytes) -> History:
        """Read a history's head now and its segments when asked for: positions are read ten thousand at a time."""
        first, _ = read_unsigned_varint(raw, 0)
        history = History(complete_from_start=bool(first & 1))
        history._segments, history._raw = None, raw
        return history


EMPTY = History()


class HistoryBuilder:
    """A history while a slot appends to it: cheap runs, thinned now and then, frozen at each commit."""

    __slots__ = ("_cap", "_complete", "_segments")

    def __init__(self, history: History = EMPTY, *, cap: int = DEFAULT_CAP) -> None:
        self._segments = list(history.segments)
        self._complete = history.complete_from_start
        self._cap = cap

    def append_run(
        self, upstream_start: int, upstream_length: int, downstream_start: int, downstream_length: int
    ) -> None:
        """Add a run of consecutive upstream offsets, all copied.

        A run that begins below the head on either side means that the log was rewound or the target made anew:
        what was known before it no longer holds and is dropped.
        """
        run = run_segment(upstream_start, upstream_length, downstream_start, downstream_length)
        segments = self._segments
        if segments:
            up, up_length, down, down_length, _, bound = segments[-1]
            up_gap, down_gap = upstream_start - up - up_length, downstream_start - down - down_length
            if up_gap < 0 or down_gap < 0:
                segments.clear()
                self._complete = False
            elif not (up_gap or down_gap or bound or run.bound):  # the same straight line goes on
                segments[-1] = Segment(up, up_length + upstream_length, down, down_length + downstream_length)
                return
        segments.append(run)
        if len(segments) >= 2 * self._cap:  # so that thinning costs each run a constant share
            self._segments = thin(segments, self._cap)

    def freeze(self) -> History:
        """The history as of now, within the cap; the builder can go on."""
        self._segments = thin(self._segments, self._cap)
        return History(self._segments, complete_from_start=self._complete)
