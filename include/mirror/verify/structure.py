"""The parts of a flow beside its records: topics and partition counts, settings, ACLs, groups' offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from mirror import naming
from mirror.config import Flow
from mirror.copy.spec import FlowLinks
from mirror.errors import MirrorError
from mirror.kafka.cluster import Cluster
from mirror.topics import compare_acls, compare_settings, discover
from mirror.topics.acls import acls_switch
from mirror.topics.settings_sync import settings_switch
from mirror.verify.group_offsets import compare_groups
from mirror.verify.report import Deviation

PARTS = ("topics", "settings", "acls", "groups")

_Found = tuple[list[Deviation], list[str]]


def compare_structure(
    flow: Flow,
    links: FlowLinks,
    source: Cluster,
    target: Cluster,
    parts: Collection[str],
    topics: re.Pattern[str] | None = None,
) -> tuple[tuple[Deviation, ...], tuple[str, ...]]:
    """What is not on the target as it should be, and what was not compared and why; by the flow's own plans."""

    def is_asked(topic: str) -> bool:
        return topics is None or topics.fullmatch(topic) is not None

    comparers: dict[str, Callable[[], _Found]] = {
        "topics": lambda: _topics(flow, source, target, is_asked),
        "settings": lambda: _settings(flow, source, target, is_asked),
        "acls": lambda: _acls(flow, source, target),
        "groups": lambda: compare_groups(flow, links),
    }
    deviations: list[Deviation] = []
    notices: list[str] = []
    for part in PARTS:
        if part not in parts or (part in ("acls", "groups") and topics is not None):
            continue  # rights and groups are not of single topics
        try:
            found, said = comparers[part]()
        except MirrorError as error:
            found, said = [Deviation(part=part, name="all", what=f"could not be compared: {error.message}")], []
        deviations += found
        notices += said
    return tuple(deviations), tuple(notices)


def _topics(flow: Flow, source: Cluster, target: Cluster, is_asked: Callable[[str], bool]) -> _Found:
    plan = discover(flow, source, target)
    missing = [
        Deviation(part="topics", name=c.topic.name, what=f"does not exist on {flow.target}")
        for c in plan.creations
        if c.upstream_topic and is_asked(c.upstream_topic)
    ]
    small = [
        Deviation(
            part="topics",
            name=g.topic,
            what=f"has {g.partition_count_now} partitions, {g.upstream_topic} has {g.partition_count}",
        )
        for g in plan.growths
        if is_asked(g.upstream_topic)
    ]
    refused = [Deviation(part="topics", name=d.topic, what=d.reason) for d in plan.refused if is_asked(d.topic)]
    return [*missing, *small, *refused], []


def _settings(flow: Flow, source: Cluster, target: Cluster, is_asked: Callable[[str], bool]) -> _Found:
    if off := settings_switch(flow):
        return [], [f"settings were not compared: {off}"]
    plan = compare_settings(flow, source, target)
    policy_names = {d.topic for d in plan.differences}
    asked = {name for name in policy_names if is_asked(name) or is_asked(_upstream(flow, name))}
    found = [Deviation(part="settings", name=d.topic, what=str(d)) for d in plan.differences if d.topic in asked]
    return found, []


def _upstream(flow: Flow, remote: str) -> str:
    return naming.policy_of(flow).upstream_topic(remote) or remote


def _acls(flow: Flow, source: Cluster, target: Cluster) -> _Found:
    if off := acls_switch(flow):
        return [], [f"ACLs were not compared: {off}"]
    plan = compare_acls(flow, source, target)
    found = [Deviation(part="acls", name=acl.topic, what=f"lacks {acl}") for acl in plan.grants]
    found += [Deviation(part="acls", name=acl.topic, what=f"has {acl} too much") for acl in plan.revocations]
    return found, list(plan.notices)
