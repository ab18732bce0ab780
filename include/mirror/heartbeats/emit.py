"""Write a pair's heartbeat on its target, as MM2 does, also for a pair whose flow is not enabled.

The heartbeat of A->B stands on B. What shows that A->B lives is another: the one that pair B->A writes on A, once flow
A->B has copied it to `A.heartbeats` on B. So every pair writes, unless `B->A.emit.heartbeats.enabled = false` says that
nothing may be written on A.
"""

from __future__ import annotations

import logging
import time

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.gate import require_forward
from mirror.copy.links import links_of
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import Appender, NewRecord
from mirror.kafka.values import NewTopic, TopicPartition
from mirror.topics.forwarding import forwarded
from mirror.topics.replication import replication_factor
from mirror.topics.visibility import wait_until_visible
from mirror.wire.heartbeat import Heartbeat

log = logging.getLogger(__name__)


def emit(flow: Flow) -> Heartbeat | None:
    """Write the pair's heartbeat; None where the file says that it writes none."""
    if not flow[opt.EMIT_HEARTBEATS_ENABLED]:
        return None
    links = links_of(flow)
    topic = naming.policy_of(flow).heartbeats_topic()
    with Cluster(flow.target, links.target_admin) as target:
        require_forward(links, target)
        _ensure_topic(flow, topic, target)
    heartbeat = Heartbeat(source=flow.source, target=flow.target, timestamp_ms=int(time.time() * 1000))
    record = NewRecord(
        partition=TopicPartition(topic, 0),
        key=heartbeat.encode_key(),
        value=heartbeat.encode_value(),
        timestamp_ms=heartbeat.timestamp_ms,
    )
    Appender(flow.target, links.target_producer).append_records([record])
    log.info("heartbeat pair=%s cluster=%s", flow.id, flow.target)
    return heartbeat


def heartbeats_topic(flow: Flow, broker_count: int) -> tuple[NewTopic, str]:
    """The topic as MM2 makes it, on a target of so many brokers, and what a person should know of it."""
    factor, notice = replication_factor(flow, opt.HEARTBEATS_REPLICATION_FACTOR, flow.target, broker_count)
    name, settings = naming.policy_of(flow).heartbeats_topic(), {"cleanup.policy": "compact"}
    return NewTopic(name=name, partition_count=1, replication_factor=factor, configs=settings), notice


def _ensure_topic(flow: Flow, name: str, target: Cluster) -> None:
    """Made as MM2 makes it; one that exists is taken as it is, because only its partition 0 is used."""
    if target.describe([name]):
        return
    topic, notice = heartbeats_topic(flow, target.broker_count())
    if notice:
        log.warning("%s", notice)
    made = forwarded(flow, target).create_topics([topic])
    for error in (*made.values(), *wait_until_visible(target, {name: 1}).values()):
        if error is not None:
            raise error
    log.info("created cluster=%s topic=%s", flow.target, name)
