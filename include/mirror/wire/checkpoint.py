"""MM2's checkpoint: a group's upstream offset and its translation."""

from __future__ import annotations

from dataclasses import dataclass

from mirror.wire.primitives import (
    read_int16,
    read_int32,
    read_int64,
    read_string,
    write_int16,
    write_int32,
    write_int64,
    write_string,
)

VERSION = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A record of the checkpoints topic; `topic` is the target's name. Never write a tombstone there."""

    group: str
    topic: str
    partition: int
    upstream_offset: int
    downstream_offset: int
    metadata: str = ""

    def encode_key(self) -> bytes:
        return write_string(self.group) + write_string(self.topic) + write_int32(self.partition)

    def encode_value(self) -> bytes:
        return (
            write_int16(VERSION)
            + write_int64(self.upstream_offset)
            + write_int64(self.downstream_offset)
            + write_string(self.metadata)
        )

    @staticmethod
    def decode(key: bytes, value: bytes) -> Checkpoint:
        """Read a checkpoint; any version is read as the only one there is, as MM2 does."""
        group, at = read_string(key, 0)
        topic, at = read_string(key, at)
        partition, _ = read_int32(key, at)
        _, at = read_int16(value, 0)
        upstream, at = read_int64(value, at)
        downstream, at = read_int64(value, at)
        metadata, _ = read_string(value, at)
        return Checkpoint(
            group=group,
            topic=topic,
            partition=partition,
            upstream_offset=upstream,
            downstream_offset=downstream,
            metadata=metadata,
        )
