"""Asks both clusters what the table of rights is judged by; changes nothing on either."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.flows import Side
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.copy.state import read_states
from mirror.errors import MirrorError
from mirror.groups.checkpoints import topic_of
from mirror.groups.discovery import GroupSelector
from mirror.kafka.cluster import Cluster
from mirror.kafka.groups import GroupCluster
from mirror.kafka.rights import (
    EVERY,
    About,
    Binding,
    Resource,
    Standing,
    all_bindings,
    group_standings,
    topic_standings,
    try_transactional_id,
)
from mirror.kafka.values import NewTopic
from mirror.operations.preflight.rights import Right
from mirror.selection import Selector

# The name of what is asked about or tried where there is nothing real to ask about.
PROBE = "airmirror-preflight"
# Groups asked about: rights on groups rarely differ by more than a prefix, and a thousand would take long.
GROUPS_ASKED = 50
# Topics that a right to create is tried with.
TOPICS_TRIED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Something that was tried and does no harm: on which names, and which of them were not let pass and why."""

    names: tuple[str, ...]
    refused: Mapping[str, MirrorError] = field(default_factory=dict)
    # No name that is really wanted: what it tells is about names to come.
    is_made_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one side said about our rights."""

    side: Side
    alias: str
    servers: str
    principal: str
    cluster: frozenset[str]
    topics: Mapping[str, Standing] = field(default_factory=dict)
    groups: Mapping[str, Standing] = field(default_factory=dict)
    tried: Mapping[Right, Trial] = field(default_factory=dict)
    # None where ACLs may not be listed.
    bindings: tuple[Binding, ...] | None = None
    # The names that a right on a prefix, or on all names, has to hold for: the flow's topics and groups.
    pattern_names: frozenset[str] = frozenset()
    # Those among them that are only made, read and written: checkpoints are not the source's topic's copy.
    checkpoints: frozenset[str] = frozenset()
    # Whether this side has topics that came from the other one, and whether MM2 kept its positions here.
    has_returning: bool = False
    has_mm2: bool = False

    @property
    def tells_rights(self) -> bool:
        """Whether the brokers tell rights at all; of a topic that is there they would tell at least one."""
        return not any(standing.is_there and not standing.operations for standing in self.topics.values())

    @property
    def believes_bindings(self) -> bool:
        """Whether ACLs tell anything of us: the brokers may know our principal by another name."""
        return bool(self.bindings) and any(b.principal == self.principal for b in self.bindings or ())


def principal_of(settings: Mapping[str, object]) -> str:
    """Our name for the brokers as far as the file tells it; certificates and tokens have names that brokers give."""
    name = settings.get("sasl.username")
    return f"User:{name}" if name else ""


def ask_source(
    flow: Flow, source: Cluster, told: About, rights: Iterable[Right], *, known: Iterable[str], groups: Iterable[str]
) -> Facts:
    """The source's answers for its rights of the table; `known` are topics that we once could see."""
    rights = [right for right in rights if right.side == "source"]
    links, selector = links_of(flow), Selector(flow)
    bindings = _bindings(source, told)
    visible = source.topic_names()
    selected = {d.topic for d in selector.decide_all(visible) if d.selected}
    unseen = (_named(rights) | set(known) | _in_acls(bindings)) - set(visible)
    selected |= {name for name in unseen if selector.decide(name).selected}
    standings = topic_standings(source, selected | _named(rights))
    return Facts(
        side="source",
        alias=flow.source,
        servers=str(links.source_admin.get("bootstrap.servers", "")),
        principal=principal_of(links.source_admin),
        cluster=told.operations,
        topics=standings,
        groups=_group_standings(source, rights, groups),
        tried=_try_creations(source, rights, standings),
        bindings=bindings,
        pattern_names=frozenset({*selected, *groups}),
        has_returning=any(selector.policy.topic_source(name) == flow.target for name in visible),
    )


def ask_target(
    flow: Flow, target: Cluster, told: About, rights: Iterable[Right], *, topics: Iterable[str], groups: Iterable[str]
) -> Facts:
    """The target's answers for its rights of the table; `topics` are the source's."""
    links, selector = links_of(flow), Selector(flow)
    rights = [right for right in rights if right.side == "target"]
    remotes = {d.remote_topic for d in selector.decide_all(topics) if d.selected}
    checkpoints = {topic_of(flow).topic} if flow[opt.EMIT_CHECKPOINTS_ENABLED] else set()
    standings = topic_standings(target, remotes | checkpoints | _named(rights))
    tried = _try_creations(target, rights, standings)
    for right in rights:
        if right.resource.kind == "transactional-id":
            tried[right] = _try_id(links, right)
    return Facts(
        side="target",
        alias=flow.target,
        servers=str(links.target_admin.get("bootstrap.servers", "")),
        principal=principal_of(links.target_admin),
        cluster=told.operations,
        topics=standings,
        groups=_group_standings(target, rights, groups),
        tried=tried,
        bindings=_bindings(target, told),
        pattern_names=frozenset({*remotes, *checkpoints, *groups}),
        checkpoints=frozenset(checkpoints),
        has_mm2=standings.get(links.mm2_offsets_topic, Standing(is_there=False)).is_there,
    )


def _group_standings(cluster: Cluster, rights: Iterable[Right], groups: Iterable[str]) -> dict[str, Standing]:
    return group_standings(cluster, groups) if any(r.resource.kind == "group" for r in rights) else {}


def _bindings(cluster: Cluster, told: About) -> tuple[Binding, ...] | None:
    return all_bindings(cluster) if "DESCRIBE" in told.operations else None


def _named(rights: Iterable[Right]) -> set[str]:
    """The topics that rights name one by one."""
    return {
        right.resource.name
        for right in rights
        if right.resource.kind == "topic" and not right.resource.prefixed and right.resource.name != EVERY
    }


def _in_acls(bindings: Iterable[Binding] | None) -> set[str]:
    """A topic that we may not describe is in no list of topics, but perhaps in somebody's ACL."""
    return {
        binding.resource.name
        for binding in bindings or ()
        if binding.resource.kind == "topic" and not binding.resource.prefixed and binding.resource.name != EVERY
    }


def copied_before(links: FlowLinks, target: Cluster) -> set[str]:
    """Topics that earlier runs copied: one that is no longer visible may have lost its right."""
    try:
        if not target.describe([links.syncs_topic]):
            return set()
        until = target.stable_ends([links.syncs]).get(links.syncs, 0)
        return {partition.topic for partition in read_states(links, target, until=until).states}
    except MirrorError:
        return set()  # what is wrong with the target is told where the target is looked at


def groups_to_ask(flow: Flow, source: GroupCluster) -> list[str]:
    """Groups of the source that the flow takes over; a made-up one where there is none to ask about."""
    selector = GroupSelector(flow)
    try:
        names = [group for group in source.groups().consumer if selector.judge_name(group)[0]]
    except MirrorError:
        names = []
    return names[:GROUPS_ASKED] or [PROBE]


def _try_creations(cluster: Cluster, rights: Iterable[Right], standings: Mapping[str, Standing]) -> dict[Right, Trial]:
    """Ask the controller to check, and not to make, the topics that are missing where each right to create is."""
    creating = [right for right in rights if right.operation == "CREATE" and right.resource.kind == "topic"]
    absent = [name for name, standing in standings.items() if not standing.is_there]
    wanted = {right: tuple(filter(right.resource.matches, absent))[:TOPICS_TRIED] for right in creating}
    tries = {right: names or (_probe_name(right.resource),) for right, names in wanted.items()}
    every = sorted({name for names in tries.values() for name in names})
    topics = [NewTopic(name=name, partition_count=1, replication_factor=1) for name in every]
    refused = {name: error for name, error in cluster.create_topics(topics, validate_only=True).items() if error}
    return {
        right: Trial(
            names=names,
            refused={name: refused[name] for name in names if name in refused},
            is_made_up=not wanted[right],
        )
        for right, names in tries.items()
    }


def _probe_name(resource: Resource) -> str:
    return f"{resource.name}{PROBE}" if resource.prefixed else PROBE if resource.name == EVERY else resource.name


def _try_id(links: FlowLinks, right: Right) -> Trial:
    name = f"{right.resource.name}-{PROBE}"
    error = try_transactional_id(links.target, links.target_producer, name, links.transaction_timeout_ms)
    return Trial(names=(name,), refused={name: error} if error else {})
