"""What a failback makes of a partition: where the return begins, what survived, what is still true of its states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mirror.copy.control import ControlState
from mirror.errors import LogTruncated
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.operations.failback_plan import (
    BothSides,
    Log,
    PartitionReturn,
    mended,
    mended_return,
    plan_partition,
    survivor_runs,
)
from mirror.operations.failback_points import points_of, records_of
from mirror.wire.control import FirstPosition
from mirror.wire.history import History
from mirror.wire.partition_state import PartitionState
from mirror.wire.stretches import Stretch

HERE, THERE = TopicPartition("orders", 0), TopicPartition("A.orders", 0)


def described(name: str, topic_id: str) -> TopicDescription:
    return TopicDescription(name=name, id=topic_id, partition_count=1, is_internal=False)


# Thirty records brought as offsets 2 to 32 of the target, where markers lie between.
STATE = PartitionState(
    topic="orders",
    partition=0,
    upstream_offset=29,
    downstream_offset=32,
    position=30,
    source_topic_id="a1",
    target_topic_id="b1",
    leader_epoch=3,
    history=History(complete_from_start=True).append_run(0, 20, 2, 20).append_run(20, 10, 23, 10),
    record_count=30,
    run="r1",
)


def sides(**changes: Any) -> BothSides:
    known: dict[str, Any] = {
        "flow": "A->B",
        "source": "A",
        "target": "B",
        "control": ControlState(),
        "states": {HERE: STATE},
        "return_states": {},
        "names": {"orders": "A.orders"},
        "source_topics": {"orders": described("orders", "a1")},
        "source_starts": {HERE: 0},
        "source_ends": {HERE: 34},
        "target_topics": {"A.orders": described("A.orders", "b1")},
        "target_starts": {THERE: 0},
        "target_ends": {THERE: 50},
    }
    return BothSides(**{**known, **changes})


RETURNED = replace(
    STATE,
    position=40,
    upstream_offset=29,
    returned=History(complete_from_start=True).append_run(34, 6, 30, 6),
)


@pytest.mark.parametrize(
    ("changes", "log", "boundary", "survivors"),
    [
        ({}, Log.SAME, 33, (30, 34)),
        ({"states": {HERE: RETURNED}, "source_ends": {HERE: 40}}, Log.SAME, 40, (40, 40)),
        # The tail is lost from the 25th record on: its copy is where the return begins.
        ({"cuts": {HERE: 25}, "source_ends": {HERE: 27}}, Log.TAIL_LOST, 28, (25, 27)),
        ({"source_topics": {"orders": described("orders", "a2")}, "source_ends": {HERE: 3}}, Log.REBUILT, 0, (0, 3)),
        ({"source_topics": {}, "source_ends": {}, "source_starts": {}}, Log.REBUILT, 0, (0, 0)),
        ({"states": {}, "source_ends": {HERE: 3}}, Log.NEW, 0, (0, 3)),
        # The target's own retention was faster than the return.
        ({"target_starts": {THERE: 40}}, Log.SAME, 40, (30, 34)),
    ],
)
def test_where_the_return_begins_and_what_survived(
    changes: dict[str, Any], log: Log, boundary: int, survivors: tuple[int, int]
) -> None:
    plan = plan_partition(sides(**changes), HERE)
    assert isinstance(plan, PartitionReturn)
    assert (plan.log, plan.boundary, (plan.survivors_start, plan.survivors_end)) == (log, boundary, survivors)


def test_a_partition_that_was_to_begin_later_has_no_survivors_before_that() -> None:
    first = FirstPosition(flow="A->B", topic="orders", partition=0, position=20, source_topic_id="", chosen_by="latest")
    plan = plan_partition(sides(states={}, control=ControlState(first_positions={HERE: first})), HERE)
    assert isinstance(plan, PartitionReturn)
    assert (plan.survivors_start, plan.survivors_end) == (20, 34)


def test_a_tail_lost_where_the_history_is_coarse_is_left_to_a_person() -> None:
    coarse = STATE.history.append_run(30, 4, 40, 4).append_run(40, 4, 50, 4).append_run(50, 4, 60, 4).thinned(4)
    for number in range(6):
        coarse = coarse.append_run(60 + 5 * number, 4, 80 + 9 * number, 4)
    state = replace(STATE, history=coarse.thinned(4), position=94)
    found = plan_partition(sides(states={HERE: state}, cuts={HERE: 15}), HERE)
    assert isinstance(found, LogTruncated)
    assert found.next_step


@pytest.mark.parametrize(
    ("changes", "runs", "survived"),
    [
        # What an earlier return put there is no survivor, and where there is no record there is none.
        ({}, [(30, 33), (36, 40)], [(30, 32), (38, 40)]),
        # The return is lost with the tail: the same offsets hold others' records.
        ({"cuts": {HERE: 25}}, [(25, 40)], [(25, 40)]),
        ({"source_topics": {"orders": described("orders", "a2")}}, [(0, 40)], [(0, 40)]),
    ],
)
def test_survivors_are_all_but_what_returned(
    changes: dict[str, Any], runs: list[tuple[int, int]], survived: list[tuple[int, int]]
) -> None:
    back = replace(STATE, topic="A.orders", source_topic_id="b1", target_topic_id="a1", stretches=(Stretch(32, 38),))
    found = sides(source_ends={HERE: 40}, return_states={THERE: back}, **changes)
    plan = plan_partition(found, HERE)
    assert isinstance(plan, PartitionReturn)
    assert survivor_runs(found, plan, runs) == survived


def test_what_is_still_true_of_a_log_that_lost_its_tail() -> None:
    plan = plan_partition(sides(cuts={HERE: 25}, source_ends={HERE: 27}), HERE)
    assert isinstance(plan, PartitionReturn)
    state = mended(replace(STATE, stretches=(Stretch(2, 22), Stretch(23, 33))), plan, "a1", "o1")
    assert (state.position, state.leader_epoch, state.record_count) == (25, None, 25)
    assert (state.translate(24), state.translate_back(27)) == (STATE.translate(24), STATE.translate_back(27))
    assert state.stretches == (Stretch(2, 22), Stretch(23, 28))
    assert mended(state, plan, "a1", "o1") == state, "done again, it is the same"


def test_nothing_is_true_any_more_of_a_log_that_was_made_anew() -> None:
    plan = plan_partition(sides(source_topics={"orders": described("orders", "a2")}, source_ends={HERE: 0}), HERE)
    assert isinstance(plan, PartitionReturn)
    state = mended(RETURNED, plan, "a2", "o1")
    assert (state.position, state.source_topic_id, state.has_record) == (0, "a2", False)
    assert not state.history.segments
    assert not state.returned.segments
    back = replace(STATE, topic="A.orders", history=RETURNED.returned, stretches=(Stretch(30, 36),), position=40)
    back = mended_return(back, plan, "a2", "o1")
    assert (back.position, back.target_topic_id, back.stretches, back.has_record) == (0, "a2", (), False)


def test_decisions_survive_the_record() -> None:
    plan = plan_partition(sides(cuts={HERE: 25}), HERE)
    assert isinstance(plan, PartitionReturn)
    (record,) = records_of("A->B", "o1", [plan])
    state = ControlState(return_points={"orders": record})
    assert points_of(state, "o1") == {HERE: plan}
    assert points_of(state, "o2") == {}, "another operation decides anew"
