"""Carry out a plan for topics; each topic by itself, so that one that is refused does not hold up the others."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from mirror.errors import MirrorError, TopicRefused, TryAgain
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicDescription
from mirror.topics.values import Creation, Growth, TopicFailure, TopicPlan, TopicSummary

log = logging.getLogger(__name__)

# Per request: a controller takes at most 10,000 changes at once, and a partition is about one.
BATCH_TOPICS, BATCH_PARTITIONS = 200, 2000

_NEXT_STEPS = {
    "INVALID_REPLICATION_FACTOR": "set replication.factor (for internal topics offset-syncs.topic.replication.factor) "
    "to at most the number of brokers",
    "INVALID_CONFIG": "add the setting to config.properties.exclude, or change it on the source topic",
    "TOPIC_EXCEPTION": "rename the topic that is in the way, or add the source topic to topics.exclude",
    "POLICY_VIOLATION": "change the source topic to what the target's create.topic.policy allows, "
    "or add it to topics.exclude",
}


def apply(plan: TopicPlan, source: Cluster, target: Cluster) -> TopicSummary:
    """Create and grow what is still missing; carried out a second time, a plan changes nothing."""
    created: list[Creation] = []
    grown: list[Growth] = []
    failures = [_refused_by_name(plan, decision.topic, decision.reason) for decision in plan.refused]
    for cluster in (source, target):
        planned = [creation for creation in plan.creations if creation.cluster == cluster.alias]
        growths = list(plan.growths) if cluster is target else []
        present = cluster.describe([*(c.topic.name for c in planned), *(g.topic for g in growths)])
        missing = [creation for creation in planned if creation.topic.name not in present]
        late = _made_meanwhile(planned, present)
        _create(cluster, missing, created, failures)
        due = [g for g in growths if g.topic not in present or present[g.topic].partition_count < g.partition_count]
        _grow(cluster, [*due, *late], grown, failures)
    return TopicSummary(
        flow=plan.flow,
        created=tuple(created),
        grown=tuple(grown),
        failures=tuple(failures),
        notices=plan.notices,
        topic_count=plan.topic_count,
        selected_count=plan.selected_count,
    )


def _made_meanwhile(planned: Sequence[Creation], present: dict[str, TopicDescription]) -> Iterator[Growth]:
    """Topics that somebody made since the plan, such as a producer by auto-creation, with too few partitions."""
    for creation in planned:
        topic = creation.topic
        if topic.name in present and present[topic.name].partition_count < topic.partition_count:
            yield Growth(
                topic=topic.name,
                upstream_topic=creation.upstream_topic,
                partition_count_now=present[topic.name].partition_count,
                partition_count=topic.partition_count,
            )


def _create(
    cluster: Cluster, missing: Sequence[Creation], created: list[Creation], failures: list[TopicFailure]
) -> None:
    for batch in _batches(missing):
        outcomes = cluster.create_topics([creation.topic for creation in batch])
        for creation in batch:
            topic = creation.topic
            error = outcomes[topic.name]
            if error is not None:
                failures.append(_failure(cluster, topic.name, error))
                continue
            created.append(creation)
            log.info("created cluster=%s topic=%s partitions=%d", cluster.alias, topic.name, topic.partition_count)


def _grow(cluster: Cluster, due: Sequence[Growth], grown: list[Growth], failures: list[TopicFailure]) -> None:
    outcomes = cluster.grow_topics({growth.topic: growth.partition_count for growth in due})
    for growth in due:
        error = outcomes[growth.topic]
        if error is not None:
            failures.append(_failure(cluster, growth.topic, error))
            continue
        grown.append(growth)
        log.info("grown cluster=%s topic=%s partitions=%d", cluster.alias, growth.topic, growth.partition_count)


def _batches(creations: Sequence[Creation]) -> Iterator[list[Creation]]:
    batch: list[Creation] = []
    partition_count = 0
    for creation in creations:
        partition_count += creation.topic.partition_count
        if batch and (len(batch) == BATCH_TOPICS or partition_count > BATCH_PARTITIONS):
            yield batch
            batch, partition_count = [], creation.topic.partition_count
        batch.append(creation)
    if batch:
        yield batch


def _failure(cluster: Cluster, topic: str, error: MirrorError) -> TopicFailure:
    """The cluster's answer as an error about the topic; one that another try can help stays what it is."""
    log.info("refused cluster=%s topic=%s reason=%s", cluster.alias, topic, error.message)
    if isinstance(error, TryAgain):
        return TopicFailure(cluster=cluster.alias, topic=topic, error=error)
    next_step = error.next_step or _NEXT_STEPS.get(str(error.about.get("code")), "")
    refused = TopicRefused(error.message, next_step=next_step, cluster=cluster.alias, topic=topic)
    return TopicFailure(cluster=cluster.alias, topic=topic, error=refused)


def _refused_by_name(plan: TopicPlan, topic: str, reason: str) -> TopicFailure:
    error = TopicRefused(
        reason, next_step=f"add {topic} to topics.exclude, or rename it", cluster=plan.target, topic=topic
    )
    return TopicFailure(cluster=plan.target, topic=topic, error=error)
