"""What is copied: records of 500 bytes in producer batches of three sizes."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from dataclasses import dataclass

PARTITION_COUNT = 4
RECORD_BYTES = 500
_KEY_BYTES = 16
# Different values before they repeat: their bytes together are far beyond the window in which lz4 finds repetitions.
_POOL_SIZE = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a producer packed the source topic; `log_bytes` is the size of a batch as the broker stores it."""

    name: str
    label: str
    compression: str
    log_bytes: int
    # The client counts a batch's bytes before compression: these give the size wanted on the log.
    batch_size: int


SHAPES = (
    Shape(name="128k", label="128 KiB uncompressed", compression="none", log_bytes=131_072, batch_size=131_500),
    Shape(name="16k-lz4", label="16 KiB lz4", compression="lz4", log_bytes=16_384, batch_size=34_700),
    Shape(name="2k-lz4", label="2 KB lz4", compression="lz4", log_bytes=2_048, batch_size=4_100),
)
BY_NAME = {shape.name: shape for shape in SHAPES}

# The shape on which airmirror's promise of speed is judged.
JUDGED = "16k-lz4"


def producer_settings(shape: Shape) -> dict[str, object]:
    """Settings with which the client fills each batch to the size asked for, and no further."""
    return {
        "batch.size": shape.batch_size,
        "batch.num.messages": 1_000_000,
        "linger.ms": 5000,  # a batch leaves when it is full, not when it is late
        "queue.buffering.max.messages": 200_000,
        "compression.type": shape.compression,
        "acks": "1",
    }


def values() -> list[bytes]:
    """JSON-like text, half of which repeats from record to record; the same in every run."""
    dice = random.Random(20_000)
    return [_value(dice) for _ in range(_POOL_SIZE)]


def _value(dice: random.Random) -> bytes:
    letters = string.ascii_letters + string.digits
    text = (
        f'{{"event":"order-confirmed","version":3,"tenant":"north-europe","customer":{{"id":{dice.randrange(10**9)},'
        f'"segment":"returning","country":"{dice.choice(("SE", "NO", "DK", "FI"))}"}},'
        f'"total":{{"currency":"EUR","amount":{dice.randrange(10**6)}}},"source":"web-checkout",'
        f'"delivery":{{"method":"parcel-locker","promised":"next-working-day"}},'
        f'"trace":"{dice.getrandbits(128):032x}","token":"'
    )
    missing = RECORD_BYTES - _KEY_BYTES - len(text) - 2
    return (text + "".join(dice.choices(letters, k=missing)) + '"}').encode()


def records(count: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Key, value and partition of each record, in order."""
    pool = values()
    for number in range(count):
        yield b"%016d" % number, pool[number % _POOL_SIZE], number % PARTITION_COUNT
