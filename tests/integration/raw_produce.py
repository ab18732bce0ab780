"""Records that librdkafka cannot write: a batch made byte by byte and sent over a socket of its own."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from typing import NamedTuple

_PRODUCE, _VERSION = 0, 8
_TIMEOUT_MS = 10_000
# The partition is new, and its broker does not know yet that it leads it.
_NOT_YET = (3, 6)


class RawRecord(NamedTuple):
    """One record exactly as it goes into the log."""

    value: bytes
    key: bytes
    timestamp_ms: int
    headers: Sequence[tuple[bytes, bytes]] = ()


def send_raw(server: str, topic: str, partition: int, records: Sequence[RawRecord]) -> None:
    """Produce one batch to the broker that leads the partition; its refusal is an AssertionError."""
    body = b"".join(
        (
            struct.pack(">hhi", _PRODUCE, _VERSION, 1) + _string(b"raw"),
            struct.pack(">hhi", -1, -1, _TIMEOUT_MS),  # no transaction, all replicas
            struct.pack(">i", 1) + _string(topic.encode()),
            struct.pack(">ii", 1, partition) + _bytes(_batch(records)),
        )
    )
    deadline = time.monotonic() + _TIMEOUT_MS / 1000
    # correlation id, one topic, its name, one partition, its index, then the error
    at = 4 + 4 + 2 + len(topic.encode()) + 4 + 4
    while (code := struct.unpack_from(">h", _ask(server, body), at)[0]) in _NOT_YET and time.monotonic() < deadline:
        time.sleep(0.1)
    assert code == 0, f"the broker refused the batch with error {code}"


def _ask(server: str, request: bytes) -> bytes:
    host, _, port = server.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(_bytes(request))
        with connection.makefile("rb") as answers:
            (size,) = struct.unpack(">i", answers.read(4))
            return answers.read(size)


def _string(text: bytes) -> bytes:
    return struct.pack(">h", len(text)) + text


def _bytes(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _batch(records: Sequence[RawRecord]) -> bytes:
    first = records[0].timestamp_ms
    content = b"".join(_record(record, index, first) for index, record in enumerate(records))
    newest = max(record.timestamp_ms for record in records)
    checked = struct.pack(">hiqqqhii", 0, len(records) - 1, first, newest, -1, -1, -1, len(records)) + content
    head = struct.pack(">ib", -1, 2) + struct.pack(">I", _crc32c(checked))
    return struct.pack(">qi", 0, len(head) + len(checked)) + head + checked


def _record(record: RawRecord, index: int, first_ms: int) -> bytes:
    body = b"\0" + _varint(record.timestamp_ms - first_ms) + _varint(index)
    body += _varint(len(record.key)) + record.key + _varint(len(record.value)) + record.value
    body += _varint(len(record.headers))
    for name, value in record.headers:
        body += _varint(len(name)) + name + _varint(len(value)) + value
    return _varint(len(body)) + body


def _varint(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF
