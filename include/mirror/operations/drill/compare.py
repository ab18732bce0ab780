"""Whether a group goes on at the right record: what it read on the target beside what the source has there; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mirror.kafka.samples import Sample

# The very record; some records again and then the very record; no record left on either side; the record is not copied
# yet; another record, or none; nothing that could be compared.
Verdict = Literal["same", "early", "at the end", "not copied yet", "differs", "not compared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """One partition of a group on both sides, read from where the group stands."""

    # The source's records from the group's upstream offset on; those that a gap left out are not among them.
    here: Sequence[Sample]
    # What the real consumer read, in its order, and whether it met the end.
    there: Sequence[Sample]
    is_whole_there: bool
    upstream_offset: int
    # Where the copy stood before the consumer started: everything below was there to be read.
    position: int
    # Where the source's log starts; a group below it has lost its record there.
    log_start: int
    # Records that the translation may be early by.
    early_by: int = 0
    is_compacted: bool = False
    compares_time: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The verdict on one partition, how many records it rests on, and the reason where one is needed."""

    verdict: Verdict
    compared: int = 0
    read_again: int = 0
    reason: str = ""


def compare(sides: Sides) -> Comparison:
    """What a group reads first on the target, against what it would have read next on the source."""
    if not sides.here:
        return _without_source(sides)
    first = sides.here[0]
    candidates = [i for i, copy in enumerate(sides.there) if _is_same(sides, first, copy)]
    if not candidates:
        return _without_match(sides, first)
    # Records may be equal to the byte: the one that is meant is told by what follows it.
    at = next((i for i in candidates if _first_mismatch(sides, i) is None), None)
    if at is None:
        return _differs(*(_first_mismatch(sides, candidates[0]) or (first, sides.there[0])))
    # Brokers clean compacted logs when they like: only the first record need be the same.
    compared = 1 if sides.is_compacted else min(len(sides.here), len(sides.there) - at)
    return Comparison(verdict="early" if at else "same", compared=compared, read_again=at)


def _first_mismatch(sides: Sides, at: int) -> tuple[Sample, Sample] | None:
    if sides.is_compacted:
        return None
    pairs = zip(sides.here, sides.there[at:], strict=False)
    return next(((record, copy) for record, copy in pairs if not _is_same(sides, record, copy)), None)


def _without_source(sides: Sides) -> Comparison:
    """The source has no record from there on."""
    if sides.upstream_offset < sides.log_start:
        return _not_compared("the source no longer has the record at which the group stood")
    if not sides.there:
        return Comparison(verdict="at the end")
    if len(sides.there) <= sides.early_by:
        return Comparison(verdict="early", read_again=len(sides.there))
    if sides.is_compacted:
        return _not_compared("a compacted topic, cleaned on the source and not yet on the target")
    return Comparison(
        verdict="differs",
        reason=f"the group reads offset {sides.there[0].offset} on the target, and the source has no record "
        f"from its offset {sides.upstream_offset} on",
    )


def _without_match(sides: Sides, first: Sample) -> Comparison:
    """The record that should come is not among those that came."""
    if first.offset >= sides.position and len(sides.there) <= sides.early_by:
        return Comparison(verdict="not copied yet", read_again=len(sides.there))
    if sides.upstream_offset < sides.log_start:
        return _not_compared("the source no longer has the record at which the group stood")
    if sides.is_compacted:
        return _not_compared("a compacted topic, cleaned differently on the two sides")
    if len(sides.there) < sides.early_by and not sides.is_whole_there:
        return _not_compared(f"early by at most {sides.early_by} records, of which {len(sides.there)} were read")
    if not sides.there:
        reason = f"nothing came, and the source's record at offset {first.offset} is copied"
        return Comparison(verdict="differs", reason=reason)
    return _differs(first, sides.there[0])


def _differs(record: Sample, copy: Sample) -> Comparison:
    what = "has another timestamp" if record.digest == copy.digest else "has another key, value or headers"
    reason = f"what the group reads at offset {copy.offset} {what} than the source's record at {record.offset}"
    return Comparison(verdict="differs", reason=reason)


def _not_compared(reason: str) -> Comparison:
    return Comparison(verdict="not compared", reason=reason)


def _is_same(sides: Sides, record: Sample, copy: Sample) -> bool:
    if record.digest != copy.digest:
        return False
    # A timestamp of 0 or less cannot be written: the copy got another one.
    return not sides.compares_time or record.timestamp_ms <= 0 or record.timestamp_ms == copy.timestamp_ms
