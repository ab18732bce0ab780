"""Filters and record functions on real clusters: what is left out is counted, stepped over, and never skips a group."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration import records
from integration.copying import Mirrored, result_of
from integration.record_functions import every_third_dropped_and_values_marked
from integration.records import RECENT_MS, Seen, Sent
from mirror.copy.resume import resume
from mirror.copy.resume_plan import ResumeRequest
from mirror.errors import ConfigurationRefused, RecordFunctionFailed
from mirror.kafka.values import TopicPartition
from mirror.records import Record, transformation_of
from mirror.wire.history import Early, Exact
from mirror.wire.partition_state import PartitionState
from world.kafka import KafkaCluster

SMT = "org.apache.kafka.connect.transforms"
FILTERS = f"""
transforms = noTombstones, noTests
predicates = isTombstone, isTest
transforms.noTombstones.type = {SMT}.Filter
transforms.noTombstones.predicate = isTombstone
transforms.noTests.type = {SMT}.Filter
transforms.noTests.predicate = isTest
predicates.isTombstone.type = {SMT}.predicates.RecordIsTombstone
predicates.isTest.type = {SMT}.predicates.HasHeaderKey
predicates.isTest.name = test
"""
FUNCTION = "airmirror.record.function = integration.record_functions:every_third_dropped_and_values_marked"


def mixed(count: int, partitions: int = 1) -> list[Sent]:
    """Plain records, tombstones, and records with a header that says test, in no regular turn."""
    return [
        Sent(
            value=None if n % 5 == 3 else b"value-%d" % n,
            key=b"key-%d" % n,
            headers=(("test", b""),) if n % 7 < 2 else (("n", b"%d" % n),),
            timestamp_ms=RECENT_MS + n,
            partition=n // 10 % partitions,
        )
        for n in range(count)
    ]


def is_kept(record: Seen) -> bool:
    return record.value is not None and all(name != "test" for name, _ in record.headers)


def assert_never_late(state: PartitionState, kept: list[Seen], there: list[Seen], end: int) -> None:
    """Every offset up to the end leads to the first kept record at or behind it, or before."""
    assert len(kept) == len(there)
    for offset in range(end + 1):
        found = state.translate(offset)
        assert isinstance(found, Exact | Early), f"{offset}: {found}"
        right = next((t.offset for k, t in zip(kept, there, strict=True) if k.offset >= offset), there[-1].offset + 1)
        assert found.downstream <= right, f"{offset} leads to {found}, behind {right}"
        assert not isinstance(found, Exact) or not any(found.downstream <= t.offset < right for t in there)


def test_connects_filters_leave_out_what_they_say_and_positions_go_past_it(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    mirrored = Mirrored(tmp_path, east, west, FILTERS)
    topic = mirrored.topic("mixed", 3)
    mirrored.write(topic, mixed(900, 3))
    result = mirrored.mirror()
    result.raise_if_incomplete()
    here, there = mirrored.read(topic)[topic]
    states = mirrored.states()
    for number, originals in here.items():
        kept = [record for record in originals if is_kept(record)]
        assert [r.content for r in there[number]] == [r.content for r in kept]
        told = result_of(result, topic, number)
        assert (told.record_count, told.dropped_count) == (len(kept), len(originals) - len(kept))
        assert told.end == originals[-1].offset + 1
        assert_never_late(states[TopicPartition(topic, number)], kept, there[number], told.end)
    assert result.dropped_count == result.to_json()["dropped"] > 0
    ends = mirrored.target_ends()
    again = mirrored.copy()
    assert (again.record_count, again.dropped_count) == (0, 0)
    assert mirrored.target_ends() == ends


def test_a_topic_is_filtered_by_its_remote_name(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> None:
    mirrored = Mirrored(tmp_path, east, west)
    wanted, other = mirrored.topic("wanted"), mirrored.topic("other")
    mirrored.configure(
        f"""
        transforms = only
        transforms.only.type = {SMT}.Filter
        transforms.only.predicate = isWanted
        transforms.only.negate = true
        predicates = isWanted
        predicates.isWanted.type = {SMT}.predicates.TopicNameMatches
        predicates.isWanted.pattern = {mirrored.remote(wanted)}
        """
    )
    for topic in (wanted, other):
        mirrored.write(topic, records.numbered(20))
    result = mirrored.mirror()
    assert mirrored.downstream_values(other) == []
    assert len(mirrored.downstream_values(wanted)) == 20
    state = mirrored.states()[TopicPartition(other, 0)]
    assert (state.position, state.dropped_count, result_of(result, other).end) == (20, 20, 20)
    assert state.translate(7) == Exact(0)


def test_a_function_drops_and_changes_and_the_transformation_says_what_must_be_there(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    mirrored = Mirrored(tmp_path, east, west, FUNCTION + "\nairmirror.copy.commit.bytes = 4000\n")
    topic = mirrored.topic("function")
    mirrored.write(topic, records.numbered(2000))
    mirrored.mirror().raise_if_incomplete()
    mirrored.write(topic, records.numbered(500, start=2000))
    mirrored.copy().raise_if_incomplete()
    here, there = (side[0] for side in mirrored.read(topic)[topic])
    transformation = transformation_of(mirrored.flow)
    assert transformation is not None
    wanted = [transformation.apply(as_record(mirrored, topic, seen)) for seen in here]
    expected = [(r.key, r.value, r.headers, r.timestamp_ms) for r in wanted if r is not None]
    assert [seen.content for seen in there] == expected
    assert len(expected) == 2500 - 2500 // 3
    kept = [seen for seen, record in zip(here, wanted, strict=True) if record is not None]
    assert_never_late(mirrored.states()[TopicPartition(topic, 0)], kept, there, 2500)


def as_record(mirrored: Mirrored, topic: str, seen: Seen) -> Record:
    return Record(topic, mirrored.remote(topic), 0, seen.offset, seen.key, seen.value, seen.headers, seen.timestamp_ms)


def test_a_failing_function_stops_its_partition_at_the_record_and_resume_leaves_it_out(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    mirrored = Mirrored(tmp_path, east, west, "airmirror.record.function = integration.record_functions:fails_at_seven")
    topic = mirrored.topic("failing", 2)
    mirrored.write(topic, records.numbered(10))
    mirrored.write(topic, [Sent(value=b"other-%d" % n, partition=1) for n in range(10)])
    result = mirrored.mirror()
    error = result_of(result, topic).error
    assert isinstance(error, RecordFunctionFailed)
    assert error.about["offset"] == 7
    assert "ValueError" in error.message
    assert "value-7" not in str(error)
    assert "--skip-to 8" in error.next_step
    assert mirrored.downstream_values(topic) == [b"value-%d" % n for n in range(7)]
    assert len(mirrored.downstream_values(topic, 1)) == 10
    request = ResumeRequest(topic=topic, partition=0, skip_to=8)
    resume(mirrored.flow, request, "by-hand", agree=lambda _: True, say=lambda _: None)
    mirrored.copy().raise_if_incomplete()
    assert mirrored.downstream_values(topic) == [b"value-%d" % n for n in range(10) if n != 7]


def test_a_function_that_cannot_be_loaded_stops_the_run_before_anything_is_written(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    mirrored = Mirrored(tmp_path, east, west, "airmirror.record.function = integration.record_functions:nobody")
    mirrored.topic("unloaded")
    with pytest.raises(ConfigurationRefused, match="nobody"):
        mirrored.copy()
    assert not mirrored.target.describe([mirrored.links.syncs_topic])


def test_the_function_under_test_does_all_three_things() -> None:
    made = [Record("t", "A.t", 0, n, None, b"v", (), 1) for n in range(6)]
    given = [every_third_dropped_and_values_marked(record) for record in made]
    assert {type(g).__name__ if g is None else g is r for g, r in zip(given, made, strict=True)} == {
        "NoneType", True, False,
    }  # fmt: skip
