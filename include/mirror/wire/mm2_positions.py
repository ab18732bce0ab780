"""The control topic's record of positions that airmirror gave MM2: found again, they say nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from mirror.wire.json_document import Document, record_key, record_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Mm2Positions:
    """What a handover wrote into MM2's offsets topic for one topic: the next upstream offset per partition.

    Without it, a topic that is made anew later would be set behind a position that is our own, of the old one.
    """

    KIND: ClassVar[str] = "mm2-positions"

    flow: str
    topic: str
    positions: Mapping[int, int]

    def encode_key(self) -> bytes:
        return record_key(self, "topic")

    def encode_value(self) -> bytes:
        return record_value(self, "positions")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(flow=doc.text("flow"), topic=doc.text("topic"), positions=doc.offsets("positions"))
