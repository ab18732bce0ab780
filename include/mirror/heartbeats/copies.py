"""Copy a flow's heartbeats topics in this process: a record a minute must never wake Spark."""

from __future__ import annotations

from dataclasses import replace

from mirror.config import Flow
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.copy.gate import require_forward
from mirror.copy.links import links_of
from mirror.copy.result import CopyResult
from mirror.selection import Selector
from mirror.topics import apply, discover
from mirror.topics.forwarding import clusters_of


def copy_heartbeats(flow: Flow) -> CopyResult:
    """Copy what is new; remote heartbeats topics that are missing are made first, not at the next refresh."""
    result = _copy(flow)
    if not result.waiting:
        return result
    _make_remote_topics(flow)
    return _copy(flow)


def _copy(flow: Flow) -> CopyResult:
    return run_copy(flow, CopyRequest(heartbeats=True), InProcessExecutor)


def _make_remote_topics(flow: Flow) -> None:
    selector = Selector(flow)
    with clusters_of(flow, "heartbeats") as (source, target):
        plan = discover(flow, source, target)
        wanted = {d.topic for d in plan.decisions if selector.policy.is_heartbeats(d.topic)}
        plan = replace(
            plan,
            creations=tuple(creation for creation in plan.creations if creation.upstream_topic in wanted),
            growths=tuple(growth for growth in plan.growths if growth.upstream_topic in wanted),
            decisions=tuple(decision for decision in plan.decisions if decision.topic in wanted),
        )
        require_forward(links_of(flow), target)
        if (failure := apply(plan, source, target).failure()) is not None:
            raise failure
