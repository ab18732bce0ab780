"""Targets made by hand, each with something wrong, and the state that a copy would have left beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from integration import records
from integration.copying import Mirrored
from integration.records import Sent
from mirror.kafka.log import Appender
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap
from mirror.wire.history import HistoryBuilder
from mirror.wire.partition_state import PartitionState

# What is written downstream: each record with the upstream offset that it is a copy of, None if of none.
Copies = list[tuple[int | None, Sent]]


def faithful(sent: Sequence[Sent]) -> Copies:
    return list(enumerate(sent))


def write_copies(flow: Mirrored, topic: str, copies: Copies, *, position: int, gaps: tuple[Gap, ...] = ()) -> None:
    """Write a remote topic, and the state of a copy that knew which record it put where."""
    remote = flow.remote(topic)
    start = flow.target.high_watermarks([TopicPartition(remote, 0)])[TopicPartition(remote, 0)]
    records.write(flow.downstream.bootstrap_servers, remote, [sent for _, sent in copies])
    history = HistoryBuilder()
    rising = -1
    known = [(upstream, start + n) for n, (upstream, _) in enumerate(copies) if upstream is not None]
    for upstream, downstream in known:
        if upstream > rising:
            history.append_run(upstream, 1, downstream, 1)
            rising = upstream
    frozen = history.freeze()
    frozen.complete_from_start = True
    write_state(
        flow,
        PartitionState(
            topic=topic,
            partition=0,
            upstream_offset=known[-1][0],
            downstream_offset=known[-1][1],
            position=position,
            source_topic_id=flow.source.describe([topic])[topic].id,
            target_topic_id=flow.target.describe([remote])[remote].id,
            history=frozen,
            gaps=gaps,
            run="by-hand",
            record_count=len(known),
        ),
    )


def write_state(flow: Mirrored, state: PartitionState) -> None:
    appender = Appender(flow.links.target, flow.links.target_producer)
    appender.append([(flow.links.syncs, state.encode_key(), state.encode_value())])


def change_state(flow: Mirrored, topic: str, change: Callable[[PartitionState], PartitionState]) -> None:
    """Let the state say something else than the last copy left."""
    write_state(flow, replace(change(flow.states()[TopicPartition(topic, 0)])))
