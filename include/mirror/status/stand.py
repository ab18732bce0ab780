"""From what was read of both clusters to where each partition stands; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mirror.copy.control import ControlState
from mirror.copy.judge import Judgement
from mirror.copy.spec import PartitionSpec
from mirror.copy.survey import Survey
from mirror.errors import LogTruncated, MirrorError, TopicRecreated
from mirror.kafka.values import TopicPartition
from mirror.status.lag import FlowLag, LagState, PartitionLag


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a run would make of the survey, the first positions of what is new to it included."""

    survey: Survey
    judgement: Judgement
    new: frozenset[TopicPartition] = frozenset()


def stand(flow: str, found: Findings, now_ms: int) -> FlowLag:
    """Every selected partition without the ages of records, which are yet to be read."""
    ready = {spec.partition: spec for spec in found.judgement.ready}
    tried = stops_on_record(found.survey.control)
    silent = {p for p in found.survey.source.partitions if not _is_seen(found.survey, p)}
    partitions = tuple(
        _partition(found, partition, ready.get(partition), tried.get(partition))
        for partition in found.survey.source.partitions
        if partition not in silent
    )
    return FlowLag(
        flow=flow,
        at_ms=now_ms,
        partitions=partitions,
        waiting=found.judgement.waiting,
        notices=tuple(f"{p} has no leader on the source: nothing is known of it" for p in sorted(silent)),
        never_copied=found.survey.control.started is None and not found.survey.states.states,
    )


def _is_seen(survey: Survey, partition: TopicPartition) -> bool:
    source = survey.source
    return all(partition in offsets for offsets in (source.log_starts, source.stable_ends, source.ends))


def unseen(lag: FlowLag) -> dict[TopicPartition, int]:
    """Where to read the first record not yet copied, for its age."""
    return {
        p.partition: max(p.position, p.log_start)
        for p in lag.partitions
        if p.lag and max(p.position, p.log_start) < p.end
    }


def with_ages(lag: FlowLag, oldest_ms: Mapping[TopicPartition, int | None]) -> FlowLag:
    partitions = tuple(
        replace(p, oldest_ms=oldest_ms[p.partition]) if p.partition in oldest_ms else p for p in lag.partitions
    )
    return replace(lag, partitions=partitions)


def stops_on_record(control: ControlState) -> dict[TopicPartition, tuple[int, Mapping[str, Any]]]:
    """Partitions that the last run to mention them stopped, with the position it left them at and why.

    A refused record is known to nobody else: it shows only when it is tried.
    """
    newest: dict[TopicPartition, tuple[int, Mapping[str, Any]] | None] = {}
    for result in sorted(control.results.values(), key=lambda r: r.run_number, reverse=True):
        for told in result.document.get("partitions", ()):
            partition = TopicPartition(told["topic"], told["partition"])
            newest.setdefault(partition, (told["to"], told["error"]) if told.get("error") else None)
    return {partition: stop for partition, stop in newest.items() if stop is not None}


def _partition(
    found: Findings,
    partition: TopicPartition,
    spec: PartitionSpec | None,
    tried: tuple[int, Mapping[str, Any]] | None,
) -> PartitionLag:
    survey = found.survey
    source, known = survey.source, survey.states.states.get(partition)
    error = found.judgement.stopped.get(partition)
    position = spec.position if spec else _position(found, partition)
    stopped: Mapping[str, Any] | None = error.to_json() if error else None
    if stopped is None and tried is not None and tried[0] == position < source.ends[partition]:
        stopped = tried[1]
    return PartitionLag(
        partition=partition,
        remote=source.remote(partition),
        state=_state(found, partition, position, is_stopped=stopped is not None),
        position=position,
        log_start=source.log_starts[partition],
        stable_end=source.stable_ends[partition],
        end=source.ends[partition],
        gaps=known.gaps if known else (),
        lost=spec.gap if spec else None,
        committed_ms=survey.states.written_ms.get(partition),
        is_other_log=_is_other_log(error),
        stopped=stopped,
    )


def _position(found: Findings, partition: TopicPartition) -> int:
    """Where a partition stands of which the judgement gives no spec: it is stopped, or waits for its remote topic."""
    survey = found.survey
    if (known := survey.states.states.get(partition)) is not None:
        return known.position
    first = survey.control.first_positions.get(partition)
    return first.position if first else survey.source.log_starts[partition]


def _state(found: Findings, partition: TopicPartition, position: int, *, is_stopped: bool) -> LagState:
    source = found.survey.source
    if is_stopped:
        return "stopped"
    if partition.topic in found.judgement.waiting:
        return "waiting"
    if partition in found.new:
        return "new"
    if source.stable_ends[partition] <= position < source.ends[partition]:
        return "held"
    return "behind" if position < source.ends[partition] else "current"


def _is_other_log(error: MirrorError | None) -> bool:
    return isinstance(error, (TopicRecreated, LogTruncated))
