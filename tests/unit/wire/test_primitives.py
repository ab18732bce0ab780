"""Numbers and strings on the wire."""

from __future__ import annotations

import random

import pytest

from mirror.errors import StateUnreadable
from mirror.wire import primitives


def _varint(write: object, value: int) -> str:
    out = bytearray()
    write(out, value)  # type: ignore[operator]
    return out.hex()


@pytest.mark.parametrize(
    ("value", "raw"), [(0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**63, "80808080808080808001")]
)
def test_unsigned_varint_is_kafkas(value: int, raw: str) -> None:
    assert _varint(primitives.write_unsigned_varint, value) == raw
    assert primitives.read_unsigned_varint(bytes.fromhex("ff" + raw + "ff"), 1) == (value, 1 + len(raw) // 2)


@pytest.mark.parametrize(
    ("value", "raw"), [(0, "00"), (-1, "01"), (1, "02"), (-64, "7f"), (64, "8001"), (-(2**63), "ffffffffffffffffff01")]
)
def test_varint_is_zigzag(value: int, raw: str) -> None:
    assert _varint(primitives.write_varint, value) == raw
    assert primitives.read_varint(bytes.fromhex(raw), 0) == (value, len(raw) // 2)


def test_random_numbers_come_back_as_they_were() -> None:
    rng = random.Random(5)
    for _ in range(3000):
        value = rng.getrandbits(rng.randint(1, 63)) * rng.choice([1, -1])
        out = bytearray()
        primitives.write_varint(out, value)
        primitives.write_unsigned_varint(out, abs(value))
        read, at = primitives.read_varint(bytes(out), 0)
        assert (read, *primitives.read_unsigned_varint(bytes(out), at)) == (value, abs(value), len(out))
        assert primitives.read_int64(primitives.write_int64(value), 0) == (value, 8)


@pytest.mark.parametrize("raw", ["", "80", "ffffffffffffffffffff01"])
def test_varint_without_an_end_is_refused(raw: str) -> None:
    with pytest.raises(StateUnreadable):
        primitives.read_unsigned_varint(bytes.fromhex(raw), 0)


def test_negative_number_is_not_written_as_unsigned() -> None:
    with pytest.raises(ValueError, match="negative"):
        primitives.write_unsigned_varint(bytearray(), -1)


@pytest.mark.parametrize("raw", ["ffff", "000361c3", "0002c328"])
def test_damaged_string_is_refused(raw: str) -> None:
    with pytest.raises(StateUnreadable):
        primitives.read_string(bytes.fromhex(raw), 0)
