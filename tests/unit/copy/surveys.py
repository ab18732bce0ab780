"""Surveys of one topic as a test wants them, without a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mirror.copy.control import ControlState
from mirror.copy.state import States
from mirror.copy.survey import SourceView, Survey, TargetView
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.selection import Decision
from mirror.wire.control import ChosenBy, FirstPosition
from mirror.wire.partition_state import PartitionState

SOURCE_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
TARGET_ID = "AAAAAAAAAAAAAAAAAAAAAg"
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAw"
NOW_MS = 1_700_000_000_000
TOPIC = "orders"
P0 = TopicPartition(TOPIC, 0)


def state(position: int, partition: int = 0, **changes: Any) -> PartitionState:
    """A partition copied up to `position` from its beginning, records only."""
    known = PartitionState(
        topic=TOPIC,
        partition=partition,
        upstream_offset=position - 1,
        downstream_offset=position - 1,
        position=position,
        source_topic_id=SOURCE_ID,
        target_topic_id=TARGET_ID,
        leader_epoch=0,
        run="20240101T000000-aaaaaa",
        record_count=position,
    )
    return replace(known, **changes)


def first_position(position: int, partition: int = 0, chosen_by: ChosenBy = "earliest") -> FirstPosition:
    return FirstPosition(
        flow="A->B",
        topic=TOPIC,
        partition=partition,
        position=position,
        source_topic_id=SOURCE_ID,
        chosen_by=chosen_by,
    )


def survey_of(
    *states: PartitionState,
    partitions: int = 1,
    start: int = 0,
    end: int = 100,
    stable: int | None = None,
    remote_end: int = 50,
    remote_exists: bool = True,
    source_id: str = SOURCE_ID,
    target_id: str = TARGET_ID,
    firsts: tuple[FirstPosition, ...] = (),
    mm2: dict[TopicPartition, int] | None = None,
) -> Survey:
    """The topic `orders` with the same offsets in each of its partitions."""
    remote = f"A.{TOPIC}"
    numbers = [TopicPartition(TOPIC, n) for n in range(partitions)]
    decision = Decision(topic=TOPIC, remote_topic=remote, selected=True, reason="a test's")
    described = TopicDescription(name=remote, id=target_id, partition_count=partitions)
    return Survey(
        source=SourceView(
            topics={TOPIC: TopicDescription(name=TOPIC, id=source_id, partition_count=partitions)},
            decisions={TOPIC: decision},
            log_starts=dict.fromkeys(numbers, start),
            stable_ends=dict.fromkeys(numbers, end if stable is None else stable),
            ends=dict.fromkeys(numbers, end),
            at_ms=NOW_MS,
        ),
        target=TargetView(
            topics={remote: described} if remote_exists else {},
            ends={TopicPartition(remote, n): remote_end for n in range(partitions)} if remote_exists else {},
        ),
        states=States(states={TopicPartition(s.topic, s.partition): s for s in states}, read_to=0),
        control=ControlState(first_positions={TopicPartition(f.topic, f.partition): f for f in firsts}),
        mm2_positions=mm2 or {},
    )
