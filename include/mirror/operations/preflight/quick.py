"""The quick part of preflight, before topics are looked for: what would fail all of it is told at once and in words."""

from __future__ import annotations

from dataclasses import replace

from mirror.config import Flow
from mirror.errors import PreflightFailed
from mirror.kafka.cluster import Cluster
from mirror.kafka.rights import about
from mirror.operations.preflight.checks import Check, failures_in_words
from mirror.operations.preflight.clusters import check_identity
from mirror.operations.preflight.facts import Facts, ask_source, ask_target
from mirror.operations.preflight.judging import Finding, judge_rights, to_check
from mirror.operations.preflight.rights import Right
from mirror.operations.preflight.table import rights_of

_TASKS = frozenset({"discover", "create_topics"})


def require_ready(flow: Flow, source: Cluster, target: Cluster) -> tuple[Check, ...]:
    """Raise if topics cannot be discovered or made at all; gives what a person should know all the same.

    What stops some topics only must not stop the others here: each has its own failure later.
    """
    told = {cluster.alias: about(cluster) for cluster in (source, target)}
    identity = check_identity(flow, told[flow.source], told[flow.target])
    rights = [_as_used(right) for right in rights_of(flow) if _TASKS & set(right.tasks)]
    here = ask_source(flow, source, told[flow.source], rights, known=(), groups=())
    there = ask_target(flow, target, told[flow.target], rights, topics=source.topic_names(), groups=())
    facts = {"source": here, "target": there}
    findings = judge_rights(rights, here, there)
    failed = [identity] if identity.status == "failed" else []
    failed += [to_check(f, facts[f.right.side]) for f in findings if _stops_all(f, facts[f.right.side])]
    if failed:
        raise PreflightFailed(
            f"flow {flow.id} cannot run:\n  {failures_in_words(failed)}",
            next_step=f"airmirror preflight '{flow.id}', which checks the rest too",
            flow=flow.id,
            checks=[check.to_json() for check in failed],
        )
    return tuple(to_check(f, facts[f.right.side]) for f in findings if f.status != "ok")


def _as_used(right: Right) -> Right:
    """Settings are only read here; that they may be altered is another task's affair."""
    return replace(right, operation="DESCRIBE_CONFIGS") if right.operation == "ALTER_CONFIGS" else right


def _stops_all(finding: Finding, facts: Facts) -> bool:
    """Settings are read of all topics in one go, and a creation that is refused for every topic leaves none."""
    if finding.status != "failed":
        return False
    trial = facts.tried.get(finding.right)
    if finding.right.operation == "CREATE":
        return trial is not None and set(trial.refused) == set(trial.names)
    return finding.right.operation == "DESCRIBE_CONFIGS"
