"""What a task gets to know: the partitions that it compares, how to reach both clusters, and whom to tell its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mirror.kafka.values import TopicPartition
from mirror.records import Transformation
from mirror.verify.beacon import Address
from mirror.wire.partition_state import PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One partition to compare: `[start, end)` on both sides, and what may be different there."""

    partition: TopicPartition
    remote: TopicPartition
    upstream_start: int
    upstream_end: int
    downstream_start: int
    downstream_end: int
    # Below these, records without a counterpart are outside of the range: the map is not exact where it begins.
    upstream_certain: int = 0
    downstream_certain: int = 0
    # Where the logs begin.
    upstream_log_start: int = 0
    downstream_log_start: int = 0
    state: PartitionState | None = None
    upstream_is_compacted: bool = False
    downstream_is_compacted: bool = False
    # The target's brokers stamp what they get: its timestamps say nothing about the copy.
    compares_timestamps: bool = True
    # Offsets that are not compared, and why that is right: counted, so that nothing is left out in silence.
    gone_upstream: int = 0
    gone_downstream: int = 0
    foreign: int = 0
    not_copied: int = 0

    @property
    def size(self) -> int:
        """Offsets to walk along; the larger of both sides."""
        return max(self.upstream_end - self.upstream_start, self.downstream_end - self.downstream_start, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """One worker's share; the settings carry secrets, so no repr."""

    number: int
    flow: str
    source: str
    target: str
    source_consumer: Mapping[str, Any]
    source_admin: Mapping[str, Any]
    target_consumer: Mapping[str, Any]
    target_admin: Mapping[str, Any]
    isolation_level: str
    comparisons: tuple[Comparison, ...]
    # What the flow does to records on their way: the target is compared with what becomes of them.
    transformation: Transformation | None = None
    told_to: Address | None = None

    def __repr__(self) -> str:
        return f"TaskSpec({self.flow}, {self.number})"
