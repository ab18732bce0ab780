"""Decides about each partition, from what was seen: copy it, from where, or why not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.spec import FlowLinks, PartitionSpec
from mirror.copy.survey import Survey
from mirror.copy.trouble import lost, recreated, truncated
from mirror.errors import ClusterBusy, ForeignData, MirrorError, PositionUnknown
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap, GapReason
from mirror.wire.history import EMPTY, History
from mirror.wire.partition_state import PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is to be done about every selected partition."""

    ready: tuple[PartitionSpec, ...]
    stopped: dict[TopicPartition, MirrorError]
    waiting: dict[str, str]  # topic: why it cannot be copied yet
    notices: tuple[str, ...] = ()

    @property
    def due(self) -> tuple[PartitionSpec, ...]:
        """Partitions with something to copy, or something to remember."""
        return tuple(spec for spec in self.ready if spec.position < spec.end or spec.gap)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """Where one partition goes on, and what is remembered of it."""

    position: int
    state: PartitionState | None
    starts_at_log_start: bool = False
    gap: Gap | None = None


def judge(flow: Flow, links: FlowLinks, survey: Survey) -> Judgement:
    """A pure function of the survey: run twice, it decides the same."""
    ready: list[PartitionSpec] = []
    stopped: dict[TopicPartition, MirrorError] = {}
    waiting: dict[str, str] = {}
    for partition in survey.source.partitions:
        obstacle = _obstacle(links, survey, partition)
        if obstacle:
            waiting[partition.topic] = obstacle
        else:
            found = _leaderless(links, survey, partition) or _start_of(flow, links, survey, partition)
            if isinstance(found, MirrorError):
                stopped[partition] = found
            else:
                ready.append(_spec(survey, partition, found))
    return Judgement(ready=tuple(ready), stopped=stopped, waiting=waiting)


def _obstacle(links: FlowLinks, survey: Survey, partition: TopicPartition) -> str:
    remote = survey.source.remote(partition)
    described = survey.target.topics.get(remote.topic)
    if described is None:
        return f"{remote.topic} does not exist on {links.target} yet: airmirror topics '{links.flow}'"
    if partition.partition >= described.partition_count:
        return f"{remote.topic} has too few partitions on {links.target} yet: airmirror topics '{links.flow}'"
    return ""


def _leaderless(links: FlowLinks, survey: Survey, partition: TopicPartition) -> MirrorError | None:
    """A partition of which one side says nothing: the others are copied meanwhile."""
    source, remote = survey.source, survey.source.remote(partition)
    known = all(partition in offsets for offsets in (source.log_starts, source.stable_ends, source.ends))
    if known and remote in survey.target.ends:
        return None
    alias, where = (links.target, remote) if known else (links.source, partition)
    return ClusterBusy(
        f"{where} on cluster {alias} has no leader",
        next_step=f"bring its brokers back, then: airmirror copy '{links.flow}'",
        cluster=alias,
        topic=partition.topic,
        partition=partition.partition,
    )


def _spec(survey: Survey, partition: TopicPartition, start: _Start) -> PartitionSpec:
    source, target = survey.source, survey.target
    remote = source.remote(partition)
    return PartitionSpec(
        partition=partition,
        remote=remote,
        position=start.position,
        end=max(source.stable_ends.get(partition, 0), start.position),
        source_topic_id=source.topics[partition.topic].id,
        target_topic_id=target.topics[remote.topic].id,
        state=start.state,
        starts_at_log_start=start.starts_at_log_start,
        remote_end=target.ends.get(remote, 0),
        gap=start.gap,
        max_message_bytes=target.max_message_bytes.get(remote.topic, 1_000_000),
    )


def _start_of(flow: Flow, links: FlowLinks, survey: Survey, partition: TopicPartition) -> _Start | MirrorError:
    state = survey.states.states.get(partition)
    begin = _from_state(flow, links, survey, partition, state) if state else _from_first(flow, links, survey, partition)
    if isinstance(begin, MirrorError):
        return begin
    begin = _behind_mm2(survey, partition, begin)
    return _inside_log(flow, links, survey, partition, begin)


def _from_state(
    flow: Flow, links: FlowLinks, survey: Survey, partition: TopicPartition, state: PartitionState
) -> _Start | MirrorError:
    remote = survey.source.remote(partition)
    sides = (
        (links.source, partition.topic, state.source_topic_id, survey.source.topics[partition.topic].id),
        (links.target, remote.topic, state.target_topic_id, survey.target.topics[remote.topic].id),
    )
    for alias, topic, before, now in sides:
        if before and now and before != now:
            # Where MM2 went on meanwhile, nothing says whether its position is of the old topic or of the new one.
            if flow[opt.ON_RECREATED] != "restart" or mm2_news(survey, partition) is not None:
                return recreated(links, alias, topic, partition)
            return _Start(
                position=survey.source.log_starts[partition],
                state=forgotten(state, survey.source.log_starts[partition], survey.target.ends.get(remote, 0)),
            )
    return _Start(position=state.position, state=state)


def forgotten(state: PartitionState, position: int, downstream_end: int) -> PartitionState:
    """The state of a partition that starts over: what was known of the old logs does not hold for the new ones."""
    return replace(
        state.standing_at(position, downstream_end, History(complete_from_start=True)),
        left_out_offset=None,
        is_transformed=False,
        remote_end=0,
        returned=EMPTY,
        stretches=(),
    )


def _from_first(flow: Flow, links: FlowLinks, survey: Survey, partition: TopicPartition) -> _Start | MirrorError:
    first = survey.control.first_positions.get(partition)
    if first is None:
        return PositionUnknown(
            f"{partition}: nothing says where to begin",
            next_step=f"airmirror copy '{links.flow}', which decides it",
            topic=partition.topic,
            partition=partition.partition,
        )
    return _Start(
        position=first.position,
        state=None,
        starts_at_log_start=first.chosen_by in ("earliest", "failback")
        and first.position >= survey.source.log_starts[partition],
    )


def _behind_mm2(survey: Survey, partition: TopicPartition, start: _Start) -> _Start:
    """MM2 may have copied on since: what it copied is neither ours to repeat nor to translate."""
    behind = mm2_news(survey, partition)
    if behind is None or behind <= start.position:
        return start
    state = None if start.state is None else replace(start.state, position=behind, history=EMPTY)
    return _Start(position=behind, state=state)


def mm2_news(survey: Survey, partition: TopicPartition) -> int | None:
    """MM2's position, unless it stands where it was last followed, or where we set it: then it copied nothing since.

    Without this, a topic that was made anew, or that a person restarted, would be set behind MM2's old position again,
    and the records before it would be skipped in silence.
    """
    behind = survey.mm2_positions.get(partition)
    first = survey.control.first_positions.get(partition)
    followed = first.position if first is not None and first.chosen_by == "mm2" else None
    return None if behind in (followed, survey.control.given_to_mm2.get(partition)) else behind


def _inside_log(
    flow: Flow, links: FlowLinks, survey: Survey, partition: TopicPartition, start: _Start
) -> _Start | MirrorError:
    """Compare the position with the log: gone before it was copied, or beyond an end that was cut off."""
    log_start, end = survey.source.log_starts[partition], survey.source.ends[partition]
    if start.position > end:
        return truncated(links, partition, start.position, f"it ends at {end}")
    if start.position >= log_start:
        return start
    if flow[opt.ON_GAP] == "fail":
        return lost(links, partition, start.position, log_start)
    gap = Gap(start=start.position, end=log_start, reason=GapReason.RETENTION, at_ms=survey.source.at_ms)
    return replace(start, position=log_start, gap=gap)


def foreign_data(
    links: FlowLinks, survey: Survey, partitions: list[TopicPartition]
) -> dict[TopicPartition, MirrorError]:
    """Partitions that were never copied, by us or by MM2, but whose remote partition holds records already.

    With provenance and the same name on both sides that is as it should be: they are the target's own. There it is
    the source that must not hold copies of unknown origin.
    """
    errors: dict[TopicPartition, MirrorError] = {}
    for partition in partitions:
        remote = survey.source.remote(partition)
        if survey.unmarked is not None and remote == partition:
            if partition in survey.unmarked:
                errors[partition] = _unmarked(links, survey, partition, survey.unmarked[partition])
            continue
        end = survey.target.ends.get(remote, 0)
        if end > 0 and partition not in survey.mm2_positions:
            errors[partition] = ForeignData(
                f"{remote} on cluster {links.target} already holds records up to offset {end}, and neither airmirror "
                "nor MM2 says that they are copies",
                next_step=f"if they may stay: {links.flow}.airmirror.on.foreign.data = append; else use another topic",
                cluster=links.target,
                topic=partition.topic,
                partition=partition.partition,
                end=end,
            )
    return errors


def _unmarked(links: FlowLinks, survey: Survey, partition: TopicPartition, copied_by: str) -> ForeignData:
    end = survey.source.ends[partition]
    return ForeignData(
        f"{partition} on cluster {links.source} holds records that {copied_by} copied without a header that says where "
        f"they come from: copied on to {links.target}, they could come back to where they were",
        next_step=f"airmirror resume '{links.flow}' --topic {partition.topic} --partition {partition.partition} "
        f"--skip-to {end}, to copy what comes from now on; "
        f"or {links.flow}.airmirror.on.foreign.data = append, to copy all of them",
        cluster=links.source,
        topic=partition.topic,
        partition=partition.partition,
        end=end,
    )
