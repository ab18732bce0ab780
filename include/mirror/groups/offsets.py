"""Writes translated offsets into the target's groups: only where nobody uses the group, and never backwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mirror.errors import GroupInUse, MirrorError
from mirror.groups.checkpoints import Known
from mirror.groups.summaries import THERE_ALREADY, GroupOutcome, LeftAlone, Move
from mirror.kafka.groups import Committed, GroupCluster, Offsets
from mirror.kafka.values import TopicDescription, TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetGroups:
    """The groups on the target as they are: used or not, what they have, and the logs that they point into."""

    target: str
    idle: Mapping[str, bool | MirrorError]
    committed: Mapping[str, Offsets | MirrorError]
    topics: Mapping[str, TopicDescription]
    starts: Mapping[TopicPartition, int]
    ends: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """What is to be done about one group."""

    group: str
    moves: tuple[Move, ...] = ()
    left: tuple[LeftAlone, ...] = ()
    error: MirrorError | None = None

    @property
    def writes(self) -> dict[TopicPartition, Committed]:
        return {move.partition: Committed(move.offset, move.metadata) for move in self.moves}


def look_at_target(target: GroupCluster, checkpoints: Iterable[Known]) -> TargetGroups:
    """Ask the target about these groups and partitions; the ends last, so that no offset looks as if beyond them."""
    wanted = list(checkpoints)
    groups = {known.checkpoint.group for known in wanted}
    remotes = {known.place[1] for known in wanted}
    topics = target.describe(remote.topic for remote in remotes)
    present = [p for p in remotes if p.topic in topics and p.partition < topics[p.topic].partition_count]
    idle, committed = target.idle(groups), target.committed(groups)
    return TargetGroups(
        target=target.alias,
        idle=idle,
        committed=committed,
        topics=topics,
        starts=target.log_starts(present),
        ends=target.high_watermarks(present),
    )


def plan_group_offsets(
    checkpoints: Iterable[Known], there: TargetGroups, *, rewind: bool = False
) -> tuple[GroupPlan, ...]:
    """Decide per group and partition: move it, or leave it alone and why; `rewind` also moves back."""
    by_group: dict[str, list[Known]] = defaultdict(list)
    for known in checkpoints:
        by_group[known.checkpoint.group].append(known)
    return tuple(_plan_group(group, found, there, rewind=rewind) for group, found in sorted(by_group.items()))


def _plan_group(group: str, checkpoints: list[Known], there: TargetGroups, *, rewind: bool) -> GroupPlan:
    idle, committed = there.idle[group], there.committed[group]
    for answer in (idle, committed):
        if isinstance(answer, MirrorError):
            return GroupPlan(group=group, error=answer)
    has: Offsets = {} if isinstance(committed, MirrorError) else committed
    if not idle:
        reason = f"it has members on {there.target}, and only they may commit"
        return GroupPlan(group=group, left=tuple(_left(known, has, reason) for known in checkpoints))
    moves: list[Move] = []
    left: list[LeftAlone] = []
    for known in sorted(checkpoints, key=lambda k: k.place):
        decided = _plan_partition(known, has.get(known.place[1]), there, rewind=rewind)
        if isinstance(decided, Move):
            moves.append(decided)
        else:
            left.append(_left(known, has, decided))
    return GroupPlan(group=group, moves=tuple(moves), left=tuple(left))


def _plan_partition(known: Known, now: Committed | None, there: TargetGroups, *, rewind: bool) -> Move | str:
    """The move, or the reason against it."""
    remote, wanted = known.place[1], known.checkpoint.downstream_offset
    described = there.topics.get(remote.topic)
    start, end = there.starts.get(remote), there.ends.get(remote)
    if described is None or start is None or end is None:
        return f"{remote} does not exist on {there.target}"
    if known.topic_id and described.id and known.topic_id != described.id:
        return f"{remote.topic} was made anew since this checkpoint"
    if wanted > end:
        return f"its checkpoint {wanted} lies beyond the end of {remote}, {end}"
    # Below the log's start it would be sent where its reset policy says, perhaps to the end.
    wanted = max(wanted, start)
    # An offset beyond the end is of a log that is gone: nothing is moved back by replacing it.
    if now is not None and now.offset <= end:
        if now.offset == wanted:
            return THERE_ALREADY
        if now.offset > wanted and not rewind:
            return f"it is ahead on {there.target}, at {now.offset}"
    before = None if now is None else now.offset
    return Move(partition=remote, before=before, offset=wanted, metadata=known.checkpoint.metadata)


def _left(known: Known, committed: Offsets, reason: str) -> LeftAlone:
    now = committed.get(known.place[1])
    return LeftAlone(partition=known.place[1], offset=None if now is None else now.offset, reason=reason)


def carry_out(target: GroupCluster, plans: Iterable[GroupPlan]) -> tuple[GroupOutcome, ...]:
    """Write what was planned; what a broker refuses is told for its group, and the others go on."""
    plans = list(plans)
    answers = target.alter({plan.group: plan.writes for plan in plans if plan.moves})
    return tuple(_outcome(plan, answers.get(plan.group, {})) for plan in plans)


def as_planned(plans: Iterable[GroupPlan]) -> tuple[GroupOutcome, ...]:
    """What carrying out would come to if no broker refused anything."""
    return tuple(GroupOutcome(group=plan.group, moves=plan.moves, left=plan.left, error=plan.error) for plan in plans)


@dataclass(slots=True)
class _Sorted:
    moves: list[Move] = field(default_factory=list)
    left: list[LeftAlone] = field(default_factory=list)
    error: MirrorError | None = None


def _outcome(plan: GroupPlan, answer: Mapping[TopicPartition, MirrorError | None] | MirrorError) -> GroupOutcome:
    done = _Sorted(left=list(plan.left), error=plan.error)
    for move in plan.moves:
        error = answer if isinstance(answer, MirrorError) else answer.get(move.partition)
        if error is None:
            done.moves.append(move)
        else:
            # It was idle a moment ago: its consumers came back meanwhile, which is no failure.
            in_use = isinstance(error, GroupInUse)
            reason = "its consumers came back" if in_use else error.message
            done.left.append(LeftAlone(partition=move.partition, offset=move.before, reason=reason))
            done.error = done.error or (None if in_use else error)
    return GroupOutcome(group=plan.group, moves=tuple(done.moves), left=tuple(done.left), error=done.error)
