"""The parts of a flow beside its records: topics and partition counts, settings, ACLs, groups' offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.spec import FlowLinks
from mirror.errors import MirrorError
from mirror.groups.checkpoints import GroupRemote, Known, read_checkpoints
from mirror.groups.offsets import TargetGroups, look_at_target
from mirror.groups.run import Translated, clusters_of, translate_groups
from mirror.groups.translation import stored_answer
from mirror.groups.values import GroupPartition
from mirror.kafka.cluster import Cluster
from mirror.topics import compare_acls, compare_settings, discover
from mirror.topics.acls import acls_switch
from mirror.topics.settings_sync import settings_switch
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
        "groups": lambda: _groups(flow, links),
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


def _groups(flow: Flow, links: FlowLinks) -> _Found:
    """A group must never stand behind a record that it has not seen: late is a difference, early is not."""
    if not flow[opt.EMIT_CHECKPOINTS_ENABLED]:
        return [], [f"groups were not compared: {opt.EMIT_CHECKPOINTS_ENABLED.name} = false"]
    with clusters_of(links) as (source, target):
        if not target.describe([links.syncs_topic]):
            return [], ["groups were not compared: nothing was copied yet"]
        known = read_checkpoints(flow, links, target)
        translated = translate_groups(flow, links, source, target)
        there = look_at_target(target, known.values())
    found = [deviation for p in translated.partitions for deviation in _group(flow, p, known, translated, there)]
    ahead = sum(_is_ahead(p, there) for p in translated.partitions)
    return found, [
        f"{ahead} partitions of groups stand further on {flow.target} than they would be set"
    ] if ahead else []


def _group(
    flow: Flow,
    partition: GroupPartition,
    known: Mapping[GroupRemote, Known],
    translated: Translated,
    there: TargetGroups,
) -> Iterator[Deviation]:
    last = known.get((partition.group, partition.remote))
    if last is None or (last.topic_id and last.topic_id != partition.remote_topic_id):
        return
    at = last.checkpoint
    now = stored_answer(translated.ground, partition.partition, at.upstream_offset)
    if now.downstream is not None and at.downstream_offset > max(
        now.downstream + now.early_by, _start(partition, there)
    ):
        yield Deviation(
            part="groups",
            name=partition.group,
            what=f"its checkpoint {at.downstream_offset} in {partition.remote} is late: offset {at.upstream_offset} of "
            f"{partition.partition} is at {now.downstream}",
        )
    if flow[opt.SYNC_GROUP_OFFSETS_ENABLED] and _committed(partition, there) is None:
        yield Deviation(
            part="groups", name=partition.group, what=f"has no offset in {partition.remote} on {flow.target}"
        )


def _start(partition: GroupPartition, there: TargetGroups) -> int:
    return there.starts.get(partition.remote, 0)


def _committed(partition: GroupPartition, there: TargetGroups) -> int | None:
    offsets = there.committed.get(partition.group, {})
    found = None if isinstance(offsets, MirrorError) else offsets.get(partition.remote)
    return None if found is None else found.offset


def _is_ahead(partition: GroupPartition, there: TargetGroups) -> bool:
    """A group that works on the target goes its own way there: told, and no difference."""
    at, answer = _committed(partition, there), partition.answer
    return at is not None and answer.downstream is not None and at > answer.downstream + answer.early_by
