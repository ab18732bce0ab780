"""The state of a partition: what a run writes, the next one reads, and what is not understood is refused."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from typing import Any

import pytest

from mirror.errors import StateUnreadable
from mirror.wire.gaps import GAPS_KEPT, Gap, GapReason, add_gap
from mirror.wire.history import Early, Exact, History, Unknown
from mirror.wire.offset_sync import OffsetSync
from mirror.wire.partition_state import PartitionState
from mirror.wire.segments import Segment
from mirror.wire.topic_ids import decode_topic_id, encode_topic_id
from unit.wire.histories import Copier

KAFKA_ID = "8vpXNdCoQ3-5kVp2_d3tHg"


def state(**facts: Any) -> PartitionState:
    usual: dict[str, Any] = {
        "topic": "orders",
        "partition": 3,
        "upstream_offset": 41,
        "downstream_offset": 57,
        "position": 43,
        "source_topic_id": KAFKA_ID,
        "leader_epoch": 0,
        "history": History([Segment(0, 42, 16, 42)], complete_from_start=True),
        "run": "copy-17",
    }
    return PartitionState(**{**usual, **facts})


def gap(start: int, end: int, reason: GapReason = GapReason.RETENTION, at_ms: int = 1_700_000_000_000) -> Gap:
    return Gap(start=start, end=end, reason=reason, at_ms=at_ms)


def test_state_on_the_wire() -> None:
    written = state(gaps=(gap(0, 5, at_ms=1000),), record_count=300)
    assert written.encode_key().hex() == "00066f726465727300000003"
    assert written.encode_value().hex() == "".join(
        [
            "0000000000000029" + "0000000000000039",  # MM2's sync 41 -> 57
            "414d" + "01" + "03",  # AM, version 1, has a record and an epoch
            "000000000000002b" + "00000000",  # position 43, epoch 0
            "f2fa5735d0a8437fb9915a76fddded1e" + "00" * 16,
            "0007" + b"copy-17".hex(),
            "ac02" + "00",  # 300 records copied so far, no bytes counted
            "01" + "01" + "00" + "05" + "d00f",  # one gap: retention, from 0, 5 long, at 1000 ms
            "03" + "2a" + "3a" + "a901" + "00" + "00",  # one segment, complete; ends 42 and 58; 42 long, no gaps behind
        ]
    )
    assert PartitionState.decode(written.encode_key(), written.encode_value()) == written


def test_a_state_that_left_records_out_on_the_wire() -> None:
    plain = state(record_count=300)
    written = replace(plain, dropped_count=5, there_already_count=200, left_out_offset=42, is_transformed=True)
    value, before = written.encode_value().hex(), plain.encode_value().hex()
    assert value[32:40] == "414d" + "01" + "0f"
    counts = "05" + "c801" + "2b"  # 5 dropped, 200 there already, the newest of them at 42
    at = before.index("ac02" + "00") + 6
    assert value[40:] == before[40:at] + counts + before[at:]
    assert PartitionState.decode(written.encode_key(), written.encode_value()) == written


def test_a_state_whose_remote_partition_others_write_too() -> None:
    written = state(record_count=300, is_marked=True, remote_end=90)
    value = written.encode_value()
    assert value[19] == 0b110011
    assert PartitionState.decode(written.encode_key(), value) == written
    # Up to the newest copied record by the history; behind it nothing of ours lies before the end that was seen.
    assert written.translate(41) == Exact(57)
    assert written.translate(42) == written.translate(43) == Exact(90)
    assert written.translate(45) == Early(90, 2)


@pytest.mark.parametrize(
    ("facts", "witness"),
    [
        ({}, 41),
        ({"left_out_offset": 42, "dropped_count": 1}, 42),
        ({"has_record": False}, None),
        ({"has_record": False, "left_out_offset": 42, "dropped_count": 1}, 42),
    ],
)
def test_the_newest_record_read_is_the_witness_copied_or_not(facts: dict[str, Any], witness: int | None) -> None:
    read = PartitionState.decode(state(**facts).encode_key(), state(**facts).encode_value())
    assert read.witness == witness


def test_mm2_reads_the_newest_copied_record_from_it() -> None:
    written = state()
    as_mm2 = OffsetSync.decode(written.encode_key(), written.encode_value())
    assert as_mm2 == written.offset_sync()
    assert (as_mm2.upstream_offset, as_mm2.downstream_offset) == (41, 57)


def test_sync_that_mm2_wrote_is_recognised() -> None:
    sync = OffsetSync(topic="orders", partition=3, upstream_offset=100, downstream_offset=200)
    read = PartitionState.decode(sync.encode_key(), sync.encode_value())
    assert read.is_from_mm2
    assert (read.position, read.has_record, read.history) == (101, True, History())
    assert isinstance(read.translate(50), Unknown)
    assert read.translate(101) == Exact(201)
    assert not PartitionState.decode(state().encode_key(), state().encode_value()).is_from_mm2


def test_random_states_come_back_as_they_were() -> None:
    for seed in range(300):
        copier = Copier(seed)
        list(copier.steps(5))
        rng = copier.rng
        written = state(
            topic="t-" + "ü" * rng.randint(0, 80),
            partition=rng.getrandbits(20),
            upstream_offset=rng.getrandbits(62),
            downstream_offset=rng.getrandbits(62),
            position=rng.getrandbits(62),
            has_record=rng.random() < 0.5,
            source_topic_id=rng.choice(["", decode_topic_id(rng.randbytes(16))]),
            target_topic_id=rng.choice(["", decode_topic_id(rng.randbytes(16))]),
            leader_epoch=rng.choice([None, 0, 7, 2**31 - 1]),
            history=copier.history,
            gaps=tuple(_random_gap(rng) for _ in range(rng.randint(0, GAPS_KEPT))),
            run=f"run-{seed}",
            record_count=rng.getrandbits(40),
            byte_count=rng.getrandbits(50),
        )
        read = PartitionState.decode(written.encode_key(), written.encode_value())
        again = pickle.loads(pickle.dumps(read))  # as Spark carries it to the tasks
        assert read.encode_value() == written.encode_value()
        assert read == written == again


def _random_gap(rng: random.Random) -> Gap:
    start = rng.getrandbits(rng.randint(1, 60))
    return gap(start, start + rng.getrandbits(rng.randint(1, 40)), GapReason(rng.randint(0, 5)), rng.getrandbits(42))


def test_segments_are_decoded_only_when_looked_at() -> None:
    written = state()
    torn = PartitionState.decode(written.encode_key(), written.encode_value()[:-1])
    assert torn.position == 43
    with pytest.raises(StateUnreadable):
        _ = torn.history.segments


@pytest.mark.parametrize(
    ("value", "says"),
    [
        pytest.param(b"", "no extension", id="empty"),
        pytest.param(state().encode_value()[:15], "no extension", id="cut in MM2's part"),
        pytest.param(state().encode_value()[:16] + b"XY" + state().encode_value()[18:], "no extension", id="foreign"),
        pytest.param(state().encode_value()[:18], "no extension", id="cut before the version"),
        pytest.param(state().encode_value()[:40], "ends after 40", id="cut in the head"),
        pytest.param(state().encode_value()[:66], "string", id="cut in the run"),
        pytest.param(state().encode_value()[:18] + b"\x03" + state().encode_value()[19:], "version 3", id="newer"),
    ],
)
def test_state_that_is_not_understood_is_refused(value: bytes, says: str) -> None:
    with pytest.raises(StateUnreadable, match=says):
        PartitionState.decode(state().encode_key(), value)


def test_state_without_a_run_is_not_written() -> None:
    with pytest.raises(ValueError, match="orders-3"):
        state(run="").encode_value()


def test_translation_goes_to_the_end_while_no_record_was_copied() -> None:
    nothing_yet = state(has_record=False, upstream_offset=43, downstream_offset=16, history=History())
    assert nothing_yet.downstream_end == 16
    assert nothing_yet.translate(43) == Exact(16)
    assert nothing_yet.translate(45) == Early(16, 2)
    assert isinstance(nothing_yet.translate(42), Unknown)
    from_the_start = replace(nothing_yet, history=History(complete_from_start=True))
    assert from_the_start.translate(42) == Exact(16)


def test_translation_of_a_copied_partition_is_its_historys() -> None:
    assert state().translate(41) == Exact(57)
    assert state().translate(43) == Exact(state().downstream_end) == Exact(58)
    assert state().translate_back(58).offset == 43  # type: ignore[union-attr]


def test_gap_that_goes_on_is_one_gap() -> None:
    gaps = add_gap((gap(0, 5),), gap(5, 9, at_ms=7))
    assert gaps == (gap(0, 9, at_ms=7),)
    assert add_gap(gaps, gap(9, 10, GapReason.SKIPPED)) == (gaps[0], gap(9, 10, GapReason.SKIPPED))


def test_oldest_gaps_are_merged_above_the_limit_and_none_is_forgotten() -> None:
    kept = state()
    for number in range(GAPS_KEPT + 10):
        kept = kept.with_gap(gap(10 * number, 10 * number + 1, at_ms=number))
    assert len(kept.gaps) == GAPS_KEPT
    assert kept.gaps[0] == gap(0, 101, GapReason.SEVERAL, at_ms=10)
    assert kept.gaps[1] == gap(110, 111, at_ms=11)


def test_gap_of_a_newer_reason_is_kept_as_other() -> None:
    raw = bytearray(state(gaps=(gap(0, 5, at_ms=1000),)).encode_value())
    at = raw.index(b"copy-17") + len(b"copy-17") + 3  # behind both counts and the number of gaps
    assert raw[at] == GapReason.RETENTION
    raw[at] = 99
    assert PartitionState.decode(state().encode_key(), bytes(raw)).gaps == (gap(0, 5, GapReason.OTHER, at_ms=1000),)


def test_topic_id_has_kafkas_text_whoever_printed_it() -> None:
    printed_by_librdkafka = KAFKA_ID.replace("-", "+").replace("_", "/")
    assert encode_topic_id(printed_by_librdkafka) == encode_topic_id(KAFKA_ID)
    assert decode_topic_id(encode_topic_id(printed_by_librdkafka)) == KAFKA_ID
    assert decode_topic_id(encode_topic_id("")) == ""


@pytest.mark.parametrize("text", ["short", KAFKA_ID + "A", "8vpXNdCoQ3 5kVp2_d3tHg", "ü" * 22])
def test_text_that_is_no_topic_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a topic id"):
        encode_topic_id(text)
