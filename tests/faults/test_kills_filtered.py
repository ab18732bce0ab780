"""kill -9 in the midst of a copy that leaves records out and changes others: each that is kept still stands once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.scenario import IS_LONG, LINES, REPEATS, Scenario
from faults.test_kills import SLOT_POINTS
from mirror.wire.history import DEFAULT_CAP
from world.kafka import KafkaCluster

# Beside the file, as a user would put it: Spark's workers get it with the job.
FUNCTION = """
def mark(record):
    if record.offset % 5 == 3:
        return None
    if record.value is None or record.offset % 2:
        return record
    return record.changed(value=record.value + b" marked", headers=(*record.headers, ("marked", None)))
"""
FILTERS = """
airmirror.record.function = marking_under_fault:mark
transforms = noTombstones
transforms.noTombstones.type = org.apache.kafka.connect.transforms.Filter
transforms.noTombstones.predicate = isTombstone
predicates = isTombstone
predicates.isTombstone.type = org.apache.kafka.connect.transforms.predicates.RecordIsTombstone
"""
MANY = 20_000
# Where records are in the transaction without their state, and where both are.
POINTS = SLOT_POINTS if IS_LONG else ("flushed", "committed")


@pytest.fixture
def filtered(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Iterator[Scenario]:
    (tmp_path / "marking_under_fault.py").write_text(FUNCTION)
    # Kept records come in short runs: the newest quarter of the segments is all that must be exact.
    made = Scenario(tmp_path, east, west, lines=LINES + FILTERS, newest=DEFAULT_CAP // 4)
    try:
        yield made
    finally:
        made.runs.end()


@pytest.mark.long("many records")
@pytest.mark.parametrize("round_", range(REPEATS))
def test_workers_killed_while_they_drop_and_change_records_leave_each_kept_one_once(
    filtered: Scenario, round_: int
) -> None:
    faults = [filtered.runs.fault(point, 1 + round_ % 2) for point in POINTS]
    with filtered.growing(first_count=MANY):
        filtered.runs.command(*faults, master="local[2,5]").assert_ends(0)
        assert len({fault.pid for fault in faults}) == len(POINTS)
        assert filtered.assert_prefix() > 0
    filtered.assert_exact()
    states = filtered.mirrored.states()
    assert all(state.dropped_count > 0 and state.is_transformed for state in states.values())
    for state in states.values():
        assert state.record_count + state.dropped_count <= state.position
