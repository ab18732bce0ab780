"""The hash by which Java's producer chooses a partition; librdkafka's default chooses otherwise."""

from __future__ import annotations

_SEED = 0x9747B28C
_MULTIPLIER = 0x5BD1E995
_WORD = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """MurmurHash2 in 32 bits, unsigned, with Kafka's seed."""
    length = len(data)
    hashed = _SEED ^ length
    whole = length & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _MULTIPLIER & _WORD
        word = (word ^ word >> 24) * _MULTIPLIER & _WORD
        hashed = (hashed * _MULTIPLIER & _WORD) ^ word
    if whole < length:
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _WORD
    hashed = (hashed ^ hashed >> 13) * _MULTIPLIER & _WORD
    return hashed ^ hashed >> 15


def partition_for(key: bytes, count: int) -> int:
    """The partition of a topic with `count` of them that Java's default partitioner gives this key."""
    return (murmur2(key) & 0x7FFFFFFF) % count
