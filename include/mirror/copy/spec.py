"""What a Spark task gets to know: one slot's partitions, and how to reach both clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mirror.copy.engine import OPEN_END
from mirror.kafka.values import TopicPartition
from mirror.records import Transformation
from mirror.wire.gaps import Gap
from mirror.wire.history import History
from mirror.wire.partition_state import PartitionState
from mirror.wire.stretches import Stretches


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowLinks:
    """The two clusters of a flow and the topics that hold its state; the settings carry secrets, so no repr."""

    flow: str
    flow_key: str
    # What the flow's state and its operations are kept under: the same for all parts of the flow.
    state_key: str
    source: str
    target: str
    source_consumer: Mapping[str, Any]
    source_admin: Mapping[str, Any]
    source_producer: Mapping[str, Any]
    target_consumer: Mapping[str, Any]
    target_admin: Mapping[str, Any]
    target_producer: Mapping[str, Any]
    syncs_topic: str
    control_topic: str
    transaction_timeout_ms: int
    # MM2's own offset-syncs topic, published where the file sets its location: "source", "target" or "".
    published_location: str = ""
    published_topic: str = ""
    # Where MM2's Connect worker keeps its positions, on the target.
    mm2_offsets_topic: str = ""
    # The copy of the heartbeats topics alone: it has a claim and transactional ids of its own, and one slot.
    is_of_heartbeats: bool = False
    has_one_slot: bool = False
    # For a copy that takes its topics from elsewhere than the file: what each is called on the target.
    route: Mapping[str, str] | None = None

    def __repr__(self) -> str:
        return f"FlowLinks({self.flow})"

    @property
    def syncs(self) -> TopicPartition:
        return TopicPartition(self.syncs_topic, 0)

    @property
    def control(self) -> TopicPartition:
        return TopicPartition(self.control_topic, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSpec:
    """One partition to copy: `[position, end)`, what is known of it, and what was decided about it."""

    partition: TopicPartition
    remote: TopicPartition
    position: int
    end: int = OPEN_END
    # What the plan saw: with a window the range stays open, but the slot does not leave before this is copied.
    drain_to: int = 0
    source_topic_id: str
    target_topic_id: str
    # The state as of the plan, already mended by the judgement: a gap noted, a history dropped.
    state: PartitionState | None = None
    # For a partition from which nothing was copied yet: did its first position begin the log, where ends the target?
    starts_at_log_start: bool = False
    remote_end: int = 0
    # A stretch that the judgement found lost: remembered with the first commit.
    gap: Gap | None = None
    # What an operation asks for: offsets that the opposite flow wrote are passed over, the places of all copies are
    # kept, and what came back is remembered beside them.
    skips: Stretches = ()
    is_exact: bool = False
    returned: History | None = None
    # Bytes of the largest batch the remote topic takes.
    max_message_bytes: int = 1_000_000

    @property
    def size(self) -> int:
        """Offsets to copy, as the plan saw them."""
        return max((self.drain_to if self.end == OPEN_END else self.end) - self.position, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotSpec:
    """One writer of the flow: one transactional id, one Spark task."""

    links: FlowLinks
    run: str
    slot: int
    transactional_id: str
    partitions: tuple[PartitionSpec, ...]
    # Up to where the driver read the syncs: the task reads only what came behind.
    syncs_read_to: int
    # Where the control topic ended before the run's claim: what came behind tells whether the claim still stands.
    control_read_to: int
    isolation_level: str
    window_s: float
    planned_at_ms: int
    commit_interval_s: float
    commit_bytes: int
    bytes_per_second: float
    segments_cap: int
    gap_fails: bool
    # The operation that this run is part of; none for a flow that simply goes forward.
    operation: str = ""
    # What the flow does to records; None: each is copied as it is.
    transformation: Transformation | None = None


def transactional_id(flow_key: str, slot: int) -> str:
    return f"airmirror-{flow_key}-{slot}"
