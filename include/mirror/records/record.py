"""A record on its way from the source to the target."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]

# Where a record lies is the copy's promise; what it holds may be changed.
CHANGEABLE = ("key", "value", "headers", "timestamp_ms")


class Record(NamedTuple):
    """One record as the source has it, and the topic it goes to; topic, partition and offset are not to be changed."""

    topic: str
    remote_topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp_ms: int

    def changed(self, **fields: Any) -> Record:
        """The record with another key, value, headers or timestamp_ms."""
        if fixed := [name for name in fields if name not in CHANGEABLE]:
            raise TypeError(f"{', '.join(fixed)} cannot be changed; {', '.join(CHANGEABLE)} can")
        return self._replace(**fields)

    def header(self, name: str) -> bytes | None:
        """The value of the last header of this name; None if there is none, or if it has none."""
        return next((value for key, value in reversed(self.headers) if key == name), None)


class LeftOut(Enum):
    """Why a record is not copied."""

    DROPPED = "dropped by a filter or the record function"
    THERE_ALREADY = "the target has it already, or gets it another way"
