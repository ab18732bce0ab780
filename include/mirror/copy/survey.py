"""One look at both clusters: what is to be copied, from where it can be read, and where the target stands."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from mirror.config import Flow
from mirror.copy.control import Control, ControlState
from mirror.copy.spec import FlowLinks
from mirror.copy.state import States, read_mm2_positions, read_states
from mirror.copy.unmarked import unmarked_copies
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.selection import Decision, Selector
from mirror.topics.settings import max_message_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """The selected topics of the source, and the offsets of their partitions."""

    topics: dict[str, TopicDescription]
    decisions: dict[str, Decision]
    log_starts: dict[TopicPartition, int]
    stable_ends: dict[TopicPartition, int]
    ends: dict[TopicPartition, int]
    at_ms: int

    @property
    def partitions(self) -> list[TopicPartition]:
        return sorted(TopicPartition(t.name, n) for t in self.topics.values() for n in range(t.partition_count))

    def remote(self, partition: TopicPartition) -> TopicPartition:
        return TopicPartition(self.decisions[partition.topic].remote_topic, partition.partition)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetView:
    """The remote topics that exist, where their partitions end, and what they take."""

    topics: dict[str, TopicDescription]
    ends: dict[TopicPartition, int]
    max_message_bytes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Everything a judgement is made from."""

    source: SourceView
    target: TargetView
    states: States
    control: ControlState
    mm2_positions: dict[TopicPartition, int]
    # Where records say which clusters they have been on: partitions not begun yet that hold some which do not, and who
    # copied those. None where the file does not ask for it.
    unmarked: dict[TopicPartition, str] | None = None


def survey(
    flow: Flow, links: FlowLinks, source: Cluster, target: Cluster, topics: re.Pattern[str] | None = None
) -> Survey:
    """Read state first, the source last: what was committed meanwhile can then only make the lag smaller."""
    states = read_states(links, target)
    control = Control(links, target).read()
    mm2_positions = {} if links.route is not None else read_mm2_positions(links, target)
    source_view = view_source(flow, source, topics, heartbeats=links.is_of_heartbeats, route=links.route)
    return Survey(
        source=source_view,
        target=view_target(source_view, target),
        states=states,
        control=control,
        mm2_positions=mm2_positions,
        unmarked=unmarked_copies(flow, links, source, not_begun(source_view, states, control), source_view.topics),
    )


def not_begun(source: SourceView, states: States, control: ControlState) -> list[TopicPartition]:
    return [p for p in source.partitions if p not in states.states and p not in control.first_positions]


def view_source(
    flow: Flow,
    source: Cluster,
    topics: re.Pattern[str] | None = None,
    *,
    heartbeats: bool = False,
    route: Mapping[str, str] | None = None,
) -> SourceView:
    """The topics of the flow's copy, or with `heartbeats` those of the heartbeats' copy; never both.

    A `route` says which topics, and their names on the target, whatever the file selects."""
    if route is not None:
        decisions = {name: _routed(name, remote) for name, remote in route.items()}
    else:
        selected = [d for d in Selector(flow).decide_all(source.topic_names()) if d.selected]
        decisions = {d.topic: d for d in selected if d.is_heartbeats == heartbeats}
    if topics is not None:
        decisions = {name: d for name, d in decisions.items() if topics.fullmatch(name)}
    described = source.describe(decisions)
    partitions = [TopicPartition(t.name, n) for t in described.values() for n in range(t.partition_count)]
    at_ms = int(time.time() * 1000)
    return SourceView(
        topics=described,
        decisions={name: decisions[name] for name in described},
        log_starts=source.log_starts(partitions),
        stable_ends=source.stable_ends(partitions),
        ends=source.high_watermarks(partitions),
        at_ms=at_ms,
    )


def _routed(topic: str, remote_topic: str) -> Decision:
    return Decision(topic=topic, remote_topic=remote_topic, selected=True, reason="returns to where it came from")


def view_target(source: SourceView, target: Cluster) -> TargetView:
    described = target.describe(d.remote_topic for d in source.decisions.values())
    partitions = [TopicPartition(t.name, n) for t in described.values() for n in range(t.partition_count)]
    limits = {name: max_message_bytes(entries) for name, entries in target.configs(described).items()}
    return TargetView(topics=described, ends=target.high_watermarks(partitions), max_message_bytes=limits)
