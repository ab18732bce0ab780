"""MM2's own offset-syncs topic: where it is by the file, and what it holds."""

from __future__ import annotations

from collections.abc import Iterable

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.spec import FlowLinks
from mirror.groups.mm2_syncs import SyncStore, store_of
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import read_log
from mirror.kafka.values import TopicPartition
from mirror.wire.offset_sync import OffsetSync


def sync_log(flow: Flow) -> tuple[str, TopicPartition]:
    """The cluster and the partition that MM2 writes this flow's syncs to; the name carries the other's alias."""
    policy = naming.policy_of(flow)
    if flow[opt.OFFSET_SYNCS_LOCATION] == "source":
        return flow.source, TopicPartition(policy.offset_syncs_topic(flow.target), 0)
    return flow.target, TopicPartition(policy.offset_syncs_topic(flow.source), 0)


def read_sync_stores(
    flow: Flow, links: FlowLinks, source: Cluster, target: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, SyncStore]:
    """What MM2 would know of these partitions if it started now; those without a sync are left out."""
    syncs: dict[TopicPartition, list[OffsetSync]] = {p: [] for p in partitions}
    alias, log = sync_log(flow)
    cluster, settings = (source, links.source_consumer) if alias == flow.source else (target, links.target_consumer)
    if not syncs or not cluster.describe([log.topic]):
        return {}
    ranges = {log: (cluster.log_starts([log]).get(log, 0), cluster.stable_ends([log]).get(log, 0))}
    for record in read_log(settings, alias, ranges, committed=True):
        if record.key is not None and record.value is not None:
            sync = OffsetSync.decode(record.key, record.value)
            if (partition := TopicPartition(sync.topic, sync.partition)) in syncs:
                syncs[partition].append(sync)
    return {partition: store_of(found) for partition, found in syncs.items() if found}
