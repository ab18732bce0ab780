"""From what was seen to what is compared: per partition a range on both sides; pure."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mirror.errors import MirrorError, TopicNotFound, TopicRecreated
from mirror.kafka.values import TopicPartition
from mirror.verify.offset_map import OffsetMap
from mirror.verify.spec import Comparison
from mirror.verify.survey import VerifySurvey, is_compacted, is_stamped_by_brokers
from mirror.wire.partition_state import PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyPlan:
    """What is compared, what cannot be, and what has nothing to compare."""

    comparisons: tuple[Comparison, ...]
    errors: Mapping[TopicPartition, MirrorError] = field(default_factory=dict)
    nothing: Mapping[TopicPartition, str] = field(default_factory=dict)


def plan_comparisons(seen: VerifySurvey, *, newest: int | None = None) -> VerifyPlan:
    """A range per partition that has a state; `newest` offsets of each, or all that both sides still have."""
    comparisons: list[Comparison] = []
    errors: dict[TopicPartition, MirrorError] = {}
    nothing: dict[TopicPartition, str] = {}
    for partition in seen.source.partitions:
        found = _judge(seen, partition, newest)
        if isinstance(found, Comparison):
            comparisons.append(found)
        elif isinstance(found, MirrorError):
            errors[partition] = found
        else:
            nothing[partition] = found
    return VerifyPlan(comparisons=tuple(comparisons), errors=errors, nothing=nothing)


def _judge(seen: VerifySurvey, partition: TopicPartition, newest: int | None) -> Comparison | MirrorError | str:
    remote = seen.source.remote(partition)
    state = seen.states.states.get(partition)
    if state is None or state.is_from_mm2:
        return "nothing was copied by airmirror yet"
    if problem := _other_log(seen, state, partition, remote):
        return problem
    if partition not in seen.source.log_starts or remote not in seen.target_ends or remote not in seen.target_starts:
        return TopicNotFound(
            f"{partition} or its copy {remote} has no leader, or does not exist",
            next_step="airmirror topics FLOW --dry-run shows what the target lacks",
            topic=partition.topic,
            partition=partition.partition,
        )
    return _comparison(seen, partition, remote, state, _asked_from(seen, partition, state, newest))


def _other_log(
    seen: VerifySurvey, state: PartitionState, partition: TopicPartition, remote: TopicPartition
) -> MirrorError | None:
    sides = (
        ("source", partition.topic, state.source_topic_id, seen.source.topics.get(partition.topic)),
        ("target", remote.topic, state.target_topic_id, seen.target_topics.get(remote.topic)),
    )
    for side, topic, before, now in sides:
        if now is not None and before and now.id and before != now.id:
            return TopicRecreated(
                f"{topic} was made anew on the {side} since the last copy of {partition}: nothing can be compared",
                next_step="airmirror copy FLOW says what to do about it",
                topic=topic,
                partition=partition.partition,
            )
    return None


def _asked_from(seen: VerifySurvey, partition: TopicPartition, state: PartitionState, newest: int | None) -> int:
    """The first upstream offset that is asked for."""
    if seen.since is not None:
        since = seen.since.get(partition)
        return state.position if since is None else min(since, state.position)
    return 0 if newest is None else max(state.position - newest, 0)


def _comparison(
    seen: VerifySurvey, partition: TopicPartition, remote: TopicPartition, state: PartitionState, asked_from: int
) -> Comparison:
    offset_map = OffsetMap(state)
    segments = state.history.segments
    log_start, target_start = seen.source.log_starts[partition], seen.target_starts[remote]
    ours_from = segments[0].downstream_start if segments else state.downstream_end
    first = max(log_start, asked_from, _copied_from(seen, partition, state))
    there = offset_map.downstream(first)
    here = (first, first)
    if target_start > there.earliest:
        # The target deleted more than the source did: go by its start.
        here = offset_map.upstream(target_start)
    start = max(first, here[0])
    return Comparison(
        partition=partition,
        remote=remote,
        upstream_start=start,
        upstream_end=state.position,
        upstream_certain=max(here[1], start),
        downstream_start=max(there.earliest, target_start),
        downstream_end=max(seen.target_ends[remote], state.downstream_end),
        downstream_certain=max(there.latest, target_start),
        upstream_log_start=log_start,
        downstream_log_start=target_start,
        state=state,
        upstream_is_compacted=is_compacted(seen.source_configs, partition.topic),
        downstream_is_compacted=is_compacted(seen.target_configs, remote.topic),
        compares_timestamps=not is_stamped_by_brokers(seen.target_configs, remote.topic),
        gone_upstream=max(there.earliest - max(ours_from, target_start), 0) if first == log_start else 0,
        gone_downstream=max(start - first, 0),
        foreign=max(min(ours_from, seen.target_ends[remote]) - target_start, 0),
        not_copied=max(seen.source.stable_ends.get(partition, 0) - state.position, 0),
    )


def _copied_from(seen: VerifySurvey, partition: TopicPartition, state: PartitionState) -> int:
    """The first upstream offset of which the state says what became of it."""
    segments = state.history.segments
    if state.history.complete_from_start:
        return 0
    first = seen.control.first_positions.get(partition)
    is_known = first is not None and first.chosen_by != "mm2" and first.source_topic_id in ("", state.source_topic_id)
    if first is not None and is_known and state.holds_all_copies:
        return first.position
    # Before it MM2 copied, or an earlier history that was dropped.
    return segments[0].upstream_start if segments else state.position


def pack(comparisons: Sequence[Comparison], tasks: int) -> list[tuple[Comparison, ...]]:
    """Largest first, each to the task that has least."""
    count = max(min(tasks, len(comparisons)), 1)
    packed: list[list[Comparison]] = [[] for _ in range(count)]
    loads = [(0, task) for task in range(count)]
    for comparison in sorted(comparisons, key=lambda c: (-c.size, c.partition)):
        load, task = heapq.heappop(loads)
        packed[task].append(comparison)
        heapq.heappush(loads, (load + comparison.size + 1, task))
    return [tuple(share) for share in packed if share]
