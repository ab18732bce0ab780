"""Writes into MM2's own topics what lets it go on behind us: its positions, and its offset syncs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.mm2_worker import offsets_partition_count, offsets_replication_factor
from mirror.copy.spec import FlowLinks
from mirror.errors import TopicRefused
from mirror.groups.mm2_sync_log import sync_log
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import Appender
from mirror.kafka.values import NewTopic, TopicPartition
from mirror.topics.forwarding import forwarded
from mirror.topics.replication import replication_factor
from mirror.topics.visibility import wait_until_visible
from mirror.wire.connect_offset import ConnectOffset, partition_for
from mirror.wire.offset_sync import OffsetSync

log = logging.getLogger(__name__)


def write_positions(flow: Flow, links: FlowLinks, target: Cluster, positions: Sequence[ConnectOffset]) -> None:
    """Write positions as Connect would: to the partition that Java's producer chooses, or compaction keeps both.

    Connect starts with no other than a compacted topic, so one that is not is refused here too.
    """
    if not positions:
        return
    topic = NewTopic(
        name=links.mm2_offsets_topic,
        partition_count=offsets_partition_count(flow),
        replication_factor=offsets_replication_factor(flow, target.broker_count()),
        configs={"cleanup.policy": "compact"},
    )
    _ensure(flow, target, topic)
    policy = target.configs([topic.name])[topic.name].get("cleanup.policy")
    if policy is not None and policy.value != "compact":
        raise TopicRefused(
            f"topic {topic.name} on cluster {flow.target} has cleanup.policy={policy.value}: "
            "MM2 refuses to start with it",
            next_step=f"kafka-configs.sh --alter --entity-type topics --entity-name {topic.name} "
            "--add-config cleanup.policy=compact",
            cluster=flow.target,
            topic=topic.name,
        )
    count = target.describe([topic.name])[topic.name].partition_count
    Appender(flow.target, links.target_producer).append(
        (TopicPartition(topic.name, partition_for(key, count)), key, position.encode_value())
        for position in positions
        for key in (position.encode_key(),)
    )


def write_syncs(flow: Flow, links: FlowLinks, source: Cluster, target: Cluster, syncs: Iterable[OffsetSync]) -> None:
    """Append offset syncs where MM2 looks for them; their step back upstream lets its store begin afresh."""
    wanted = list(syncs)
    if not wanted or not flow[opt.EMIT_OFFSET_SYNCS_ENABLED]:
        return
    alias, place = sync_log(flow)
    cluster, settings = (source, links.source_producer) if alias == flow.source else (target, links.target_producer)
    factor, notice = replication_factor(flow, opt.OFFSET_SYNCS_REPLICATION_FACTOR, alias, cluster.broker_count())
    if notice:
        log.warning("%s", notice)
    _ensure(
        flow,
        cluster,
        NewTopic(name=place.topic, partition_count=1, replication_factor=factor, configs={"cleanup.policy": "compact"}),
    )
    Appender(alias, settings).append((place, sync.encode_key(), sync.encode_value()) for sync in wanted)


def _ensure(flow: Flow, cluster: Cluster, topic: NewTopic) -> None:
    """Make a topic as MM2 would, unless it is there."""
    if cluster.describe([topic.name]):
        return
    for error in forwarded(flow, cluster).create_topics([topic]).values():
        if error is not None:
            raise error
    log.info("created cluster=%s topic=%s", cluster.alias, topic.name)
    for late in wait_until_visible(cluster, {topic.name: topic.partition_count}).values():
        raise late
