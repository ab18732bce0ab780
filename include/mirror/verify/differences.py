"""What may be different between a partition and its copy, and what may be so and is right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Kind(Enum):
    """A difference between a record and its copy."""

    MISSING = "missing"
    DOUBLED = "doubled"
    ORDER = "order"
    EXTRA = "extra"
    KEY = "key"
    VALUE = "value"
    HEADERS = "headers"
    TIMESTAMP = "timestamp"
    # Both records are there and equal, but the offset map says otherwise: a group would be sent to a wrong record.
    OFFSET_MAP = "offset map"


class Right(Enum):
    """Why a record needs no counterpart, or another one than itself."""

    GONE_UPSTREAM = "the source's retention deleted it"
    GONE_DOWNSTREAM = "the target's retention deleted it"
    COMPACTED = "compacted: a later record has its key"
    IN_GAP = "in a recorded gap"
    LEFT_OUT = "left out by the flow's filters"
    OUTSIDE = "just before what was compared, where the offset map is not exact"
    RETURNED = "it came back from the target after a failover: its original is there"
    TIME_OF_COPY = "its timestamp cannot be compared: 0 upstream, or the target's brokers set it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference, where it was met; an offset is None on the side that has no such record."""

    place: int  # how many records were compared before it: sorts differences of both sides
    kind: str
    upstream: int | None = None
    downstream: int | None = None

    def order(self) -> tuple[int, int, int]:
        """What differences are sorted by."""
        return self.place, self.upstream or 0, self.downstream or 0

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "upstream_offset": self.upstream, "downstream_offset": self.downstream}

    def __str__(self) -> str:
        here = "" if self.upstream is None else f"upstream {self.upstream}"
        there = "" if self.downstream is None else f"downstream {self.downstream}"
        return f"{self.kind} at {', '.join(filter(None, (here, there)))}"
