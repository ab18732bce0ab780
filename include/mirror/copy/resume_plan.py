"""What a person's decision about a topic makes of its partitions' states; pure.

Baseline is the first offset that is not on the target in the log as it is now:

    the same logs            the position
    one of the topics anew   the source's log start: what was copied is of, or in, a deleted topic
    a truncated log          the last record copied, which was overwritten or cut off

Going on behind the baseline records a gap from it; before it, records stand on the target twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from mirror.copy.judge import forgotten, mm2_news
from mirror.copy.spec import FlowLinks
from mirror.copy.survey import Survey
from mirror.errors import ClusterBusy, TopicNotFound, UsageRefused
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap, GapReason
from mirror.wire.history import EMPTY
from mirror.wire.partition_state import PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRequest:
    """A topic, perhaps one partition of it, and where it is to go on: at an offset, or (None) from its beginning."""

    topic: str
    partition: int | None = None
    skip_to: int | None = None

    @property
    def is_restart(self) -> bool:
        return self.skip_to is None


class Logs(Enum):
    """How today's logs relate to those that were copied from and to."""

    SAME = "the same"
    NEW = "never copied"
    SOURCE_RECREATED = "the source topic was made anew"
    TARGET_RECREATED = "the remote topic was made anew"
    TRUNCATED = "the source's log was truncated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeStep:
    """One partition's position before and after, and the state that says so."""

    partition: TopicPartition
    remote: TopicPartition
    logs: Logs
    position: int
    then: int
    gap: Gap | None
    repeated: int  # offsets whose records will stand on the target a second time
    state: PartitionState

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "logs": self.logs.value,
            "position": self.position,
            "position_then": self.then,
            "skipped": {"from": self.gap.start, "to": self.gap.end} if self.gap else None,
            "copied_twice": self.repeated,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePlan:
    """Everything that one resume changes; all of it or nothing."""

    flow: str
    run: str
    steps: tuple[ResumeStep, ...]
    # Where MM2 stood: from now on its position is old news for these partitions.
    mm2_positions: Mapping[TopicPartition, int]

    @property
    def decision(self) -> tuple[tuple[TopicPartition, int, int], ...]:
        """What a person agrees to; two plans that agree in it are the same to them."""
        return tuple((step.partition, step.position, step.then) for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        return {"flow": self.flow, "run": self.run, "partitions": [step.to_json() for step in self.steps]}


def plan_resume(
    links: FlowLinks,
    survey: Survey,
    request: ResumeRequest,
    *,
    run: str,
    truncated: frozenset[TopicPartition] = frozenset(),
) -> ResumePlan:
    """Decide on the new states; refuses what makes no sense, with what would."""
    partitions = _chosen(links, survey, request)
    steps = tuple(_step(links, survey, partition, request, run, partition in truncated) for partition in partitions)
    mm2 = {p: survey.mm2_positions[p] for p in partitions if p in survey.mm2_positions}
    return ResumePlan(flow=links.flow, run=run, steps=steps, mm2_positions=mm2)


def _chosen(links: FlowLinks, survey: Survey, request: ResumeRequest) -> list[TopicPartition]:
    described = survey.source.topics.get(request.topic)
    if described is None:
        raise UsageRefused(
            f"{links.flow} copies no topic {request.topic}",
            next_step=f"airmirror topics '{links.flow}' --dry-run, which says why",
            topic=request.topic,
        )
    count = described.partition_count
    if request.partition is not None:
        if not 0 <= request.partition < count:
            raise UsageRefused(f"{request.topic} has partitions 0 to {count - 1}, not {request.partition}")
        return [TopicPartition(request.topic, request.partition)]
    if count > 1 and not request.is_restart:
        raise UsageRefused(
            f"{request.topic} has {count} partitions, and an offset means something in one of them",
            next_step=f"airmirror resume '{links.flow}' --topic {request.topic} --partition NUMBER "
            f"--skip-to {request.skip_to}",
            topic=request.topic,
        )
    return [TopicPartition(request.topic, number) for number in range(count)]


def _step(
    links: FlowLinks, survey: Survey, partition: TopicPartition, request: ResumeRequest, run: str, truncated: bool
) -> ResumeStep:
    remote = survey.source.remote(partition)
    described = survey.target.topics.get(remote.topic)
    if described is None or partition.partition >= described.partition_count:
        raise TopicNotFound(
            f"{remote} does not exist on cluster {links.target}",
            next_step=f"airmirror topics '{links.flow}', then this again",
            cluster=links.target,
            topic=remote.topic,
        )
    if partition not in survey.source.log_starts or partition not in survey.source.ends:
        raise ClusterBusy(
            f"{partition} on cluster {links.source} has no leader",
            next_step="bring its brokers back, then run this again",
            cluster=links.source,
            topic=partition.topic,
        )
    before = _before(survey, partition, described.id, run)
    logs = _logs(survey, before, partition, described.id, truncated)
    start, end = survey.source.log_starts[partition], survey.source.ends[partition]
    baseline = {
        Logs.SOURCE_RECREATED: start,
        Logs.TARGET_RECREATED: start,
        Logs.TRUNCATED: min(before.position, before.upstream_offset),
    }.get(logs, before.position)
    then = start if request.skip_to is None else _checked(links, partition, request.skip_to, logs, before, (start, end))
    reason = GapReason.RETENTION if request.is_restart else GapReason.SKIPPED
    gap = Gap(start=baseline, end=then, reason=reason, at_ms=survey.source.at_ms) if then > baseline else None
    state = _state_at(survey, before, logs, then, run, is_restart=request.is_restart)
    return ResumeStep(
        partition=partition,
        remote=remote,
        logs=logs,
        position=before.position,
        then=then,
        gap=gap,
        repeated=max(baseline - then, 0) if logs in (Logs.SAME, Logs.TRUNCATED) else 0,
        state=state if gap is None else state.with_gap(gap),
    )


def _before(survey: Survey, partition: TopicPartition, target_id: str, run: str) -> PartitionState:
    """What is known of the partition, MM2's part included; without anything, that it would begin at its log start."""
    known = survey.states.states.get(partition)
    first = survey.control.first_positions.get(partition)
    if known is not None:
        news = mm2_news(survey, partition)
        return known if news is None or news <= known.position else replace(known, position=news, history=EMPTY)
    mm2 = survey.mm2_positions.get(partition, 0)
    position = max(first.position if first else survey.source.log_starts[partition], mm2)
    return PartitionState(
        topic=partition.topic,
        partition=partition.partition,
        upstream_offset=position,
        downstream_offset=survey.target.ends.get(survey.source.remote(partition), 0),
        position=position,
        has_record=False,
        source_topic_id=survey.source.topics[partition.topic].id,
        target_topic_id=target_id,
        run=run,
    )


def _logs(survey: Survey, before: PartitionState, partition: TopicPartition, target_id: str, truncated: bool) -> Logs:
    if partition not in survey.states.states:
        return Logs.SAME if partition in survey.mm2_positions else Logs.NEW
    now = survey.source.topics[partition.topic].id
    if before.source_topic_id and now and before.source_topic_id != now:
        return Logs.SOURCE_RECREATED
    if before.target_topic_id and target_id and before.target_topic_id != target_id:
        return Logs.TARGET_RECREATED
    return Logs.TRUNCATED if truncated or before.position > survey.source.ends[partition] else Logs.SAME


def _checked(
    links: FlowLinks,
    partition: TopicPartition,
    offset: int,
    logs: Logs,
    before: PartitionState,
    bounds: tuple[int, int],
) -> int:
    start, end = bounds
    command = f"airmirror resume '{links.flow}' --topic {partition.topic} --partition {partition.partition}"
    about = {"topic": partition.topic, "partition": partition.partition, "offset": offset}
    if offset > end:
        raise UsageRefused(
            f"{partition} on cluster {links.source} ends at {end}: {offset} is beyond it",
            next_step=f"{command} --skip-to {end}, to leave out all that is there now",
            **about,
        )
    if offset < start:
        raise UsageRefused(
            f"{partition} on cluster {links.source} begins at {start}: {offset} is gone",
            next_step=f"{command} --skip-to {start}",
            **about,
        )
    if offset < before.position and logs is Logs.SAME:
        raise UsageRefused(
            f"{partition} is copied up to {before.position}: from {offset} on, records would be copied twice",
            next_step=f"{command} --restart, if they may stand twice on cluster {links.target}",
            **about,
        )
    return offset


def _state_at(
    survey: Survey, before: PartitionState, logs: Logs, position: int, run: str, *, is_restart: bool
) -> PartitionState:
    """The partition's new state: of the logs as they are now; what was known of others is forgotten."""
    partition = TopicPartition(before.topic, before.partition)
    remote = survey.source.remote(partition)
    state = replace(
        before,
        source_topic_id=survey.source.topics[partition.topic].id,
        target_topic_id=survey.target.topics[remote.topic].id,
        run=run,
    )
    if logs is Logs.SAME and not is_restart:
        moved = replace(state, position=position)
        return moved if moved.has_record else replace(moved, upstream_offset=position)
    end = survey.target.ends.get(remote, 0)
    if logs in (Logs.SAME, Logs.TRUNCATED) and is_restart:
        state = started_over(state, position, end)
    else:
        state = forgotten(state, position, end)
    if not is_restart:
        # Not from the log's start: offsets before this one have no translation.
        state = replace(state, history=EMPTY)
    return replace(state, gaps=_still_true(state.gaps, logs, position))


def started_over(state: PartitionState, log_start: int, downstream_end: int) -> PartitionState:
    """The state of a partition that is copied once more, from its log's start, into the same remote partition.

    Records that were copied and expire at the source before they are copied again lie only among the older copies: a
    group that stands before the new ones and was led to the first of them would skip those. So, once anything was
    copied, what lies before the new copies has no translation.
    """
    fresh = forgotten(state, log_start, downstream_end)
    return replace(fresh, history=EMPTY) if state.record_count else fresh


def _still_true(gaps: tuple[Gap, ...], logs: Logs, position: int) -> tuple[Gap, ...]:
    """Gaps of a deleted topic are not of this one; those from the new position on are copied now."""
    if logs in (Logs.SOURCE_RECREATED, Logs.TARGET_RECREATED):
        return ()
    return tuple(replace(gap, end=min(gap.end, position)) for gap in gaps if gap.start < position)
