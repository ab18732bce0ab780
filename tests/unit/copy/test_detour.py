"""What an operation asks of a copy: offsets passed over, an end, and the place of every copy."""

from __future__ import annotations

import pytest

from mirror.copy.detour import Detour
from mirror.copy.engine import OPEN_END, Range
from mirror.copy.record_engine import _first_wanted
from mirror.copy.run_writer import PendingRun
from mirror.copy.spec import PartitionSpec
from mirror.kafka.values import TopicPartition
from mirror.wire.history import History
from mirror.wire.stretches import Stretch

ORDERS, REMOTE = TopicPartition("orders", 0), TopicPartition("A.orders", 0)


def spec(position: int, end: int) -> PartitionSpec:
    return PartitionSpec(
        partition=ORDERS, remote=REMOTE, position=position, end=end, source_topic_id="a", target_topic_id="b"
    )


def test_only_what_is_named_is_copied_and_only_so_far() -> None:
    ends = {ORDERS: 20}
    assert [s.end for s in Detour(ends=ends).applied_to([spec(5, 30), spec(25, 30), spec(5, 10)])] == [20, 25, 10]
    (left_alone,) = Detour(ends={}).applied_to([spec(5, 30)])
    assert (left_alone.end, left_alone.size) == (5, 0)
    (whole,) = Detour().applied_to([spec(5, 30)])
    assert (whole.end, whole.is_exact, whole.returned) == (30, True, None)


def test_what_the_opposite_flow_wrote_goes_with_the_plan() -> None:
    returned = History().append_run(0, 4, 10, 4)
    detour = Detour(skips={ORDERS: (Stretch(10, 14),)}, returned={ORDERS: returned})
    (planned,) = detour.applied_to([spec(5, 30)])
    assert (planned.skips, planned.returned) == ((Stretch(10, 14),), returned)


@pytest.mark.parametrize(
    ("start", "end", "first"),
    [
        (5, 30, 5),
        (10, 30, 19),  # of a stretch only its last record is read, for its epoch
        (19, 30, 19),
        (20, 30, 20),
        (10, 15, 14),  # the range ends inside the stretch
        (10, OPEN_END, 19),
    ],
)
def test_a_stretch_at_the_position_is_not_read_through(start: int, end: int, first: int) -> None:
    wanted = Range(partition=ORDERS, remote=REMOTE, start=start, end=end, skips=(Stretch(10, 20),))
    assert _first_wanted(wanted) == first


def test_a_run_that_somebody_wrote_into_becomes_several() -> None:
    run = PendingRun(100, 5, downstream_start=7, downstream_last=13, landed=[7, 8, 10, 11, 13])
    assert run.is_known
    assert [tuple(part) for part in run.settled()] == [(100, 2, 7, 9), (102, 2, 10, 12), (104, 1, 13, 14)]
    assert [tuple(part) for part in PendingRun(100, 5, 7, 13).settled()] == [(100, 5, 7, 14)]
    run.landed = [7, 8, -1, 11, 13]
    assert not run.is_known, "a report that did not come is no place"
