"""Reads both sides for a failback: what was copied, what came back before, and whether A still has what was copied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mirror import naming
from mirror.config import Flow
from mirror.copy.control import Control, ControlState
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.copy.state import read_states
from mirror.copy.survey import view_source
from mirror.errors import UsageRefused
from mirror.kafka.cluster import Cluster
from mirror.kafka.epochs import read_epochs
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.operations.failback_plan import BothSides
from mirror.operations.failover_ground import remote_names
from mirror.operations.made_there import made_since
from mirror.wire.partition_state import PartitionState

# Offsets before the position that are looked through for the end of what A still has: more was never lost unseen.
LOOK_BACK = 50_000


def survey_sides(flow: Flow, home: Flow, source: Cluster, target: Cluster) -> BothSides:
    """Both sides as they are now; `home` is the opposite flow, by which B's records return."""
    _refuse_two_ways(flow, home)
    links = links_of(flow)
    existing = target.describe([links.syncs_topic, links.control_topic])
    control = Control(links, target).read() if links.control_topic in existing else ControlState()
    states = read_states(links, target).states if links.syncs_topic in existing else {}
    view = view_source(flow, source)
    copied = remote_names(flow, control, states)
    made = made_since(flow, home, control, target.topic_names(), copied.values())
    names = {each.home: each.topic for each in made if each.home} | copied
    names |= {d.topic: d.remote_topic for d in view.decisions.values()}
    source_topics = source.describe(names)
    target_topics = target.describe(names.values())
    here, there = _partitions(source_topics), _partitions(target_topics)
    sides = BothSides(
        flow=flow.id,
        source=flow.source,
        target=flow.target,
        control=control,
        states={p: state for p, state in states.items() if p.topic in names},
        return_states=_return_states(home, source, names),
        names={topic: name for topic, name in names.items() if topic in source_topics or name in target_topics},
        source_topics=source_topics,
        source_starts=source.log_starts(here),
        source_ends=source.high_watermarks(here),
        target_topics=target_topics,
        target_starts=target.log_starts(there),
        target_ends=target.high_watermarks(there),
        made_there=made,
    )
    return replace(sides, cuts=_cuts(links, sides))


def _refuse_two_ways(flow: Flow, home: Flow) -> None:
    """Where names stay and both flows are enabled, the other one brings records home, and has their states."""
    topic = "orders"
    if home.enabled and naming.policy_of(flow).format_remote_topic(flow.source, topic) == topic:
        raise UsageRefused(
            f"{home.id} is enabled and topics keep their names: it copies what is written on {flow.target} by itself",
            next_step=f"write {home.id}.enabled = false into the file, then run this again",
            flow=flow.id,
        )


def return_links(home: Flow, names: Mapping[str, str]) -> FlowLinks:
    """The links of the return: every remote topic goes back to the topic that it came from."""
    return links_of(home, route={remote: topic for topic, remote in names.items()})


def _return_states(home: Flow, source: Cluster, names: Mapping[str, str]) -> dict[TopicPartition, PartitionState]:
    links = return_links(home, names)
    if not source.describe([links.syncs_topic]):
        return {}
    remotes = set(names.values())
    return {p: state for p, state in read_states(links, source).states.items() if p.topic in remotes}


def _partitions(topics: Mapping[str, TopicDescription]) -> list[TopicPartition]:
    return [TopicPartition(t.name, number) for t in topics.values() for number in range(t.partition_count)]


def _cuts(links: FlowLinks, sides: BothSides) -> dict[TopicPartition, int]:
    """Where A's logs are not the copied ones any more: behind an end that was cut off, and from a newer epoch on.

    Two logs that hold a record of one offset and one epoch are equal up to it; what A got after it came back bears a
    newer epoch than anything that was copied.
    """
    asked: dict[TopicPartition, tuple[int, int]] = {}
    cuts: dict[TopicPartition, int] = {}
    for partition, state in sides.states.items():
        topic, end = sides.source_topics.get(partition.topic), sides.source_ends.get(partition)
        if topic is None or end is None or (state.source_topic_id and topic.id and state.source_topic_id != topic.id):
            continue
        if end < state.position:
            cuts[partition] = end
        start = max(sides.source_starts.get(partition, 0), min(end, state.position) - LOOK_BACK)
        if state.leader_epoch is not None and start < min(end, state.position):
            asked[partition] = (start, min(end, state.position) - 1)
    for partition, seen in read_epochs(links.source_consumer, links.source, asked).items():
        epoch, position = sides.states[partition].leader_epoch, sides.states[partition].position
        newer = [offset for offset, found in seen if epoch is not None and found > epoch and offset < position]
        if newer:
            cuts[partition] = min(newer)
    return cuts
