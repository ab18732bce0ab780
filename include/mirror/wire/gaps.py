"""Upstream records that can no longer be copied, as each partition's state remembers them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from mirror.wire.primitives import (
    read_unsigned_varint,
    read_varint,
    write_unsigned_varint,
    write_varint,
)

# Gaps per partition. They travel in every sync: many more would cost a busy flow real bandwidth.
GAPS_KEPT = 64


class GapReason(IntEnum):
    """Why a stretch was not copied; the numbers are on the wire and never change their meaning."""

    OTHER = 0  # also what a newer airmirror knows and we do not
    RETENTION = 1  # the source deleted the records before they were copied
    SKIPPED = 2  # a person said so
    TRUNCATED = 3  # the source's log lost its end and was written anew
    RECREATED = 4  # the source's topic was deleted and made again
    SEVERAL = 5  # older gaps merged into one; records between them were copied


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Upstream offsets that were not copied, `start` included, `end` excluded, and when that was noticed."""

    start: int
    end: int
    reason: GapReason
    at_ms: int


def add_gap(gaps: tuple[Gap, ...], gap: Gap) -> tuple[Gap, ...]:
    """These gaps and one more, oldest first: joined where it goes on, the oldest merged above the limit."""
    if gaps and gaps[-1].end == gap.start and gaps[-1].reason == gap.reason:
        return (*gaps[:-1], Gap(start=gaps[-1].start, end=gap.end, reason=gap.reason, at_ms=gap.at_ms))
    kept = (*gaps, gap)
    while len(kept) > GAPS_KEPT:
        kept = (_merged(kept[0], kept[1]), *kept[2:])
    return kept


def _merged(first: Gap, second: Gap) -> Gap:
    return Gap(
        start=min(first.start, second.start),
        end=max(first.end, second.end),
        reason=GapReason.SEVERAL,
        at_ms=max(first.at_ms, second.at_ms),
    )


def encode_gaps(out: bytearray, gaps: tuple[Gap, ...]) -> None:
    """Append the count, then reason, start (from the previous end), length and time (from the previous one) of each."""
    write_unsigned_varint(out, len(gaps))
    end = at_ms = 0
    for gap in gaps:
        write_unsigned_varint(out, gap.reason)
        write_varint(out, gap.start - end)
        write_unsigned_varint(out, gap.end - gap.start)
        write_varint(out, gap.at_ms - at_ms)
        end, at_ms = gap.end, gap.at_ms


def decode_gaps(data: bytes, at: int) -> tuple[tuple[Gap, ...], int]:
    count, at = read_unsigned_varint(data, at)
    gaps = []
    end = at_ms = 0
    for _ in range(count):
        reason, at = read_unsigned_varint(data, at)
        distance, at = read_varint(data, at)
        length, at = read_unsigned_varint(data, at)
        later, at = read_varint(data, at)
        start = end + distance
        end, at_ms = start + length, at_ms + later
        known = GapReason(reason) if reason in GapReason.__members__.values() else GapReason.OTHER
        gaps.append(Gap(start=start, end=end, reason=known, at_ms=at_ms))
    return tuple(gaps), at
