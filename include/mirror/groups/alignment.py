"""Finds a record's copy among the records of the other side, never behind it; pure.

A thinned history says between which offsets the copy of each record lies, its bracket. Where records are equal to the
byte, the one that is meant is told by what follows it: some record behind them has a single equal in its bracket, and
from that anchor they are counted back.

    here    a a a b        the group stands at the second a; b is the anchor
              ^
    there   a a a b
              ^

Counting back takes the latest equal each time, so what is read from the answer on holds every record of the sequence:
no record is skipped, whatever else lies between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mirror.kafka.samples import Sample


class Bracket(NamedTuple):
    """Where a record's copy lies at the earliest and at the latest; both are offsets of the other side."""

    earliest: int
    latest: int


class Placed(NamedTuple):
    """Where the first record's copy lies: never later than it, and early by at most so many records."""

    offset: int
    at_most: int = 0


def place(
    here: Sequence[Sample],
    brackets: Sequence[Bracket],
    there: Sequence[Sample],
    *,
    end: int | None = None,
    can_count: bool = True,
) -> Placed | None:
    """Where the copy of `here`'s first record lies; None if no equal of it is left within its bracket.

    `end` is given when `here` holds all records that were copied: it is the offset behind their last copy. Where
    records may be gone from the middle of a log, as in a compacted topic, there is nothing to count back by.
    """
    found = _equals(here, brackets, there)
    if not any(found):
        # The other side has timestamps of its own (message.timestamp.type=LogAppendTime): go by contents alone.
        here = [sample._replace(timestamp_ms=0) for sample in here]
        found = _equals(here, brackets, there)
    if not found or not found[0]:
        return None
    anchor = next((number for number, equals in enumerate(found) if len(equals) == 1), None)
    if not can_count and anchor != 0:
        return None
    index: int | None
    if anchor is None:
        index = None if end is None else _count_back(here, there, _index_at(there, end))
    elif not _goes_on(found, anchor):
        index = None
    else:
        index = _count_back(here[:anchor], there, found[anchor][0])
    if index is not None and brackets[0].earliest <= there[index].offset <= brackets[0].latest:
        return Placed(there[index].offset)
    first, last = found[0][0], found[0][-1]
    if first == last and anchor == 0:
        return None  # its only equal is contradicted by what follows
    return Placed(there[first].offset, last - first)


def _equals(here: Sequence[Sample], brackets: Sequence[Bracket], there: Sequence[Sample]) -> list[list[int]]:
    """For each record the indexes of those inside its bracket that hold the same, in order."""
    by_digest: dict[bytes, list[int]] = {}
    for index, other in enumerate(there):
        by_digest.setdefault(other.digest, []).append(index)
    return [
        [
            index
            for index in by_digest.get(sample.digest, ())
            if bracket.earliest <= there[index].offset <= bracket.latest and _is_same(sample, there[index])
        ]
        for sample, bracket in zip(here, brackets, strict=True)
    ]


def _is_same(sample: Sample, other: Sample) -> bool:
    # A timestamp of 0 or less cannot be written: the copy got another one.
    return sample.digest == other.digest and (sample.timestamp_ms <= 0 or sample.timestamp_ms == other.timestamp_ms)


def _goes_on(found: Sequence[list[int]], anchor: int) -> bool:
    """Whether the next record behind the anchor that has a copy can have it behind the anchor's.

    If it can not, the anchor's own copy is not there, and what was found is a later record that equals it.
    """
    behind = found[anchor + 1 :]
    following = next((equals for equals in behind if equals), [])
    return not behind or (bool(following) and following[-1] > found[anchor][0])


def _count_back(here: Sequence[Sample], there: Sequence[Sample], stop: int) -> int | None:
    """The latest index from which `there[index:stop]` holds all of `here` in order; None if it holds them nowhere."""
    index = stop
    for sample in reversed(here):
        index -= 1
        while index >= 0 and not _is_same(sample, there[index]):
            index -= 1
        if index < 0:
            return None
    return index if index < len(there) else None


def _index_at(there: Sequence[Sample], end: int) -> int:
    return next((index for index, sample in enumerate(there) if sample.offset >= end), len(there))
