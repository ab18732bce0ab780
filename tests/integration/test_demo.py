"""The demo's parts: its data, and a table that is true when Kafka's own tools count again."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mirror import topics
from mirror.config import Configuration, load
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.kafka.cluster import Cluster
from world.demo.applications import open_site, write_wave
from world.demo.replicated import Replicated, replicated
from world.demo.services import PROPERTIES, find
from world.demo.shop import EAST, SITES, Site
from world.kafka import KafkaCluster

Clusters = Callable[..., tuple[KafkaCluster, ...]]

CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


def copy_all(configuration: Configuration) -> None:
    for flow in configuration.enabled_flows:
        with (
            Cluster(flow.source, flow.admin_settings("source")) as source,
            Cluster(flow.target, flow.admin_settings("target")) as target,
        ):
            topics.apply(topics.discover(flow, source, target), source, target)
        result = run_copy(flow, CopyRequest(), lambda: InProcessExecutor(2))
        result.raise_if_incomplete()


def counted_by_kafka(cluster: KafkaCluster, topic: str) -> int:
    """One line per record, in the console consumer's own words."""
    arguments = ("--topic", topic, "--from-beginning", "--isolation-level", "read_committed", "--timeout-ms", "6000")
    return len(cluster.tool(CONSUMER, *arguments).splitlines())


def end_offsets(cluster: KafkaCluster, topic: str) -> int:
    return sum(int(line.rpartition(":")[2]) for line in cluster.tool(OFFSETS, "--topic", topic).splitlines())


@pytest.mark.long("the whole demo")
@pytest.mark.slow
def test_the_table_is_true_when_kafkas_own_tools_count_again(fresh_clusters: Clusters, tmp_path: Path) -> None:
    clusters = {cluster.name: cluster for cluster in fresh_clusters("east", "west")}
    servers = {name: cluster.bootstrap_servers for name, cluster in clusters.items()}
    (tmp_path / "mm2.properties").write_text(PROPERTIES.format(**servers))
    configuration = load(tmp_path / "mm2.properties")
    for wave in (0, 1):  # the second: what `make demo` does when it is up already
        for site in SITES:
            open_site(site, servers[site.cluster])
            write_wave(site, servers[site.cluster], wave)
        copy_all(configuration)
        rows = replicated(configuration)
        assert all(row.is_equal for row in rows), rows

    table = {(row.flow, row.topic): row for row in rows}
    assert len(table) == len(rows) == sum(len(site.topics) for site in SITES)
    for site in SITES:
        for topic in site.topics:
            (row,) = (row for row in rows if row.topic == topic.name and row.flow.startswith(site.cluster))
            whole = 2 * topic.record_count
            assert row.source_records < whole if topic.abort_every else row.source_records == whole
    recount(table[("east->west", "payments")], clusters["east"], clusters["west"])
    assert_groups_stand_in_the_middle(EAST, clusters["east"])


def recount(row: Replicated, source: KafkaCluster, target: KafkaCluster) -> None:
    with ThreadPoolExecutor(2) as threads:
        upstream = threads.submit(counted_by_kafka, source, row.topic)
        downstream = threads.submit(counted_by_kafka, target, row.remote_topic)
        assert (upstream.result(), downstream.result()) == (row.source_records, row.target_records)
    # What the table's footnote says: offsets would have told something else.
    assert end_offsets(target, row.remote_topic) > row.target_records


def assert_groups_stand_in_the_middle(site: Site, cluster: KafkaCluster) -> None:
    told = cluster.tool(GROUPS, "--describe", "--all-groups")
    for group in site.groups:
        lines = re.findall(rf"^{group.name} +{group.topic} +\d+ +(\d+) +(\d+)", told, re.MULTILINE)
        assert lines, f"{group.name} has no offsets:\n{told}"
        assert all(0 < int(offset) < int(end) for offset, end in lines)


def test_nothing_is_found_running_where_nothing_was_started(tmp_path: Path) -> None:
    assert find(tmp_path) is None
    (tmp_path / "demo.json").write_text('{"airflow_url": "http://127.0.0.1:9"}')
    assert find(tmp_path) is None
