"""Looks at everything that a flow needs before it runs; changes nothing on either cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from mirror import naming
from mirror.config import Flow
from mirror.config.flows import Side
from mirror.copy.links import links_of
from mirror.errors import MirrorError
from mirror.kafka.groups import GroupCluster
from mirror.kafka.rights import About
from mirror.operations.planning import further_topics
from mirror.operations.preflight.applications import check_applications
from mirror.operations.preflight.checks import Area, Check, Report, unable
from mirror.operations.preflight.clusters import check_identity, check_versions, reach
from mirror.operations.preflight.facts import Facts, ask_source, ask_target, copied_before, groups_to_ask
from mirror.operations.preflight.judging import judge_rights, to_check
from mirror.operations.preflight.state import check_partitions
from mirror.operations.preflight.table import rights_of
from mirror.operations.preflight.topics import check_creations, check_names, check_replicas, check_settings
from mirror.topics import compare_settings, discover
from mirror.topics.settings_sync import settings_switch

Say = Callable[[str], None]


@contextmanager
def _clusters(flow: Flow) -> Iterator[tuple[GroupCluster, GroupCluster]]:
    links = links_of(flow)
    with (
        GroupCluster(flow.source, links.source_admin) as source,
        GroupCluster(flow.target, links.target_admin) as target,
    ):
        yield source, target


def preflight(flow: Flow, say: Say) -> Report:
    """Every check; one that cannot be made is told as such, and the others are."""
    with _clusters(flow) as (source, target):
        say(f"{flow}: reaching both clusters")
        told: dict[str, About] = {}
        checks: list[Check] = []
        for cluster in (source, target):
            answer, check = reach(cluster)
            checks.append(check)
            if answer is not None:
                told[cluster.alias] = answer
        if len(told) < 2:
            rest = "not looked at: it needs both clusters"
            checks.append(Check(area="clusters", subject="everything else", status="unknown", reason=rest))
            return Report(flow=flow.id, checks=tuple(checks))
        checks.append(check_identity(flow, told[flow.source], told[flow.target]))
        say(f"{flow}: asking for versions")
        links = links_of(flow)
        checks += check_versions(flow, flow.source, links.source_admin, is_target=False)
        checks += check_versions(flow, flow.target, links.target_admin, is_target=True)
        say(f"{flow}: asking for rights")
        checks += _attempt("rights", "rights", lambda: check_rights(flow, source, target, told))
        say(f"{flow}: asking whether the target would take topics and settings")
        checks += check_replicas(flow, told)
        if flow.enabled:
            checks += _check_flow(flow, source, target, say)
    return Report(flow=flow.id, checks=tuple(checks))


def _check_flow(flow: Flow, source: GroupCluster, target: GroupCluster, say: Say) -> Iterator[Check]:
    yield from _attempt("rights", "applications", lambda: check_applications(flow, source, target))
    yield from _attempt("topics", "topics", lambda: _check_topics(flow, source, target))
    if not settings_switch(flow):
        yield from _attempt(
            "settings", "settings", lambda: check_settings(compare_settings(flow, source, target), target)
        )
    say(f"{flow}: looking at partitions")
    yield from _attempt("state", "partitions", lambda: check_partitions(flow, source, target))


def _check_topics(flow: Flow, source: GroupCluster, target: GroupCluster) -> list[Check]:
    plan = discover(flow, source, target)
    names = check_names(flow, plan, naming.policy_of(flow), target.topic_names())
    creations = (*plan.creations, *further_topics(flow, target))
    return [*names, *check_creations(creations, {flow.source: source, flow.target: target})]


def _attempt(area: Area, subject: str, look: Callable[[], list[Check]]) -> list[Check]:
    try:
        return look()
    except MirrorError as error:
        return [unable(area, subject, error)]


def check_rights(flow: Flow, source: GroupCluster, target: GroupCluster, told: Mapping[str, About]) -> list[Check]:
    """Each right of the table, as a check."""
    rights, links = rights_of(flow), links_of(flow)
    groups, topics = groups_to_ask(flow, source), source.topic_names()
    checks: list[Check] = []
    facts: dict[str, Facts] = {}

    def ask(side: Side, step: Callable[[], Facts]) -> None:
        """What one side does not answer must not hide what the other says."""
        try:
            facts[side] = step()
        except MirrorError as error:
            checks.append(unable("rights", f"{flow.source if side == 'source' else flow.target}: rights", error))

    here, there = told[flow.source], told[flow.target]
    known = copied_before(links, target)
    ask("source", lambda: ask_source(flow, source, here, rights, known=known, groups=groups))
    ask("target", lambda: ask_target(flow, target, there, rights, topics={*topics, *known}, groups=groups))
    findings = judge_rights(rights, facts.get("source"), facts.get("target"))
    return [*checks, *(to_check(finding, facts[finding.right.side]) for finding in findings)]
