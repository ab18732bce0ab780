"""What a flow's topics need, decided from what was read; no cluster is asked here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mirror.config import options as opt
from mirror.kafka.values import ConfigEntry, NewTopic
from mirror.selection import Decision, Selector
from mirror.topics.internal import plan_internal
from mirror.topics.replication import replication_factor
from mirror.topics.settings import MAX_MESSAGE_BYTES, max_message_bytes, settings_at_creation, settings_rule
from mirror.topics.values import ClusterView, Creation, Growth, TopicPlan


def plan_topics(source: ClusterView, target: ClusterView, selector: Selector) -> TopicPlan:
    """The remote topics to create and to grow, and our own; what exists with more partitions is left alone."""
    flow = selector.flow
    decisions = selector.decide_all(source.topics)
    selected = [decision for decision in decisions if decision.selected]
    # Settings are read after the list: a topic that is gone by then has none, and needs no copy.
    present = [decision for decision in selected if decision.topic in source.configs]
    missing = [decision for decision in present if decision.remote_topic not in target.topics]
    existing = [decision for decision in present if decision.remote_topic in target.topics]
    internal, notices = plan_internal(
        flow,
        selector.policy,
        {source.alias: source.topics, target.alias: target.topics},
        {source.alias: source.broker_count, target.alias: target.broker_count},
    )
    creations, creation_notices = _creations(missing, source, target, selector)
    return TopicPlan(
        flow=flow.id,
        source=source.alias,
        target=target.alias,
        creations=(*internal, *creations),
        growths=tuple(_growths(existing, source, target)),
        decisions=decisions,
        notices=(*notices, *creation_notices, *_notices_about_existing(existing, source, target, selector)),
        topic_count=len(decisions),
        selected_count=len(selected),
    )


def _creations(
    missing: Sequence[Decision], source: ClusterView, target: ClusterView, selector: Selector
) -> tuple[list[Creation], list[str]]:
    flow, rule = selector.flow, settings_rule(selector.flow)
    factor, notice = replication_factor(flow, opt.REPLICATION_FACTOR, target.alias, target.broker_count)
    creations: list[Creation] = []
    notices = [notice] if notice and missing else []
    for decision in missing:
        new = settings_at_creation(
            source.configs[decision.topic], rule, target_max_message_bytes=target.max_message_bytes
        )
        topic = NewTopic(
            name=decision.remote_topic,
            partition_count=source.topics[decision.topic].partition_count,
            replication_factor=factor,
            configs=new.settings,
        )
        creations.append(Creation(cluster=target.alias, topic=topic, upstream_topic=decision.topic))
        notices += [f"{decision.remote_topic}: {text}" for text in new.notices]
    return creations, notices


def _growths(existing: Sequence[Decision], source: ClusterView, target: ClusterView) -> Iterator[Growth]:
    for decision in existing:
        wanted = source.topics[decision.topic].partition_count
        now = target.topics[decision.remote_topic].partition_count
        if now < wanted:
            yield Growth(
                topic=decision.remote_topic,
                upstream_topic=decision.topic,
                partition_count_now=now,
                partition_count=wanted,
            )


def _notices_about_existing(
    existing: Sequence[Decision], source: ClusterView, target: ClusterView, selector: Selector
) -> Iterator[str]:
    mended = selector.flow[opt.SYNC_TOPIC_CONFIGS_ENABLED] and not settings_rule(selector.flow).is_excluded(
        MAX_MESSAGE_BYTES
    )
    for decision in existing:
        remote = decision.remote_topic
        has, wanted = target.topics[remote].partition_count, source.topics[decision.topic].partition_count
        if has > wanted:
            yield f"{remote}: has {has} partitions, {decision.topic} has {wanted}; the others are left alone"
        if remote in target.configs and not mended:
            yield from _too_small(remote, source.configs[decision.topic], target.configs[remote], target.alias)


def _too_small(
    remote: str, upstream: Mapping[str, ConfigEntry], downstream: Mapping[str, ConfigEntry], cluster: str
) -> Iterator[str]:
    wanted, has = max_message_bytes(upstream), max_message_bytes(downstream)
    if has < wanted:
        yield (
            f"{remote}: takes records up to {has} bytes, the source up to {wanted}; larger ones would stop their "
            f"partition: kafka-configs.sh --bootstrap-server <{cluster}> --alter --entity-type topics "
            f"--entity-name {remote} --add-config {MAX_MESSAGE_BYTES}={wanted}"
        )
