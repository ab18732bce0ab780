"""MM2's heartbeat: proof that a flow is alive, and the hop by which clients find upstream clusters."""

from __future__ import annotations

from dataclasses import dataclass

from mirror.wire.primitives import read_int16, read_int64, read_string, write_int16, write_int64, write_string

VERSION = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A record of the heartbeats topic: the aliases of a flow and when it was last alive."""

    source: str
    target: str
    timestamp_ms: int

    def encode_key(self) -> bytes:
        return write_string(self.source) + write_string(self.target)

    def encode_value(self) -> bytes:
        return write_int16(VERSION) + write_int64(self.timestamp_ms)

    @staticmethod
    def decode(key: bytes, value: bytes) -> Heartbeat:
        """Read a heartbeat; any version is read as the only one there is, as MM2 does."""
        source, at = read_string(key, 0)
        target, _ = read_string(key, at)
        _, at = read_int16(value, 0)
        timestamp_ms, _ = read_int64(value, at)
        return Heartbeat(source=source, target=target, timestamp_ms=timestamp_ms)
