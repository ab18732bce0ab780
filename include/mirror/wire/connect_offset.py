"""MM2's own position of a partition, as Kafka Connect stores it in the offsets topic on the target."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mirror.wire.murmur2 import partition_for
from mirror.wire.primitives import unreadable

# The name of the connector in MM2's dedicated mode; on a Connect cluster its owner chose another.
DEDICATED_CONNECTOR = "MirrorSourceConnector"

__all__ = ["DEDICATED_CONNECTOR", "ConnectOffset", "partition_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectOffset:
    """The offset of the last record that MM2 copied; None: MM2 has no position (a tombstone)."""

    connector: str
    cluster: str
    topic: str
    partition: int
    offset: int | None

    @property
    def position(self) -> int | None:
        """The next upstream offset that MM2 would copy."""
        return None if self.offset is None else self.offset + 1

    def encode_key(self) -> bytes:
        """The key's exact bytes: MM2 finds its position by them, so the order of members counts."""
        return _json([self.connector, {"cluster": self.cluster, "partition": self.partition, "topic": self.topic}])

    def encode_value(self) -> bytes | None:
        return None if self.offset is None else _json({"offset": self.offset})

    @staticmethod
    def decode(key: bytes, value: bytes | None) -> ConnectOffset | None:
        """Read a position; None for what MM2's source connector would not find: others' keys, other spellings.

        A position that MM2 itself could not read is an error: to take over from a guess loses or repeats records.
        """
        about = _source_partition(key)
        if about is None:
            return None
        connector, cluster, topic, partition = about
        offset = None if value is None else _offset(f"{topic}-{partition}", value)
        found = ConnectOffset(connector=connector, cluster=cluster, topic=topic, partition=partition, offset=offset)
        # MM2 does not find a key whose members stand in another order, so it is nobody's position.
        return found if found.encode_key() == key else None


def _json(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def _source_partition(key: bytes) -> tuple[str, str, str, int] | None:
    match _parsed(key):
        case [str(connector), {"cluster": str(cluster), "partition": int(partition), "topic": str(topic), **more}] if (
            not more and not isinstance(partition, bool)
        ):
            return connector, cluster, topic, partition
    return None


def _offset(partition: str, value: bytes) -> int | None:
    match _parsed(value):
        case {"offset": int(offset)} if not isinstance(offset, bool):
            return offset
        case None if value == b"null":
            return None
    raise unreadable(f"MM2's position of {partition} is not a whole number in JSON")


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:  # neither JSON nor UTF-8: some other program's
        return None
