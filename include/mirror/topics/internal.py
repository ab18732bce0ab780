"""The topics that airmirror keeps its state in, and the one in which it publishes MM2's offset syncs."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.errors import TopicRefused
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import ConfigEntry, NewTopic, TopicDescription
from mirror.naming import ReplicationPolicy
from mirror.topics.forwarding import forwarded
from mirror.topics.replication import replication_factor
from mirror.topics.values import Creation
from mirror.topics.visibility import wait_until_visible

log = logging.getLogger(__name__)

# A thousand busy partitions write gigabytes of syncs a day, and every run reads the topic from its start: small
# segments and an early cleaner keep that to seconds. Kafka 4 refuses segments below 1 MiB.
_COMPACTED = {
    "cleanup.policy": "compact",
    "segment.bytes": str(16 * 1024 * 1024),
    "max.compaction.lag.ms": str(10 * 60 * 1000),
    "min.cleanable.dirty.ratio": "0.1",
}


def internal_topics(flow: Flow, replication_factor: int) -> tuple[NewTopic, NewTopic]:
    """Our two topics on the target, as they are to be: one partition, so that one order holds for all state."""
    return (
        NewTopic(
            name=naming.syncs_topic(flow.source),
            partition_count=1,
            replication_factor=replication_factor,
            configs=_COMPACTED,
        ),
        NewTopic(
            name=naming.control_topic(flow.source),
            partition_count=1,
            replication_factor=replication_factor,
            # The broker's clock tells whether a claim is alive; the writer's may be wrong.
            configs={**_COMPACTED, "message.timestamp.type": "LogAppendTime"},
        ),
    )


def published_syncs(flow: Flow, policy: ReplicationPolicy) -> tuple[str, str] | None:
    """Where MM2's own offset-syncs topic is to be published, as (cluster, topic); None unless the file asks for it."""
    location = opt.OFFSET_SYNCS_LOCATION
    if not flow.is_set(location):
        return None
    # Its name carries the alias of the other cluster.
    if flow[location] == "source":
        return flow.source, policy.offset_syncs_topic(flow.target)
    return flow.target, policy.offset_syncs_topic(flow.source)


def plan_internal(
    flow: Flow, policy: ReplicationPolicy, topics: Mapping[str, Mapping[str, object]], brokers: Mapping[str, int]
) -> tuple[tuple[Creation, ...], tuple[str, ...]]:
    """The internal topics that are missing, given each cluster's topics and broker count, with notices."""
    option = opt.OFFSET_SYNCS_REPLICATION_FACTOR
    factor, notice = replication_factor(flow, option, flow.target, brokers[flow.target])
    wanted = [Creation(cluster=flow.target, topic=topic) for topic in internal_topics(flow, factor)]
    notices = {flow.target: notice}
    if (published := published_syncs(flow, policy)) is not None:
        cluster, name = published
        factor, notices[cluster] = replication_factor(flow, option, cluster, brokers[cluster])
        topic = NewTopic(name=name, partition_count=1, replication_factor=factor, configs={"cleanup.policy": "compact"})
        wanted.append(Creation(cluster=cluster, topic=topic))
    missing = tuple(creation for creation in wanted if creation.topic.name not in topics[creation.cluster])
    concerned = {creation.cluster for creation in missing}
    return missing, tuple(text for cluster, text in notices.items() if text and cluster in concerned)


def ensure_internal(flow: Flow, target: Cluster) -> None:
    """Create our two topics on the target where they are missing; refuse ones that would not keep our state."""
    names = (naming.syncs_topic(flow.source), naming.control_topic(flow.source))
    existing = target.describe(names)
    check_internal(flow, existing, target.configs(existing))
    if len(existing) == len(names):
        return
    option = opt.OFFSET_SYNCS_REPLICATION_FACTOR
    factor, notice = replication_factor(flow, option, flow.target, target.broker_count())
    if notice:
        log.warning("%s", notice)
    missing = [topic for topic in internal_topics(flow, factor) if topic.name not in existing]
    for name, error in forwarded(flow, target).create_topics(missing).items():
        if error is not None:
            raise error
        log.info("created flow=%s cluster=%s topic=%s", flow.id, flow.target, name)
    for error in wait_until_visible(target, dict.fromkeys(names, 1)).values():
        raise error


def check_internal(
    flow: Flow, topics: Mapping[str, TopicDescription], configs: Mapping[str, Mapping[str, ConfigEntry]]
) -> None:
    """Refuse an existing state topic that is not compacted (retention would delete our positions) or not of one
    partition (state would have no order)."""
    for name in (naming.syncs_topic(flow.source), naming.control_topic(flow.source)):
        if name not in topics:
            continue
        policy = configs.get(name, {}).get("cleanup.policy")
        if policy is not None and policy.value != "compact":
            raise TopicRefused(
                f"topic {name} on cluster {flow.target} has cleanup.policy={policy.value}: "
                "retention would delete the positions of what was copied",
                next_step=f"kafka-configs.sh --alter --entity-type topics --entity-name {name} "
                "--add-config cleanup.policy=compact",
                cluster=flow.target,
                topic=name,
            )
        if topics[name].partition_count != 1:
            raise TopicRefused(
                f"topic {name} on cluster {flow.target} has {topics[name].partition_count} partitions; "
                "state must be in one, to have one order",
                next_step=f"kafka-topics.sh --delete --topic {name}, if no flow from {flow.source} has used it yet",
                cluster=flow.target,
                topic=name,
            )
