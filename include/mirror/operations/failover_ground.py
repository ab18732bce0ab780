"""What a failover knows without the source: positions, the source as last seen, groups' checkpoints, rights."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mirror.config import Flow
from mirror.copy.control import Control, ControlState
from mirror.copy.links import links_of
from mirror.copy.look import source_ends
from mirror.copy.spec import FlowLinks
from mirror.copy.state import read_states
from mirror.copy.survey import view_source
from mirror.errors import MirrorError
from mirror.groups.checkpoints import Known, read_checkpoints
from mirror.heartbeats import read_ages
from mirror.kafka.acls import Right, list_rights
from mirror.kafka.cluster import Cluster
from mirror.kafka.timestamps import read_timestamps
from mirror.kafka.values import TopicPartition
from mirror.operations.losses import Standing, newest_records, standings
from mirror.operations.rights import MissingRight, missing_rights
from mirror.selection import Selector
from mirror.wire.history import Unknown
from mirror.wire.partition_state import PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetGround:
    """The target's side of a flow, as it stands."""

    links: FlowLinks
    control: ControlState
    states: dict[TopicPartition, PartitionState]
    standings: tuple[Standing, ...]


def survey_target(flow: Flow, target: Cluster, *, waits: bool = True, source: Cluster | None = None) -> TargetGround:
    """Read the state topics, and the time of each partition's newest copied record; the source is as it was last seen.

    Without `waits`, what a dead copy's open transaction hides is passed over: a plan must not take a minute that day.
    With a `source` that is still copied from, its ends are asked for now.
    """
    links = links_of(flow)
    existing = target.describe([links.syncs_topic, links.control_topic])
    control = Control(links, target).read() if links.control_topic in existing else ControlState()
    if source is not None and (control.direction is None or control.direction.is_forward):
        control.source_ends |= {seen.topic: seen for seen in source_ends(links, view_source(flow, source))}
    states: dict[TopicPartition, PartitionState] = {}
    if links.syncs_topic in existing:
        until = None if waits else target.stable_ends([links.syncs]).get(links.syncs, 0)
        states = read_states(links, target, until=until).states
    names = remote_names(flow, control, states)
    described = target.describe(names.values())
    partitions = [TopicPartition(t.name, n) for t in described.values() for n in range(t.partition_count)]
    found = standings(control, states, names, target.high_watermarks(partitions))
    asked = {p: at for p, at in newest_records(found, states).items() if p in set(partitions)}
    times = read_timestamps(links.target_consumer, flow.target, asked)
    found = tuple(replace(each, newest_record_ms=times.get(each.remote)) for each in found)
    return TargetGround(links=links, control=control, states=states, standings=found)


def remote_names(flow: Flow, control: ControlState, states: dict[TopicPartition, PartitionState]) -> dict[str, str]:
    """The topics that were copied, by their names on the source, and what they are called on the target."""
    topics = {*control.source_ends, *(partition.topic for partition in states)}
    decisions = (Selector(flow).decide(topic) for topic in topics)
    return {d.topic: d.remote_topic for d in decisions if d.selected and not d.is_heartbeats}


def checkpoints_as_of_now(flow: Flow, ground: TargetGround, target: Cluster) -> tuple[Known, ...]:
    """Every checkpoint, translated anew: a copy may have gone past its group since it was written.

    Both translations are never late, so the further one is the better one.
    """
    known = read_checkpoints(flow, ground.links, target)
    by_remote = {each.remote: ground.states.get(each.partition) for each in ground.standings}
    topics = target.describe({place[1].topic for place in known})
    found = []
    for place, checkpoint in known.items():
        state, topic = by_remote.get(place[1]), topics.get(place[1].topic)
        is_same_log = state is not None and topic is not None and state.target_topic_id in ("", topic.id)
        found.append(_translated(checkpoint, state) if state is not None and is_same_log else checkpoint)
    return tuple(found)


def _translated(known: Known, state: PartitionState) -> Known:
    if known.topic_id and state.target_topic_id and known.topic_id != state.target_topic_id:
        return known
    if state.remote_end:
        # Others write into the partition too: what of theirs the group has not seen, only the source could tell.
        return known
    answer = state.translate(known.checkpoint.upstream_offset)
    if isinstance(answer, Unknown) or answer.downstream <= known.checkpoint.downstream_offset:
        return known
    return replace(known, checkpoint=replace(known.checkpoint, downstream_offset=answer.downstream))


def rights_lacking(flow: Flow, ground: TargetGround, target: Cluster) -> tuple[list[MissingRight], str]:
    """Which applications the target would refuse, and on what ground that is known."""
    seen = ground.control.source_rights
    if seen is None:
        return [], (
            f"What applications may do on {flow.source} was never put on record: it has no authorizer, or ACLs were "
            f"never synced (airmirror topics '{flow.id}'). Whether {flow.target} refuses any of them is not known."
        )
    try:
        downstream = list_rights(target)
    except MirrorError as error:
        return [], f"the ACLs of {flow.target} could not be read: {error.message}"
    if downstream is None:
        return [], f"cluster {flow.target} has no authorizer: it refuses nobody"
    upstream = [Right.from_row(row) for row in seen.rows]
    servers = str(ground.links.target_admin["bootstrap.servers"])
    found = missing_rights(Selector(flow), upstream, downstream, servers=servers)
    return found, "" if found else f"nobody: {flow.target} allows all that {flow.source} allowed when it was last asked"


def last_sign_of_life(flow: Flow) -> int | None:
    """When the newest heartbeat was written that came over from the source."""
    try:
        ages = read_ages(flow)
    except MirrorError:
        return None
    return max((age.timestamp_ms for age in ages if age.hops == (flow.source,)), default=None)
