"""A leader that dies: where its partitions end is told by who leads them next, or not at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from integration import records
from integration.copying import make_topic
from integration.records import numbered
from mirror.errors import MirrorError
from mirror.kafka import cluster as administration
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster

Clusters = Callable[..., tuple[KafkaCluster, ...]]


def test_offsets_that_nobody_told_are_left_out(fresh_clusters: Clusters, monkeypatch: pytest.MonkeyPatch) -> None:
    (alone,) = fresh_clusters("alone")
    partitions = [TopicPartition("orders", 0), TopicPartition("orders", 1)]
    with Cluster("alone", {"bootstrap.servers": alone.bootstrap_servers}) as cluster:
        make_topic(cluster, "orders", 2)
        records.write(alone.bootstrap_servers, "orders", numbered(20, partitions=2))
        assert cluster.high_watermarks(partitions) == dict.fromkeys(partitions, 10)
        alone.brokers[0].kill()
        for name in ("OFFSETS_TIMEOUT_S", "SILENT_S", "LEADERLESS_S", "PROPAGATION_S"):
            monkeypatch.setattr(administration, name, 1.0)
        assert cluster.high_watermarks(partitions) == {}
        # A state log taken for empty would be copied twice.
        with pytest.raises(MirrorError, match="orders-0 starts and ends"):
            cluster.bounds(partitions[0])


@pytest.mark.long("three brokers")
def test_who_leads_next_is_asked(fresh_clusters: Clusters) -> None:
    (three,) = fresh_clusters("three", brokers=3)
    partitions = [TopicPartition("orders", number) for number in range(6)]
    with Cluster("three", {"bootstrap.servers": three.bootstrap_servers}) as cluster:
        make_topic(cluster, "orders", 6, replication_factor=3)
        records.write(three.bootstrap_servers, "orders", numbered(60, partitions=6))
        assert cluster.high_watermarks(partitions) == dict.fromkeys(partitions, 10)
        three.brokers[1].kill()
        assert cluster.high_watermarks(partitions) == dict.fromkeys(partitions, 10)
        assert cluster.bounds(partitions[0]) == (0, 10)
