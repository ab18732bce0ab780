"""MM2's records, byte for byte, against what MM2 4.3.1 wrote."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mirror.errors import StateUnreadable
from mirror.wire.checkpoint import Checkpoint
from mirror.wire.connect_offset import DEDICATED_CONNECTOR, ConnectOffset, partition_for
from mirror.wire.heartbeat import Heartbeat
from mirror.wire.murmur2 import murmur2
from mirror.wire.offset_sync import OffsetSync

GOLDEN = json.loads((Path(__file__).parent / "data" / "mm2-4.3.1.json").read_text(encoding="utf-8"))


def _sync(topic: str, partition: int, upstream: int, downstream: int) -> OffsetSync:
    return OffsetSync(topic=topic, partition=partition, upstream_offset=upstream, downstream_offset=downstream)


def _checkpoint(group: str, topic: str, partition: int, up: int, down: int, metadata: str) -> Checkpoint:
    return Checkpoint(
        group=group, topic=topic, partition=partition, upstream_offset=up, downstream_offset=down, metadata=metadata
    )


def _heartbeat(source: str, target: str, timestamp_ms: int) -> Heartbeat:
    return Heartbeat(source=source, target=target, timestamp_ms=timestamp_ms)


PUBLISHED = [
    ("0006746f7069633100000002", "000000000000006400000000000000c8", _sync("topic1", 2, 100, 200)),
    (
        "000767726f75702d310008412e746f7069633100000002",
        "0000000000000000006400000000000000c80000",
        _checkpoint("group-1", "A.topic1", 2, 100, 200, ""),
    ),
    ("000141000142", "00000000018bcfe56800", _heartbeat("A", "B", 1_700_000_000_000)),
]
RECORDED = [
    *((key, value, _sync(*facts)) for key, value, *facts in GOLDEN["offset syncs"]),
    *((key, value, _checkpoint(*facts)) for key, value, *facts in GOLDEN["checkpoints"]),
    *((key, value, _heartbeat(*facts)) for key, value, *facts in GOLDEN["heartbeats"]),
]


@pytest.mark.parametrize(("key", "value", "record"), PUBLISHED + RECORDED)
def test_record_is_written_and_read_as_mm2_does(key: str, value: str, record: Any) -> None:
    assert (record.encode_key().hex(), record.encode_value().hex()) == (key, value)
    assert type(record).decode(bytes.fromhex(key), bytes.fromhex(value)) == record


@pytest.mark.parametrize(("key", "value", "record"), PUBLISHED)
def test_bytes_behind_a_record_are_ignored_and_missing_ones_refused(key: str, value: str, record: Any) -> None:
    decode, key_bytes, value_bytes = type(record).decode, bytes.fromhex(key), bytes.fromhex(value)
    assert decode(key_bytes + b"more", value_bytes + b"more") == record
    for cut in range(len(key_bytes)):
        with pytest.raises(StateUnreadable):
            decode(key_bytes[:cut], value_bytes)
    for cut in range(len(value_bytes)):
        with pytest.raises(StateUnreadable):
            decode(key_bytes, value_bytes[:cut])


def test_another_version_is_read_as_the_only_one_as_mm2_does() -> None:
    checkpoint, heartbeat = PUBLISHED[1][2], PUBLISHED[2][2]
    assert Checkpoint.decode(checkpoint.encode_key(), b"\x00\x09" + checkpoint.encode_value()[2:]) == checkpoint
    assert Heartbeat.decode(heartbeat.encode_key(), b"\x00\x09" + heartbeat.encode_value()[2:]) == heartbeat


def test_random_records_come_back_as_they_were() -> None:
    rng = random.Random(3)
    letters = "aZ0._-ü日\U0001f600\x00"
    for _ in range(2000):
        name, other, third = ("".join(rng.choices(letters, k=rng.randint(0, 60))) for _ in range(3))
        number, up, down = rng.getrandbits(31), rng.getrandbits(63), rng.getrandbits(63) - 2**62
        for record in (
            _sync(name, number, up, down),
            _checkpoint(name, other, number, up, down, third),
            _heartbeat(name, other, up),
        ):
            assert type(record).decode(record.encode_key(), record.encode_value()) == record  # type: ignore[attr-defined]


def test_name_longer_than_the_format_is_refused_rather_than_cut() -> None:
    assert OffsetSync.decode(_sync("t" * 32767, 0, 0, 0).encode_key(), bytes(16)).topic == "t" * 32767
    with pytest.raises(ValueError, match="longer"):
        _sync("t" * 32768, 0, 0, 0).encode_key()


@pytest.mark.parametrize(
    ("partition", "key", "value"), GOLDEN["connect offsets: partition of 25, key, value"], ids=lambda part: None
)
def test_connect_offset_is_where_mm2_put_it(partition: int, key: str, value: str) -> None:
    assert partition_for(key.encode(), 25) == partition
    found = ConnectOffset.decode(key.encode(), value.encode())
    if not key.startswith('["MirrorSourceConnector"'):
        assert found is None
    else:
        assert found is not None
        assert (found.encode_key(), found.encode_value()) == (key.encode(), value.encode())


def test_connect_offset_of_the_specification() -> None:
    key = b'["MirrorSourceConnector",{"cluster":"A","partition":2,"topic":"topic1"}]'
    offset = ConnectOffset(connector=DEDICATED_CONNECTOR, cluster="A", topic="topic1", partition=2, offset=41)
    assert (offset.encode_key(), offset.encode_value()) == (key, b'{"offset":41}')
    assert ConnectOffset.decode(key, b'{"offset":41}') == offset
    assert offset.position == 42
    assert partition_for(key, 25) == 12


def test_connect_offset_keeps_text_unescaped() -> None:
    offset = ConnectOffset(connector="mein/Konnektor-ü", cluster="ost", topic="t", partition=0, offset=0)
    assert offset.encode_key() == '["mein/Konnektor-ü",{"cluster":"ost","partition":0,"topic":"t"}]'.encode()


@pytest.mark.parametrize("value", [None, b"null"])
def test_connect_tombstone_means_no_position(value: bytes | None) -> None:
    key = b'["MirrorSourceConnector",{"cluster":"A","partition":2,"topic":"topic1"}]'
    found = ConnectOffset.decode(key, value)
    assert found is not None
    assert found.offset is None
    assert found.position is None
    assert found.encode_value() is None


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(b'["MirrorSourceConnector",{"topic":"t","cluster":"A","partition":2}]', id="other order"),
        pytest.param(b'["MirrorSourceConnector", {"cluster":"A","partition":2,"topic":"t"}]', id="a space"),
        pytest.param(b'["MirrorSourceConnector",{"cluster":"A","partition":"2","topic":"t"}]', id="text for a number"),
        pytest.param(b'["MirrorSourceConnector",{"cluster":"A","partition":true,"topic":"t"}]', id="true"),
        pytest.param(b'["jdbc",{"table":"orders"}]', id="another connector"),
        pytest.param(b'["x",{"cluster":"A","group":"g","partition":2,"topic":"t"}]', id="more members"),
        pytest.param(b'{"kind":"x"}', id="no list"),
        pytest.param(b"[]", id="nothing"),
        pytest.param(b"\xff\x00", id="no JSON"),
    ],
)
def test_key_that_mm2_would_not_find_is_nobodys_position(key: bytes) -> None:
    assert ConnectOffset.decode(key, b'{"offset":1}') is None


@pytest.mark.parametrize("value", [b'{"offset":1.0}', b'{"offset":"1"}', b'{"offset":true}', b"{}", b"1", b"\xff", b""])
def test_damaged_position_is_an_error_rather_than_a_guess(value: bytes) -> None:
    with pytest.raises(StateUnreadable, match="topic1-2"):
        ConnectOffset.decode(b'["MirrorSourceConnector",{"cluster":"A","partition":2,"topic":"topic1"}]', value)


@pytest.mark.parametrize(
    # Kafka's own check values, signed as Java prints them.
    ("data", "signed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_hash_is_javas(data: bytes, signed: int) -> None:
    assert murmur2(data) == signed & 0xFFFFFFFF
