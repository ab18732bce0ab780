"""Records as entries: an offset, and what must survive a copy as four numbers that take little room.

Key, value and headers are hashed to 64 bits each, so that a window of tens of thousands of records fits into memory
whatever their size. A changed record stays unseen if its hash is the same by chance: once in 10^19 changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

# key, value, headers, timestamp
Content = tuple[int, int, int, int]
Batch = tuple[list[int], list[Content]]

FIELDS = ("key", "value", "headers", "timestamp")

NOTHING = hash(None)
# A timestamp that says nothing about the copy: the target's brokers stamped it.
ANY_TIME = -(2**62)

_LOG_APPEND_TIME = 2  # confluent_kafka.TIMESTAMP_LOG_APPEND_TIME


def content_of(key: bytes | None, value: bytes | None, headers: Any, timestamp_ms: int) -> Content:
    # None and an empty list are the same on the wire.
    return hash(key), hash(value), hash(tuple(headers)) if headers else 0, timestamp_ms


def upstream_content(message: Any) -> Content:
    """A record as the source has it."""
    return content_of(message.key(), message.value(), headers_of(message), message.timestamp()[1])


def downstream_content(message: Any) -> Content:
    """A record as the target has it; its brokers' own timestamp cannot be compared."""
    kind, timestamp_ms = message.timestamp()
    at = ANY_TIME if kind == _LOG_APPEND_TIME else timestamp_ms
    return content_of(message.key(), message.value(), headers_of(message), at)


def headers_of(message: Any) -> Any:
    """A message's headers, also where the client cannot read them."""
    try:
        return message.headers()
    except (UnicodeDecodeError, SystemError):
        # A name that the client cannot read: such a record is never copied, so it equals none.
        return (("", f"unreadable at {message.offset()}"),)


def differing_fields(upstream: Content, downstream: Content) -> tuple[str, ...]:
    """The names of what is not the same; empty if only timestamps differ that cannot be compared."""
    found = [name for name, here, there in zip(FIELDS, upstream, downstream, strict=True) if here != there]
    if found == ["timestamp"] and not has_comparable_time(upstream, downstream):
        return ()
    return tuple(found)


def has_comparable_time(upstream: Content, downstream: Content) -> bool:
    # 0 and "none" mean "now" to the client: the copy got the time of the copy, and the result named it.
    return upstream[3] > 0 and downstream[3] != ANY_TIME


def is_tombstone(content: Content) -> bool:
    return content[1] == NOTHING


class Stream:
    """One side's records, oldest first; a window of them can be looked at before they are taken."""

    __slots__ = ("_batches", "at", "contents", "is_drained", "offsets")

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches
        self.offsets: list[int] = []
        self.contents: list[Content] = []
        self.at = 0
        self.is_drained = False

    def fill(self, count: int) -> int:
        """Have so many records ahead, if there are so many; how many there are, at most `count`."""
        while len(self.offsets) - self.at < count and not self.is_drained:
            batch = next(self._batches, None)
            if batch is None:
                self.is_drained = True
                break
            if self.at:
                del self.offsets[: self.at], self.contents[: self.at]
                self.at = 0
            self.offsets += batch[0]
            self.contents += batch[1]
        return min(len(self.offsets) - self.at, count)

    def ahead(self, count: int) -> tuple[Sequence[int], Sequence[Content]]:
        """The next so many records that are here already."""
        end = self.at + count
        return self.offsets[self.at : end], self.contents[self.at : end]
