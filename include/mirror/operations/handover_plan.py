"""What a handover to MM2 writes; pure.

ours        0 . . . . . . . p     p: our position, the first offset not copied
handed over {"offset": p-1}       MM2 goes on at the offset behind the one that it finds
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.judge import Judgement
from mirror.copy.spec import FlowLinks, PartitionSpec
from mirror.copy.survey import Survey
from mirror.errors import MirrorError, PositionUnknown, RecordsLost, TopicNotFound
from mirror.groups.mm2_syncs import SyncStore
from mirror.kafka.values import TopicPartition
from mirror.operations.mm2_points import points_for_mm2
from mirror.wire.connect_offset import DEDICATED_CONNECTOR, ConnectOffset
from mirror.wire.offset_sync import OffsetSync


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverStep:
    """One partition: where MM2 is to go on, where its own record says now, and the syncs it gets."""

    partition: TopicPartition
    position: int
    mm2_position: int | None
    syncs: tuple[OffsetSync, ...]

    @property
    def wanted(self) -> int | None:
        """The position that MM2's record can say: it has none for the very beginning of a partition."""
        return self.position if self.position > 0 else None

    def connect_offset(self, source: str) -> ConnectOffset | None:
        """The record to write; None where MM2's own says the same already."""
        if self.wanted == self.mm2_position:
            return None
        return ConnectOffset(
            connector=DEDICATED_CONNECTOR,
            cluster=source,
            topic=self.partition.topic,
            partition=self.partition.partition,
            offset=None if self.wanted is None else self.wanted - 1,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "position": self.position,
            "mm2_position": self.mm2_position,
            "offset_syncs": len(self.syncs),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverPart:
    """One of the two parts that are copied apart: the flow's topics, or its heartbeats topics."""

    links: FlowLinks
    steps: tuple[HandoverStep, ...]
    refusals: tuple[MirrorError, ...]


def plan_part(
    links: FlowLinks, survey: Survey, judgement: Judgement, stores: Mapping[TopicPartition, SyncStore]
) -> HandoverPart:
    """Decide about each partition of one part; whatever MM2 would get wrong without a word is refused."""
    refusals = [e for e in judgement.stopped.values() if not isinstance(e, PositionUnknown)]
    refusals += [_gone(links, survey, p) for p in survey.source.partitions if _lost_its_remote(survey, p)]
    refusals += [_unrecorded(links, spec) for spec in judgement.ready if spec.gap is not None]
    steps = tuple(_step(survey, spec, stores.get(spec.partition)) for spec in judgement.ready if spec.gap is None)
    return HandoverPart(links=links, steps=steps, refusals=tuple(refusals))


def _step(survey: Survey, spec: PartitionSpec, earlier: SyncStore | None) -> HandoverStep:
    return HandoverStep(
        partition=spec.partition,
        position=spec.position,
        mm2_position=survey.mm2_positions.get(spec.partition),
        syncs=() if spec.state is None else points_for_mm2(spec.state, earlier),
    )


def _lost_its_remote(survey: Survey, partition: TopicPartition) -> bool:
    remote = survey.source.remote(partition)
    described = survey.target.topics.get(remote.topic)
    missing = described is None or remote.partition >= described.partition_count
    return missing and partition in survey.states.states


def _gone(links: FlowLinks, survey: Survey, partition: TopicPartition) -> MirrorError:
    return TopicNotFound(
        f"{survey.source.remote(partition)} does not exist on cluster {links.target}: "
        f"MM2 would make it and go on behind what {partition} had copied",
        next_step=f"airmirror topics '{links.flow}', "
        f"then: airmirror resume '{links.flow}' --topic {partition.topic} --restart",
        cluster=links.target,
        topic=partition.topic,
        partition=partition.partition,
    )


def _unrecorded(links: FlowLinks, spec: PartitionSpec) -> MirrorError:
    gap = spec.gap
    lost = "" if gap is None else f"{gap.start} to {gap.end}"
    return RecordsLost(
        f"{spec.partition}: offsets {lost} are gone from cluster {links.source} and not on record yet",
        next_step=f"airmirror copy '{links.flow}', which records the gap",
        cluster=links.source,
        topic=spec.partition.topic,
        partition=spec.partition.partition,
    )


def notices_for(flow: Flow, parts: tuple[HandoverPart, ...]) -> tuple[str, ...]:
    """What MM2 will do otherwise than airmirror with the same file."""
    told = []
    if flow.mm2_isolation_level != "read_committed":
        told.append(
            "MM2 copies aborted and open transactions too, "
            f"unless the file says {flow.source}.consumer.isolation.level = read_committed"
        )
    if flow[opt.RECORD_FUNCTION]:
        told.append(f"MM2 knows no {opt.RECORD_FUNCTION.name}: it copies every record, and unchanged")
    if flow.auto_offset_reset == "latest" and any(s.wanted is None for part in parts for s in part.steps):
        told.append(
            "auto.offset.reset = latest: MM2 has no way to be told of the beginning of a partition, "
            "and leaves out what arrives in partitions that are empty now before it looks at them"
        )
    return tuple(told)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverPlan:
    """Everything that a handover writes, for both parts of the flow; all of it or nothing."""

    flow: str
    source: str
    parts: tuple[HandoverPart, ...]
    notices: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[HandoverStep, ...]:
        return tuple(step for part in self.parts for step in part.steps)

    @property
    def refusals(self) -> tuple[MirrorError, ...]:
        return tuple(error for part in self.parts for error in part.refusals)

    @property
    def decision(self) -> tuple[tuple[TopicPartition, int], ...]:
        """What a person agrees to."""
        return tuple((step.partition, step.position) for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow,
            "to": "mm2",
            "partitions": [step.to_json() for step in self.steps],
            "notices": list(self.notices),
            "refusals": [error.to_json() for error in self.refusals],
        }
