"""Read both clusters and plan what a flow's topics need; changes nothing."""

from __future__ import annotations

import logging

from mirror import naming
from mirror.config import Flow
from mirror.kafka.cluster import Cluster
from mirror.selection import Selector
from mirror.topics.internal import check_internal
from mirror.topics.limits import smallest_record_limit
from mirror.topics.plan import plan_topics
from mirror.topics.settings import KAFKA_MAX_MESSAGE_BYTES
from mirror.topics.values import ClusterView, TopicPlan

log = logging.getLogger(__name__)


def discover(flow: Flow, source: Cluster, target: Cluster) -> TopicPlan:
    """What is missing on the target for this flow, as of now."""
    selector = Selector(flow)
    topics = source.topics()
    selected = [decision for decision in selector.decide_all(topics) if decision.selected]
    source_view = ClusterView(
        alias=flow.source,
        topics=topics,
        configs=source.configs(decision.topic for decision in selected),
        broker_count=source.broker_count(),
        max_message_bytes=KAFKA_MAX_MESSAGE_BYTES,
    )
    target_view = _view_target(flow, target, {decision.remote_topic for decision in selected})
    check_internal(flow, target_view.topics, target_view.configs)
    plan = plan_topics(source_view, target_view, selector)
    log.info(
        "discovered flow=%s topics=%d selected=%d create=%d grow=%d refused=%d",
        flow.id,
        plan.topic_count,
        plan.selected_count,
        len(plan.creations),
        len(plan.growths),
        len(plan.refused),
    )
    return plan


def _view_target(flow: Flow, target: Cluster, remote_topics: set[str]) -> ClusterView:
    topics = target.topics()
    own = {naming.syncs_topic(flow.source), naming.control_topic(flow.source)}
    return ClusterView(
        alias=flow.target,
        topics=topics,
        configs=target.configs((remote_topics | own) & topics.keys()),
        broker_count=target.broker_count(),
        max_message_bytes=smallest_record_limit(target),
    )
