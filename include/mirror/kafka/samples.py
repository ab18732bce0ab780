"""Records as fingerprints: enough to find the copy of a record on the other side, small enough to hold thousands."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple, cast

from confluent_kafka import Message

from mirror.kafka.reader import Met, SourceReader, met
from mirror.kafka.values import TopicPartition

# Seconds for all partitions of one reading; what is not seen by then counts as unread.
TIMEOUT_S = 10.0
# A look is at a few records here and there: the copy's fetch sizes would bring megabytes for each.
SMALL_FETCHES = {
    "fetch.wait.max.ms": 20,
    "fetch.max.bytes": 4 * 1024 * 1024,
    "max.partition.fetch.bytes": 256 * 1024,
    "queued.min.messages": 1000,
    "queued.max.messages.kbytes": 8 * 1024,
}


class Sample(NamedTuple):
    """One record: where it lies, what it holds (key, value, headers) as a digest, and its timestamp."""

    offset: int
    digest: bytes
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """What to read of one partition: `[start, end)`, but at most so many records and bytes."""

    start: int
    end: int
    record_count: int
    byte_count: int


@dataclass(slots=True, kw_only=True)
class Samples:
    """What was read of a stretch; `is_whole` if its end was reached."""

    records: list[Sample] = field(default_factory=list)
    is_whole: bool = False
    byte_count: int = 0


class SampleReader:
    """Reads short stretches of many partitions at once, as a reader of the given isolation level sees them."""

    def __init__(self, alias: str, settings: Mapping[str, Any], *, isolation_level: str) -> None:
        self._reader = SourceReader(alias, {**settings, **SMALL_FETCHES}, isolation_level=isolation_level)

    def close(self) -> None:
        self._reader.close()

    def read(self, stretches: Mapping[TopicPartition, Stretch]) -> dict[TopicPartition, Samples]:
        """One stretch per partition. A partition that is gone, denied or late has what was read of it, not whole."""
        found = {partition: Samples() for partition in stretches}
        waiting = {partition for partition, wanted in stretches.items() if wanted.start < wanted.end}
        for partition in found.keys() - waiting:
            found[partition].is_whole = True
        if not waiting:
            return found
        self._reader.assign({partition: stretches[partition].start for partition in sorted(waiting)})
        give_up = time.monotonic() + TIMEOUT_S
        while waiting and time.monotonic() < give_up:
            finished: list[TopicPartition] = []
            for message in self._reader.read(500, 0.2):
                partition = TopicPartition(str(message.topic()), int(message.partition() or 0))
                if partition in waiting and _take(message, stretches[partition], found[partition]):
                    waiting.discard(partition)
                    finished.append(partition)
            if finished:
                self._reader.pause(finished)
        return found


def _take(message: Message, wanted: Stretch, samples: Samples) -> bool:
    """Note one message; says whether the stretch is done."""
    offset = int(message.offset() or 0)
    if (error := message.error()) is not None:
        what = met(error)
        if what is Met.END:
            # Short of the wanted end a commit is being completed: its markers come a moment after it returned.
            samples.is_whole = offset >= wanted.end
            return samples.is_whole
        return what is not Met.PASSING
    if offset >= wanted.end:
        samples.is_whole = True
        return True
    sample, size = sample_of(message, offset)
    samples.records.append(sample)
    samples.byte_count += size
    samples.is_whole = offset == wanted.end - 1
    return samples.is_whole or len(samples.records) >= wanted.record_count or samples.byte_count >= wanted.byte_count


def sample_of(message: Message, offset: int) -> tuple[Sample, int]:
    """A record's fingerprint, and how many bytes it stands for."""
    key, value = message.key(), message.value()
    digest = blake2b(digest_size=16)
    for part in (key, value):
        _add(digest, part)
    try:
        headers = cast("list[tuple[str, bytes | None]]", message.headers() or [])
    except (UnicodeDecodeError, SystemError):
        # A header's name that the client cannot read: such a record is never copied, so it equals none.
        headers = [("", f"unreadable at {offset}".encode())]
    for name, content in headers:
        _add(digest, name.encode())
        _add(digest, content)
    return Sample(offset, digest.digest(), message.timestamp()[1]), len(key or b"") + len(value or b"")


def _add(digest: Any, part: bytes | str | None) -> None:
    """Each part with its length, so that no two different records run together into the same bytes."""
    raw = part.encode() if isinstance(part, str) else part
    digest.update(b"-" if raw is None else b"%d:" % len(raw))
    if raw:
        digest.update(raw)
