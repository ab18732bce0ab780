"""What the bench copies, and how it sees the batches on the log."""

from __future__ import annotations

import pytest

from bench.batches import sizes
from bench.shapes import PARTITION_COUNT, RECORD_BYTES, records

DUMP = """\
Dumping /data/bench-0/00000000000000000000.log
Log starting offset: 0
baseOffset: 0 lastOffset: 66 count: 67 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1763262000000 size: 16000 magic: 2 compresscodec: lz4 crc: 1 isvalid: true
baseOffset: 67 lastOffset: 135 count: 69 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 16000 CreateTime: 1763262000000 size: 17000 magic: 2 compresscodec: lz4 crc: 1 isvalid: true
baseOffset: 136 lastOffset: 136 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 33000 CreateTime: 1763262000000 size: 300 magic: 2 compresscodec: lz4 crc: 1 isvalid: true
"""  # noqa: E501 - as the tool prints it


def test_the_mean_batch_leaves_out_the_last_one_which_is_not_full() -> None:
    found = sizes(DUMP.splitlines())
    assert (found.batch_count, found.mean_bytes, found.mean_records, found.compression) == (2, 16500.0, 68.0, "lz4")
    assert str(found) == "16,500 bytes, 68.0 records, lz4"


def test_a_dump_without_batches_is_an_error() -> None:
    with pytest.raises(ValueError, match="no batch"):
        sizes(["Log starting offset: 0"])


def test_records_have_500_bytes_spread_evenly_and_are_the_same_in_every_run() -> None:
    first, second = list(records(8)), list(records(8))
    assert first == second
    assert {len(key) + len(value) for key, value, _ in first} == {RECORD_BYTES}
    assert len({value for _, value, _ in first}) == 8
    assert [partition for _, _, partition in first] == [*range(PARTITION_COUNT)] * 2
