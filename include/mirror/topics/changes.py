"""Carry out a plan for topics; each topic by itself, so that one that is refused does not hold up the others."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mirror.errors import MirrorError, TopicRefused, TryAgain
from mirror.kafka.cluster import Cluster
from mirror.kafka.forwarding import admin_of
from mirror.kafka.values import TopicDescription
from mirror.topics.values import Creation, Growth, TopicFailure, TopicPlan, TopicSummary
from mirror.topics.visibility import wait_until_visible

log = logging.getLogger(__name__)

# Per request: a controller takes at most 10,000 changes at once, and a partition is about one.
BATCH_TOPICS, BATCH_PARTITIONS = 200, 2000

# By the code of a broker that refuses a topic.
NEXT_STEPS = {
    "INVALID_REPLICATION_FACTOR": "set replication.factor (for internal topics offset-syncs.topic.replication.factor) "
    "to at most the number of brokers",
    "INVALID_CONFIG": "add the setting to config.properties.exclude, or change it on the source topic",
    "TOPIC_EXCEPTION": "rename the topic that is in the way, or add the source topic to topics.exclude",
    "POLICY_VIOLATION": "change the source topic to what the target's create.topic.policy allows, "
    "or add it to topics.exclude",
}


def apply(plan: TopicPlan, source: Cluster, target: Cluster) -> TopicSummary:
    """Create and grow what is still missing; carried out a second time, a plan changes nothing.

    When it returns, the clusters' brokers know the new topics, so that a copy may follow at once.
    """
    refused = [_refused_by_name(plan, decision.topic, decision.reason) for decision in plan.refused]
    changes = _Changes(created=[], grown=[], failures=refused)
    _carry_out(source, [creation for creation in plan.creations if creation.cluster == plan.source], (), changes)
    _carry_out(
        target, [creation for creation in plan.creations if creation.cluster == plan.target], plan.growths, changes
    )
    return TopicSummary(
        flow=plan.flow,
        created=tuple(changes.created),
        grown=tuple(changes.grown),
        failures=tuple(changes.failures),
        notices=plan.notices,
        topic_count=plan.topic_count,
        selected_count=plan.selected_count,
    )


@dataclass(slots=True, kw_only=True)
class _Changes:
    """What was done so far."""

    created: list[Creation]
    grown: list[Growth]
    failures: list[TopicFailure]


def _carry_out(cluster: Cluster, creations: Sequence[Creation], growths: Sequence[Growth], changes: _Changes) -> None:
    """Change one cluster; what was done since the plan, by us or others, is not done again."""
    present = cluster.describe([*(c.topic.name for c in creations), *(g.topic for g in growths)])
    missing = [creation for creation in creations if creation.topic.name not in present]
    due = [g for g in growths if g.topic not in present or present[g.topic].partition_count < g.partition_count]
    created = _create(cluster, missing, changes)
    grown = _grow(cluster, [*due, *_made_meanwhile(creations, present)], changes)
    made = {c.topic.name: c.topic.partition_count for c in created} | {g.topic: g.partition_count for g in grown}
    for name, error in wait_until_visible(cluster, made).items():
        changes.failures.append(_failure(cluster, name, error))


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


def _create(cluster: Cluster, missing: Sequence[Creation], changes: _Changes) -> list[Creation]:
    created: list[Creation] = []
    for batch in _batches(missing):
        outcomes = admin_of(cluster).create_topics([creation.topic for creation in batch])
        for creation in batch:
            topic = creation.topic
            error = outcomes.get(topic.name)
            if error is not None:
                changes.failures.append(_failure(cluster, topic.name, error))
                continue
            created.append(creation)
            log.info("created cluster=%s topic=%s partitions=%d", cluster.alias, topic.name, topic.partition_count)
    changes.created += created
    return created


def _grow(cluster: Cluster, due: Sequence[Growth], changes: _Changes) -> list[Growth]:
    grown: list[Growth] = []
    wanted = {growth.topic: growth.partition_count for growth in due}
    outcomes = admin_of(cluster).grow_topics(wanted) if wanted else {}
    for growth in due:
        error = outcomes.get(growth.topic)
        if error is not None:
            changes.failures.append(_failure(cluster, growth.topic, error))
            continue
        grown.append(growth)
        log.info("grown cluster=%s topic=%s partitions=%d", cluster.alias, growth.topic, growth.partition_count)
    changes.grown += grown
    return grown


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
    next_step = error.next_step or NEXT_STEPS.get(str(error.about.get("code")), "")
    refused = TopicRefused(error.message, next_step=next_step, cluster=cluster.alias, topic=topic)
    return TopicFailure(cluster=cluster.alias, topic=topic, error=refused)


def _refused_by_name(plan: TopicPlan, topic: str, reason: str) -> TopicFailure:
    error = TopicRefused(
        reason, next_step=f"add {topic} to topics.exclude, or rename it", cluster=plan.target, topic=topic
    )
    return TopicFailure(cluster=plan.target, topic=topic, error=error)
