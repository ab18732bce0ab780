"""The recovery point: what the target has, and what only the source has, at one moment."""

from __future__ import annotations

from collections.abc import Mapping

from mirror.config import Flow
from mirror.copy.spec import FlowLinks
from mirror.kafka.timestamps import read_timestamps
from mirror.kafka.values import TopicPartition
from mirror.operations.drill.report import PartitionPoint, RecoveryPoint
from mirror.status import measure_lag
from mirror.wire.partition_state import PartitionState


def measure_point(flow: Flow, links: FlowLinks, states: Mapping[TopicPartition, PartitionState]) -> RecoveryPoint:
    """Ask both clusters, as `airmirror lag` does, and how old the newest copied record of each partition is."""
    lag = measure_lag(flow)
    last = {
        p.remote: states[p.partition].downstream_offset
        for p in lag.partitions
        if p.partition in states and states[p.partition].has_record
    }
    newest = read_timestamps(links.target_consumer, links.target, last)
    partitions = tuple(
        PartitionPoint(
            partition=p.partition,
            position=p.position,
            source_end=p.end,
            lag=p.lag,
            newest_ms=newest.get(p.remote),
            oldest_missing_ms=p.oldest_ms if p.lag else None,
        )
        for p in lag.partitions
    )
    return RecoveryPoint(at_ms=lag.at_ms, partitions=partitions)
