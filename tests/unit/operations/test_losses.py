"""What is missing when the source is gone, told from what was last seen of it."""

from __future__ import annotations

from mirror.copy.control import ControlState
from mirror.kafka.values import TopicPartition
from mirror.operations.failover_report import FailoverReport
from mirror.operations.losses import newest_records, standings
from mirror.operations.report import markdown
from mirror.wire.control import FirstPosition, SourceEnds
from mirror.wire.partition_state import PartitionState

ORDERS = TopicPartition("orders", 0)


def state(position: int, *, has_record: bool = True) -> PartitionState:
    return PartitionState(
        topic="orders",
        partition=0,
        upstream_offset=position - 1,
        downstream_offset=position + 9,
        position=position,
        has_record=has_record,
        run="r1",
    )


def control(ends: dict[int, int]) -> ControlState:
    seen = SourceEnds(flow="A->B", topic="orders", at_ms=5000, ends=ends, stable=ends)
    first = FirstPosition(flow="A->B", topic="orders", partition=1, position=40, source_topic_id="", chosen_by="latest")
    return ControlState(source_ends={"orders": seen}, first_positions={TopicPartition("orders", 1): first})


def test_missing_is_what_was_seen_and_not_copied() -> None:
    states = {ORDERS: state(70)}
    zero, one = standings(control({0: 100, 1: 45}), states, {"orders": "A.orders"}, {TopicPartition("A.orders", 1): 3})
    assert (zero.missing, zero.seen_ms, zero.downstream_end) == (30, 5000, 80)
    assert (one.missing, one.position, one.downstream_end) == (5, 40, 3), "nothing copied yet: from its first position"
    assert newest_records((zero, one), states) == {TopicPartition("A.orders", 0): 79}


def test_a_copy_that_went_on_past_what_was_seen_misses_nothing() -> None:
    (zero,) = standings(control({0: 60}), {ORDERS: state(70)}, {"orders": "A.orders"}, {})
    assert zero.missing == 0
    assert zero.recovery_point_ms == 5000, "the source as it was seen is there"
    assert standings(control({0: 60}), {}, {}, {}) == (), "a topic that the flow does not copy any more"


def test_a_report_survives_the_record_and_shows_foreign_names_as_they_are() -> None:
    report = FailoverReport(
        flow="A->B",
        source="A",
        target="B",
        operation="o1",
        mode="unplanned",
        started_ms=1000,
        finished_ms=4500,
        recovery_point_ms=900,
        source_alive_ms=None,
        missing_at_least=30,
        partitions=tuple(
            each.to_json() for each in standings(control({0: 100}), {ORDERS: state(70)}, {"orders": "<b>|x"}, {})
        ),
        groups=(
            {
                "group": "busy",
                "outcome": "left alone",
                "moved": [],
                "left_alone": [{"topic": "A.orders", "partition": 0, "offset": 3, "reason": "it has members on B"}],
                "error": None,
            },
        ),
        commands=("airmirror flows",),
    )
    again = FailoverReport.from_json(report.to_json())
    assert again == report
    page = markdown(report.title, report.sections())
    for words in ("| at least 30, as of 1970-01-01 00:00:05Z |", "it has members on B", "airmirror flows", "3.5 s"):
        assert words in page
    assert "\\|x" in page, "no name leaves its cell"
