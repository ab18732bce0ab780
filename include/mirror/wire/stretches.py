"""Offsets of a partition that hold nothing but our own copies and our own markers, known to the offset.

The opposite flow skips them, and nothing else: between two of them an application may have written.

downstream   . . c c c c m c c c m . . c c m      c: our copy   m: our commit's marker   .: somebody else's
stretches        |----------------|   |---|
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from mirror.wire.primitives import read_unsigned_varint, write_unsigned_varint

_start = attrgetter("start")


class Stretch(NamedTuple):
    """Downstream offsets, `start` included, `end` excluded."""

    start: int
    end: int


Stretches = tuple[Stretch, ...]


def with_run(stretches: Stretches, start: int, end: int, *, follows_commit: bool) -> Stretches:
    """These stretches and one more run of copies behind them.

    A hole of one offset between two of our transactions is our own marker: each commit writes exactly one, and the next
    transaction begins only when it is written. Any other hole may hold somebody else's record.
    """
    if not stretches:
        return (Stretch(start, end),)
    last = stretches[-1]
    if start == last.end or (follows_commit and start == last.end + 1):
        return (*stretches[:-1], Stretch(last.start, end))
    return (*stretches, Stretch(start, end))


def past(stretches: Stretches, offset: int) -> int:
    """The offset itself, or the first behind it that lies in no stretch."""
    at = bisect_right(stretches, offset, key=_start) - 1
    while 0 <= at < len(stretches) and stretches[at].start <= offset < stretches[at].end:
        offset, at = stretches[at].end, at + 1
    return offset


def outside(stretches: Stretches, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of `[start, end)` that lie in no stretch, in their order."""
    while start < end:
        start = past(stretches, start)
        at = bisect_right(stretches, start, key=_start)
        stop = min(stretches[at].start, end) if at < len(stretches) else end
        if start < stop:
            yield start, stop
        start = stop


def cut(stretches: Stretches, end: int) -> Stretches:
    """Only what lies below an offset: behind it the log is another one now."""
    return tuple(Stretch(s.start, min(s.end, end)) for s in stretches if s.start < end)


def encode_stretches(out: bytearray, stretches: Stretches) -> None:
    write_unsigned_varint(out, len(stretches))
    at = 0
    for stretch in stretches:
        write_unsigned_varint(out, stretch.start - at)
        write_unsigned_varint(out, stretch.end - stretch.start)
        at = stretch.end


def decode_stretches(data: bytes, at: int) -> tuple[Stretches, int]:
    count, at = read_unsigned_varint(data, at)
    found: list[Stretch] = []
    end = 0
    for _ in range(count):
        distance, at = read_unsigned_varint(data, at)
        length, at = read_unsigned_varint(data, at)
        found.append(Stretch(end + distance, end + distance + length))
        end = found[-1].end
    return tuple(found), at
