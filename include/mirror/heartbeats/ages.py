"""How old the newest heartbeat of every pair is that a cluster knows of, and over which clusters it came."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mirror import naming
from mirror.config import Flow
from mirror.copy.links import links_of
from mirror.errors import StateUnreadable
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import LogRecord, read_log
from mirror.kafka.values import TopicPartition
from mirror.naming import ReplicationPolicy
from mirror.wire.heartbeat import Heartbeat

log = logging.getLogger(__name__)

# Newest offsets read of each heartbeats topic. MM2 writes one a second per pair, and a compacted topic keeps them for
# days: reading all of it would take longer than what it tells is worth.
TAIL = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatAge:
    """The newest heartbeat of one pair in one topic; `hops` are the clusters it came over, nearest first."""

    topic: str
    hops: tuple[str, ...]
    source: str
    target: str
    timestamp_ms: int
    age_s: float

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "hops": list(self.hops),
            "pair": f"{self.source}->{self.target}",
            "timestamp_ms": self.timestamp_ms,
            "age_seconds": round(self.age_s, 3),
        }


def read_ages(flow: Flow) -> tuple[HeartbeatAge, ...]:
    """The heartbeats that stand on the flow's target, as of now, by its emitters' clocks."""
    links = links_of(flow)
    policy = naming.policy_of(flow)
    with Cluster(flow.target, links.target_admin) as target:
        names = [name for name in target.topic_names() if policy.is_heartbeats(name)]
        partitions = [
            TopicPartition(topic.name, number)
            for topic in target.describe(names).values()
            for number in range(topic.partition_count)
        ]
        # To the stable end: a look waits for no writer.
        starts, ends = target.log_starts(partitions), target.stable_ends(partitions)
    ranges = {p: (max(starts[p], end - TAIL), end) for p, end in ends.items() if p in starts}
    records = read_log(links.target_consumer, flow.target, ranges, committed=True)
    return newest_of(records, policy, now_ms=int(time.time() * 1000))


def newest_of(records: Iterable[LogRecord], policy: ReplicationPolicy, *, now_ms: int) -> tuple[HeartbeatAge, ...]:
    """The newest heartbeat of each pair in each topic, local ones first."""
    newest: dict[tuple[str, str, str], int] = {}
    for record in records:
        heartbeat = _read(record)
        if heartbeat is not None:
            key = (record.partition.topic, heartbeat.source, heartbeat.target)
            newest[key] = max(heartbeat.timestamp_ms, newest.get(key, 0))
    ages = [
        HeartbeatAge(
            topic=topic,
            hops=tuple(alias for alias, _ in policy.hops(topic)),
            source=source,
            target=target,
            timestamp_ms=at_ms,
            age_s=max(now_ms - at_ms, 0) / 1000,
        )
        for (topic, source, target), at_ms in newest.items()
    ]
    return tuple(sorted(ages, key=lambda age: (len(age.hops), age.topic, age.source, age.target)))


def _read(record: LogRecord) -> Heartbeat | None:
    """The record as a heartbeat; a user's own topic may be called `x.heartbeats` and hold anything."""
    if record.key is None or record.value is None:
        return None
    try:
        return Heartbeat.decode(record.key, record.value)
    except StateUnreadable:
        log.debug("no heartbeat topic=%s offset=%d", record.partition.topic, record.offset)
        return None
