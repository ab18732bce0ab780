"""Reads what was copied so far: our own syncs, and where MM2 stopped before us."""

from __future__ import annotations

from dataclasses import dataclass, field

from mirror.copy.spec import FlowLinks
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import read_log
from mirror.kafka.values import TopicPartition
from mirror.wire.connect_offset import ConnectOffset
from mirror.wire.partition_state import PartitionState

# The connector whose offsets are positions; in MM2's dedicated mode its name is that of its class.
MM2_CONNECTOR = "MirrorSourceConnector"


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """The newest committed state of each partition, and the offset of the syncs topic up to which they are true."""

    states: dict[TopicPartition, PartitionState]
    read_to: int
    # When each was written, by its writer's clock.
    written_ms: dict[TopicPartition, int] = field(default_factory=dict)


def read_states(links: FlowLinks, target: Cluster, start: int | None = None, *, until: int | None = None) -> States:
    """Read the syncs from `start` (None: the beginning) to the high watermark as of now, or to `until`.

    To the high watermark, not the stable offset: another slot's open transaction must not hide a state that was
    committed behind it, or the reader goes on too early and copies twice.
    """
    log_start, log_end = target.bounds(links.syncs)
    start, end = log_start if start is None else start, log_end if until is None else until
    records = read_log(links.target_consumer, links.target, {links.syncs: (start, end)}, committed=True)
    states: dict[TopicPartition, PartitionState] = {}
    written_ms: dict[TopicPartition, int] = {}
    for record in records:
        if record.key is not None and record.value is not None:
            state = PartitionState.decode(record.key, record.value)
            partition = TopicPartition(state.topic, state.partition)
            states[partition], written_ms[partition] = state, record.timestamp_ms
    return States(states=states, read_to=end, written_ms=written_ms)


def read_mm2_positions(links: FlowLinks, target: Cluster) -> dict[TopicPartition, int]:
    """The position behind the last record that MM2 copied of each partition, where MM2 ran before."""
    topic = links.mm2_offsets_topic
    described = target.describe([topic]).get(topic)
    if described is None:
        return {}
    partitions = [TopicPartition(topic, number) for number in range(described.partition_count)]
    ranges = {partition: target.bounds(partition) for partition in partitions}
    positions: dict[TopicPartition, int] = {}
    for record in read_log(links.target_consumer, links.target, ranges, committed=True):
        if record.key is None:
            continue
        found = ConnectOffset.decode(record.key, record.value)
        if not isinstance(found, ConnectOffset) or found.connector != MM2_CONNECTOR or found.cluster != links.source:
            continue
        partition = TopicPartition(found.topic, found.partition)
        if found.offset is None:
            positions.pop(partition, None)
        else:
            positions[partition] = found.offset + 1
    return positions
