"""The integers and strings that Kafka's and our binary formats are made of.

Readers take the bytes and where to start, and return the value and where the next one starts. They raise
`StateUnreadable` on bytes that end too early, so that a decoder needs no checks of its own.
"""

from __future__ import annotations

import struct

from mirror.errors import StateUnreadable

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")

# STRING's length is a signed INT16.
STRING_MAX_BYTES = 32767
# Ten groups of seven bits hold any unsigned 64-bit value; more means that these bytes are no varint.
_VARINT_MAX_SHIFT = 63


def unreadable(what: str) -> StateUnreadable:
    """The error of a record whose bytes are not in the format expected of it."""
    return StateUnreadable(
        f"an internal record cannot be read: {what}",
        next_step="look at the internal topic with kafka-console-consumer; only airmirror and MM2 may write to it",
    )


def write_int16(value: int) -> bytes:
    return _INT16.pack(value)


def write_int32(value: int) -> bytes:
    return _INT32.pack(value)


def write_int64(value: int) -> bytes:
    return _INT64.pack(value)


def read_int16(data: bytes, at: int) -> tuple[int, int]:
    return _read(_INT16, data, at)


def read_int32(data: bytes, at: int) -> tuple[int, int]:
    return _read(_INT32, data, at)


def read_int64(data: bytes, at: int) -> tuple[int, int]:
    return _read(_INT64, data, at)


def _read(form: struct.Struct, data: bytes, at: int) -> tuple[int, int]:
    try:
        value: int = form.unpack_from(data, at)[0]
    except struct.error as cause:
        raise unreadable(f"{len(data)} bytes, an integer expected at {at}") from cause
    return value, at + form.size


def write_string(text: str) -> bytes:
    """An INT16 byte length, then UTF-8; not nullable."""
    raw = text.encode()
    if len(raw) > STRING_MAX_BYTES:
        raise ValueError(f"a string of {len(raw)} bytes is longer than the format's {STRING_MAX_BYTES}")
    return _INT16.pack(len(raw)) + raw


def read_string(data: bytes, at: int) -> tuple[str, int]:
    length, start = read_int16(data, at)
    end = start + length
    if length < 0 or end > len(data):
        raise unreadable(f"{len(data)} bytes, a string of {length} bytes expected at {start}")
    try:
        return data[start:end].decode(), end
    except UnicodeDecodeError as cause:
        raise unreadable(f"the string at {start} is not UTF-8") from cause


def write_unsigned_varint(out: bytearray, value: int) -> None:
    """Append 7 bits a byte, low ones first, the high bit set on all but the last."""
    if value < 0:
        raise ValueError(f"{value} is negative")
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def read_unsigned_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    try:
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
            shift += 7
            if shift > _VARINT_MAX_SHIFT:
                raise unreadable(f"a number before {at} has no end")
    except IndexError as cause:
        raise unreadable(f"{len(data)} bytes, a number expected to end at {at}") from cause


def write_varint(out: bytearray, value: int) -> None:
    """Append a signed value, zigzag: small ones stay short on both sides of zero."""
    write_unsigned_varint(out, value << 1 if value >= 0 else (-value << 1) - 1)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    raw, at = read_unsigned_varint(data, at)
    return (raw >> 1) ^ -(raw & 1), at
