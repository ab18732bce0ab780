"""Where a flow's first copy begins, when the file says so with `airmirror.start`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTimestamp:
    """Begin with the first record that is not older than this."""

    timestamp_ms: int

    def __str__(self) -> str:
        return datetime.fromtimestamp(self.timestamp_ms / 1000, UTC).isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOffsets:
    """Begin these partitions at these offsets; others as `auto.offset.reset` says."""

    offsets: tuple[tuple[str, int, int], ...]  # topic, partition, offset

    def __str__(self) -> str:
        return ",".join(f"{topic}:{partition}:{offset}" for topic, partition, offset in self.offsets)

    def offset_of(self, topic: str, partition: int) -> int | None:
        """The offset that the file names, or None where it names none."""
        return next((o for t, p, o in self.offsets if (t, p) == (topic, partition)), None)


Start = StartTimestamp | StartOffsets


def parse_start(text: str) -> Start | None:
    """Raises ValueError for text that is neither a time nor offsets; times without a zone are UTC."""
    if not text:
        return None
    elements = [element.strip() for element in text.split(",")]
    matches = [re.fullmatch(r"([a-zA-Z0-9._-]+):([0-9]+):([0-9]+)", element) for element in elements]
    if all(matches):
        offsets = tuple((m[1], int(m[2]), int(m[3])) for m in matches if m)
        named = [(topic, partition) for topic, partition, _ in offsets]
        if repeated := {f"{topic}:{partition}" for topic, partition in named if named.count((topic, partition)) > 1}:
            raise ValueError(f"expected one offset per partition, {min(repeated)} has more")
        return StartOffsets(offsets=offsets)
    if not re.match(r"[0-9]{4}-", text):
        raise ValueError
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return StartTimestamp(timestamp_ms=round(moment.timestamp() * 1000))
