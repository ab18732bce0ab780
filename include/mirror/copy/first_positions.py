"""Where the copy of each partition begins: decided once per partition, remembered before the first record."""

from __future__ import annotations

from collections.abc import Iterable

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.starts import StartOffsets, StartTimestamp
from mirror.copy.spec import PartitionSpec
from mirror.copy.survey import Survey
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.wire.control import ChosenBy, FirstPosition


def undecided(survey: Survey) -> list[TopicPartition]:
    """Partitions with neither a state, nor a position of MM2's, nor a first position of their present topic."""
    known = survey.control.first_positions
    return [
        partition
        for partition in survey.source.partitions
        if all(partition in offsets for offsets in _offsets_of(survey))
        and partition not in survey.states.states
        and not (
            partition in known and known[partition].source_topic_id in ("", survey.source.topics[partition.topic].id)
        )
    ]


def _offsets_of(survey: Survey) -> tuple[dict[TopicPartition, int], ...]:
    return survey.source.log_starts, survey.source.stable_ends, survey.source.ends


def decide_first_positions(
    flow: Flow, flow_key: str, survey: Survey, source: Cluster, partitions: Iterable[TopicPartition]
) -> list[FirstPosition]:
    """The flow's first run begins as the file says; what appears later begins at its beginning."""
    wanted = list(partitions)
    by_time = _offsets_by_time(flow, source, wanted) if survey.control.started is None else {}
    decided = []
    for partition in wanted:
        position, chosen_by = _decide(flow, survey, partition, by_time)
        decided.append(
            FirstPosition(
                flow=flow_key,
                topic=partition.topic,
                partition=partition.partition,
                position=position,
                source_topic_id=survey.source.topics[partition.topic].id,
                chosen_by=chosen_by,
            )
        )
    return decided


def followed_mm2(flow_key: str, survey: Survey, ready: Iterable[PartitionSpec]) -> list[FirstPosition]:
    """To be remembered where this run goes on behind MM2: the same position must not be followed a second time."""
    return [
        FirstPosition(
            flow=flow_key,
            topic=spec.partition.topic,
            partition=spec.partition.partition,
            position=spec.position,
            source_topic_id=spec.source_topic_id,
            chosen_by="mm2",
        )
        for spec in ready
        if survey.mm2_positions.get(spec.partition) == spec.position
        and spec.partition in survey.states.states
        and survey.states.states[spec.partition].position < spec.position
    ]


def _offsets_by_time(flow: Flow, source: Cluster, partitions: list[TopicPartition]) -> dict[TopicPartition, int | None]:
    start = flow[opt.START]
    return source.offsets_at(start.timestamp_ms, partitions) if isinstance(start, StartTimestamp) else {}


def _decide(
    flow: Flow, survey: Survey, partition: TopicPartition, by_time: dict[TopicPartition, int | None]
) -> tuple[int, ChosenBy]:
    source = survey.source
    beginning = source.log_starts[partition]
    if partition in survey.control.first_positions:  # of a topic that was deleted, and this one made in its place
        return beginning, "earliest"
    if partition in survey.mm2_positions:
        return survey.mm2_positions[partition], "mm2"
    if survey.control.started is not None:
        return beginning, "earliest"
    start = flow[opt.START]
    if isinstance(start, StartTimestamp):
        offset = by_time.get(partition)
        return (source.ends[partition] if offset is None else offset), "start"
    if isinstance(start, StartOffsets):
        named = start.offset_of(*partition)
        if named is not None:
            return named, "start"
    if flow.auto_offset_reset == "latest":
        return source.stable_ends[partition], "latest"
    return beginning, "earliest"
