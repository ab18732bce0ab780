"""The tasks of a flow's topics Dag."""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import Context

from mirror.airflow.skipping import end_here, skipped_when_another_run_owns_the_flow
from mirror.config import Flow
from mirror.copy.gate import require_flow_forward
from mirror.operations.preflight.quick import require_ready
from mirror.topics import TopicPlan, apply, discover
from mirror.topics.forwarding import clusters_of

log = logging.getLogger(__name__)


def discover_topics(flow: Flow, context: Context) -> dict[str, Any]:
    """What is missing; when nothing is, `create_topics` is skipped. The quick part of preflight comes first."""
    with skipped_when_another_run_owns_the_flow():
        require_flow_forward(flow)
    with clusters_of(flow, "topics") as (source, target):
        for check in require_ready(flow, source, target):
            log.warning("%s: %s; next: %s", check.subject, check.reason, check.next_step or "nothing")
        plan = discover(flow, source, target)
    for notice in plan.notices:
        log.info("%s", notice)
    log.info(
        "%s: %d of %d topics selected; %d to create, %d to grow, %d refused",
        flow,
        plan.selected_count,
        plan.topic_count,
        len(plan.creations),
        len(plan.growths),
        len(plan.refused),
    )
    if plan.is_empty and not plan.refused:
        return end_here(context, plan.to_json(), skip="create_topics")
    return plan.to_json()


def create_topics(flow: Flow, plan: dict[str, Any]) -> dict[str, Any]:
    """Create and grow; a topic that is refused fails the task when all others are done."""
    with skipped_when_another_run_owns_the_flow():
        require_flow_forward(flow)
    with clusters_of(flow, "topics") as (source, target):
        summary = apply(TopicPlan.from_json(plan), source, target)
    for creation in summary.created:
        log.info("created %s on %s", creation.topic.name, creation.cluster)
    for growth in summary.grown:
        log.info("grew %s from %d to %d partitions", growth.topic, growth.partition_count_now, growth.partition_count)
    if (failure := summary.failure()) is not None:
        raise failure
    return summary.to_json()
