"""One look at both clusters for all that translating needs, in an order that keeps answers from being late."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.control import Control
from mirror.copy.spec import FlowLinks
from mirror.copy.state import read_states
from mirror.copy.unmarked import incoming_links
from mirror.groups.discovery import GroupSelector
from mirror.groups.mixed import HubStates, Mixing, mixing_of
from mirror.groups.mm2_sync_log import read_sync_stores
from mirror.groups.mm2_syncs import SyncStore
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.records.routes import routes_of
from mirror.selection import Selector
from mirror.wire.control import FirstPosition
from mirror.wire.partition_state import PartitionState

# Seconds: a running copy commits every two.
SETTLE_S = 5.0
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What is known about the partitions that groups stand in; partitions are the source's unless they say remote."""

    target: str
    remotes: Mapping[TopicPartition, TopicPartition]
    # Topics of the source that came from the target (as `B.orders` on A): their groups go back to the original.
    returning: frozenset[str] = frozenset()
    not_copied: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    # Of the opposite flow, by the original's partition on the target.
    opposite_states: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    first_positions: Mapping[TopicPartition, FirstPosition] = field(default_factory=dict)
    mm2_syncs: Mapping[TopicPartition, SyncStore] = field(default_factory=dict)
    source_topics: Mapping[str, TopicDescription] = field(default_factory=dict)
    source_starts: Mapping[TopicPartition, int] = field(default_factory=dict)
    target_topics: Mapping[str, TopicDescription] = field(default_factory=dict)
    target_starts: Mapping[TopicPartition, int] = field(default_factory=dict)
    target_ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    # Topics with the same name on both sides into which several flows write, each record telling where it comes from.
    mixing: Mapping[str, Mixing] = field(default_factory=dict)
    hub_states: Mapping[str, HubStates] = field(default_factory=dict)
    # Remote ends as of before the states were read: where nothing was copied, the first copy lies there or later.
    earlier_ends: Mapping[TopicPartition, int] = field(default_factory=dict)


def survey_ground(
    flow: Flow, links: FlowLinks, source: Cluster, target: Cluster, partitions: Iterable[TopicPartition]
) -> Ground:
    """Read what the translation of these partitions needs. Groups' offsets are to be read before this:

    a state that is newer than the offset only makes the answer better, an older one would make it early.
    """
    asked = sorted(set(partitions))
    ground = name_remotes(flow, asked)
    remotes = sorted(set(ground.remotes.values()))
    earlier_ends = target.high_watermarks(_existing(target.describe(r.topic for r in remotes), remotes))
    states, first_positions = _own_past(links, target)
    mixing = _mixing(flow, ground)
    is_opposite_asked = ground.returning or any(m.from_target for m in mixing.values())
    opposite = _settled_states(incoming_links(links, links.target), source) if is_opposite_asked else {}
    target_topics = target.describe(r.topic for r in remotes)
    present = _existing(target_topics, remotes)
    source_topics = source.describe(p.topic for p in ground.remotes)
    return replace(
        ground,
        states=states,
        opposite_states=opposite,
        mixing=mixing,
        hub_states={hub: _hub_states(links, hub, source, target) for hub in _hubs(mixing)},
        first_positions=first_positions,
        mm2_syncs=read_sync_stores(flow, links, source, target, taken_over(ground.remotes, states, first_positions)),
        source_topics=source_topics,
        source_starts=source.log_starts(_existing(source_topics, ground.remotes)),
        target_topics=target_topics,
        target_starts=target.log_starts(present),
        target_ends=target.high_watermarks(present),
        earlier_ends=earlier_ends,
    )


def settled_end(cluster: Cluster, log: TopicPartition) -> int:
    """Up to where the states are decided, once what is being committed now had a moment to show.

    A commit returns before its markers are written: read at once, the newest states would be missing. A frozen slot's
    open transaction is not waited for: older states make translations early, not wrong.
    """
    wanted = cluster.high_watermarks([log]).get(log, 0)
    give_up = time.monotonic() + SETTLE_S
    while True:
        end = cluster.stable_ends([log]).get(log, 0)
        if end >= wanted or time.monotonic() > give_up:
            return end
        time.sleep(_PAUSE_S)


def name_remotes(flow: Flow, partitions: Iterable[TopicPartition]) -> Ground:
    """Each partition's counterpart: the remote topic, or the original on the target that it came from."""
    selector = Selector(flow)
    topic_filter = GroupSelector(flow)
    remotes: dict[TopicPartition, TopicPartition] = {}
    returning: set[str] = set()
    not_copied: dict[str, str] = {}
    for partition in partitions:
        decision = selector.decide(partition.topic)
        # One hop back: all of them, as MM2 does it, would name a topic that the target never had.
        original = selector.policy.upstream_topic(partition.topic)
        if decision.selected:
            remotes[partition] = TopicPartition(decision.remote_topic, partition.partition)
        elif (
            original is not None
            and selector.policy.topic_source(partition.topic) == flow.target
            and topic_filter.takes_topic(partition.topic)
        ):
            returning.add(partition.topic)
            remotes[partition] = TopicPartition(original, partition.partition)
        else:
            not_copied[partition.topic] = decision.reason
    return Ground(target=flow.target, remotes=remotes, returning=frozenset(returning), not_copied=not_copied)


def _existing(topics: Mapping[str, TopicDescription], partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
    return [p for p in partitions if p.topic in topics and p.partition < topics[p.topic].partition_count]


def _own_past(
    links: FlowLinks, target: Cluster
) -> tuple[dict[TopicPartition, PartitionState], Mapping[TopicPartition, FirstPosition]]:
    """What the flow copied and where it began: nothing, nowhere, before its first run has made its state topics.

    One of the two alone is no new flow but a broker that does not know the other yet: taken for empty, the states
    would leave groups at the end of what was copied.
    """
    if not target.describe([links.syncs_topic, links.control_topic]):
        return {}, {}
    states = read_states(links, target, until=settled_end(target, links.syncs)).states
    return states, Control(links, target).read().first_positions


def _settled_states(incoming: FlowLinks, cluster: Cluster) -> dict[TopicPartition, PartitionState]:
    """What a flow into either side copied; its state is beside its copies."""
    if not cluster.describe([incoming.syncs_topic]):
        return {}
    return read_states(incoming, cluster, until=settled_end(cluster, incoming.syncs)).states


def _hub_states(links: FlowLinks, hub: str, source: Cluster, target: Cluster) -> HubStates:
    return HubStates(
        to_source=_settled_states(incoming_links(links, hub), source),
        to_target=_settled_states(incoming_links(links, hub, into_target=True), target),
    )


def _mixing(flow: Flow, ground: Ground) -> dict[str, Mixing]:
    if not flow[opt.PROVENANCE_HEADERS]:
        return {}
    routes = routes_of(flow)
    shared = {p.topic for p, remote in ground.remotes.items() if p == remote and p.topic not in ground.returning}
    return {topic: mixing_of(flow, routes, topic) for topic in shared}


def _hubs(mixing: Mapping[str, Mixing]) -> frozenset[str]:
    return frozenset().union(*(found.hubs for found in mixing.values()))


def taken_over(
    partitions: Iterable[TopicPartition],
    states: Mapping[TopicPartition, PartitionState],
    first_positions: Mapping[TopicPartition, FirstPosition],
) -> set[TopicPartition]:
    """The partitions of which MM2 copied a part: only its own syncs can tell where that lies."""
    found = {p for p in partitions if p in first_positions and first_positions[p].chosen_by == "mm2"}
    found |= {p for p in partitions if p not in first_positions and p in states}
    return {p for p in found if p not in states or not states[p].history.complete_from_start}
