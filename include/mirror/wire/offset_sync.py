"""MM2's offset sync: an upstream offset and the downstream offset of the same record."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from mirror.wire.primitives import read_int32, read_string, unreadable, write_int32, write_string

OFFSETS = struct.Struct(">qq")


def encode_key(topic: str, partition: int) -> bytes:
    """The key of a partition's sync; MM2's and ours are the same, with the source's name of the topic."""
    return write_string(topic) + write_int32(partition)


def decode_key(key: bytes) -> tuple[str, int]:
    topic, at = read_string(key, 0)
    partition, _ = read_int32(key, at)
    return topic, partition


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetSync:
    """A record of MM2's offset-syncs topic. Never write a tombstone there: MM2's readers die of it."""

    topic: str
    partition: int
    upstream_offset: int
    downstream_offset: int

    def encode_key(self) -> bytes:
        return encode_key(self.topic, self.partition)

    def encode_value(self) -> bytes:
        return OFFSETS.pack(self.upstream_offset, self.downstream_offset)

    @staticmethod
    def decode(key: bytes, value: bytes) -> OffsetSync:
        """Read a sync; bytes behind it are ignored, as MM2 does."""
        topic, partition = decode_key(key)
        if len(value) < OFFSETS.size:
            raise unreadable(f"the sync of {topic}-{partition} has {len(value)} bytes instead of {OFFSETS.size}")
        upstream, downstream = OFFSETS.unpack_from(value)
        return OffsetSync(topic=topic, partition=partition, upstream_offset=upstream, downstream_offset=downstream)
