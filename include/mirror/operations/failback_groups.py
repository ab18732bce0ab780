"""Groups go home: each is set before the first record on the source that it has not seen on the target."""

from __future__ import annotations

from mirror.config import Flow
from mirror.copy.gate import require_forward
from mirror.copy.links import links_of
from mirror.errors import MirrorError
from mirror.groups.checkpoints import Known
from mirror.groups.discovery import GroupSelector
from mirror.groups.offsets import carry_out, look_at_target, plan_group_offsets
from mirror.groups.run import clusters_of
from mirror.groups.summaries import GroupOutcome, LeftAlone
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition
from mirror.operations.failback_plan import BothSides, Log
from mirror.operations.failback_points import Points
from mirror.wire.checkpoint import Checkpoint
from mirror.wire.history import Unknown, Upstream


def move_groups_home(
    flow: Flow, sides: BothSides, points: Points, operation: str
) -> tuple[tuple[GroupOutcome, ...], list[str]]:
    """Write the groups' offsets on the source; gives what was done, and notes about those still in use.

    Where the source's log is the copied one, a group's own offset there stands if it is further: it has seen what lies
    before. Where it is another log, the old offset means nothing.
    """
    links = links_of(flow)
    with clusters_of(links) as (source, target):
        offsets, left = _committed(flow, target, sides)
        same, other = [], []
        for group, partition, committed in offsets:
            found = _translated(sides, points, group, partition, committed)
            if isinstance(found, GroupOutcome):
                left.append(found)
            elif partition in points and points[partition].log is not Log.SAME:
                other.append(found)
            else:
                same.append(found)
        require_forward(links, target, operation)
        outcomes = [
            *carry_out(source, plan_group_offsets(same, look_at_target(source, same))),
            *carry_out(source, plan_group_offsets(other, look_at_target(source, other), rewind=True)),
        ]
        busy = [g for g, idle in target.idle({group for group, _, _ in offsets}).items() if idle is False]
    notes = [f"group {group} still has members on {flow.target}: it was moved from where it is now" for group in busy]
    return (*outcomes, *left), notes


def _committed(
    flow: Flow, target: GroupCluster, sides: BothSides
) -> tuple[list[tuple[str, TopicPartition, Committed]], list[GroupOutcome]]:
    """What the flow's groups committed on the target in remote topics, by the source's partitions."""
    selector = GroupSelector(flow)
    names = {remote: topic for topic, remote in sides.names.items()}
    wanted = [group for group in target.groups().consumer if selector.judge_name(group)[0]]
    offsets: list[tuple[str, TopicPartition, Committed]] = []
    failed: list[GroupOutcome] = []
    for group, found in sorted(target.committed(wanted).items()):
        if isinstance(found, MirrorError):
            failed.append(GroupOutcome(group=group, error=found))
            continue
        for remote, committed in sorted(found.items()):
            if remote.topic in names:
                offsets.append((group, TopicPartition(names[remote.topic], remote.partition), committed))
    return offsets, failed


def _translated(
    sides: BothSides, points: Points, group: str, partition: TopicPartition, committed: Committed
) -> Known | GroupOutcome:
    state, point = sides.states.get(partition), points.get(partition)
    found: Upstream | Unknown = Unknown("nothing was copied from this partition")
    if state is not None:
        found = state.translate_back(committed.offset)
    elif point is not None:
        # Neither side has a record in it, or it would have a state by now; without an offset, the next would be missed
        # by a group that begins at the end.
        found = Upstream(point.survivors_end, 0)
    topic = sides.source_topics.get(partition.topic)
    if isinstance(found, Unknown) or topic is None:
        reason = found.reason if isinstance(found, Unknown) else f"{partition.topic} is not on {sides.source}"
        left = LeftAlone(partition=partition, offset=committed.offset, reason=reason)
        return GroupOutcome(group=group, left=(left,))
    checkpoint = Checkpoint(
        group=group,
        topic=partition.topic,
        partition=partition.partition,
        upstream_offset=committed.offset,
        downstream_offset=found.offset,
        metadata=committed.metadata,
    )
    return Known(checkpoint=checkpoint, topic_id=topic.id)
