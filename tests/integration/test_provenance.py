"""Active/active under one name: each record stands once on every cluster, comes back to none; groups miss nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from integration import records
from integration.records import Seen
from integration.topology import Topology
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.copy.resume import resume
from mirror.copy.resume_plan import ResumeRequest
from mirror.errors import ForeignData
from mirror.kafka.values import TopicPartition
from mirror.records.provenance import HEADER, path_of
from world.kafka import KafkaCluster

IDENTITY = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
PROVENANCE = IDENTITY + "airmirror.provenance.headers = true\n"
FLOWS = ("A->B", "B->A", "B->C", "C->B", "C->A", "A->C")
CLUSTERS = {"pair": "AB", "mesh": "ABC"}
PARTITIONS = 2


def values(origin: str, numbers: Iterable[int]) -> list[str]:
    return [f"{origin}-{n:03}" for n in numbers]


pytestmark = pytest.mark.long("a full mesh of three clusters, until all is at rest")


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory, three_clusters: dict[str, KafkaCluster]) -> Topology:
    """A pair's topic and a full mesh's in one file: written on every cluster, in between rounds too, then at rest."""
    lines = "".join(
        f"{flow}.topics = PREFIX-({'pair|' if set(flow.split('->')) == {'A', 'B'} else ''}mesh)\n" for flow in FLOWS
    )
    topology = Topology(tmp_path_factory.mktemp("file"), three_clusters, FLOWS, PROVENANCE + lines)
    places = [(label, alias) for label, aliases in CLUSTERS.items() for alias in aliases]
    for label, alias in places:
        topology.create(alias, label, PARTITIONS)
        topology.write(alias, label, values(alias, range(20)), PARTITIONS)
    topology.run_round()
    for label, alias in places:
        topology.write(alias, label, values(alias, range(20, 31)), PARTITIONS)
    for label in CLUSTERS:
        topology.commit("A", label, 14, PARTITIONS)
    topology.settle()
    return topology


def logs_of(topology: Topology, label: str) -> dict[str, dict[int, list[Seen]]]:
    topic = topology.topic(label)
    return {
        alias: records.read(topology.clusters[alias].bootstrap_servers, [topic])[topic] for alias in CLUSTERS[label]
    }


@pytest.mark.parametrize("label", CLUSTERS)
def test_each_record_stands_once_on_every_cluster_in_its_origins_order(settled: Topology, label: str) -> None:
    for alias, log in logs_of(settled, label).items():
        for number, found in log.items():
            told = [(record.value or b"").decode() for record in found]
            for origin in CLUSTERS[label]:
                wanted = [v for n, v in enumerate(values(origin, range(20))) if n % PARTITIONS == number]
                wanted += [v for n, v in enumerate(values(origin, range(20, 31))) if n % PARTITIONS == number]
                assert [v for v in told if v.startswith(origin)] == wanted, f"{origin}'s on {alias}"


@pytest.mark.parametrize("label", CLUSTERS)
def test_each_copy_says_where_it_was_written_and_nothing_else_changes(settled: Topology, label: str) -> None:
    for alias, log in logs_of(settled, label).items():
        for record in (record for found in log.values() for record in found):
            origin = (record.value or b"").decode()[0]
            assert path_of(record.headers) == (() if origin == alias else (origin,))
            assert record.headers == (() if origin == alias else ((HEADER, origin.encode()),))
            assert record.key == record.value


@pytest.mark.parametrize("label", CLUSTERS)
def test_a_group_in_the_midst_of_one_log_skips_no_record_in_another(settled: Topology, label: str) -> None:
    assert_skips_nothing(settled, label)


@pytest.mark.parametrize("label", CLUSTERS)
def test_a_group_that_has_seen_everything_sees_nothing_again(settled: Topology, label: str) -> None:
    ends = {number: log[-1].offset + 1 for number, log in logs_of(settled, label)["A"].items()}
    for number, end in ends.items():
        settled.commit_at("A", label, {number: end})
    settled.run_round()
    for alias, again in assert_skips_nothing(settled, label).items():
        assert again == [], f"{alias}: {again}"


def assert_skips_nothing(topology: Topology, label: str) -> dict[str, list[str]]:
    """On every other cluster the group of A has passed only what it saw on A; gives what it would see again there."""
    topic = group = topology.topic(label)
    logs = logs_of(topology, label)
    offsets = {alias: topology.sides[alias].committed([group])[group] for alias in CLUSTERS[label]}
    again: dict[str, list[str]] = {}
    for alias, log in logs.items():
        here, there = offsets["A"], offsets[alias]
        assert isinstance(here, dict)
        assert isinstance(there, dict)
        for number, found in log.items():
            partition = TopicPartition(topic, number)
            seen = {record.value for record in logs["A"][number] if record.offset < here[partition].offset}
            passed = {record.value for record in found if record.offset < there[partition].offset}
            assert passed <= seen, f"{alias}: {sorted(map(str, passed - seen))} are skipped"
            rest = [record.value for record in found if record.offset >= there[partition].offset]
            again.setdefault(alias, []).extend(str(value) for value in rest if value in seen)
    return again


def test_a_round_tells_what_was_there_already(settled: Topology) -> None:
    flow = next(flow for flow in settled.flows if flow.id == "A->B")
    settled.write("B", "pair", ["B-100"], PARTITIONS)
    settled.run_round()
    settled.write("B", "pair", ["B-101"], PARTITIONS)
    back = next(flow for flow in settled.flows if flow.id == "B->A")
    assert run_copy(back, CopyRequest(), lambda: InProcessExecutor(1)).record_count >= 1
    result = run_copy(flow, CopyRequest(), lambda: InProcessExecutor(1))
    assert (result.record_count, result.there_already_count) == (0, result.to_json()["there_already"])
    assert result.there_already_count >= 1


@pytest.mark.long("a history of its own")
def test_what_was_copied_before_without_the_header_is_not_copied_back(
    tmp_path: Path, three_clusters: dict[str, KafkaCluster]
) -> None:
    before = Topology(tmp_path, three_clusters, ["A->B"], IDENTITY)
    before.create("A", "old", 1)
    before.write("A", "old", values("A", range(10)), 1)
    before.run_round()
    after = Topology(tmp_path, three_clusters, ["A->B", "B->A"], PROVENANCE, prefix=before.prefix)
    after.write("B", "old", ["B-000"], 1)
    back = next(flow for flow in after.flows if flow.id == "B->A")
    result = run_copy(back, CopyRequest(), lambda: InProcessExecutor(1))
    [stopped] = [p for p in result.partitions if p.partition.topic == after.topic("old")]
    assert isinstance(stopped.error, ForeignData)
    assert "A->B copied without a header" in stopped.error.message
    assert f"--skip-to {stopped.error.about['end']}" in stopped.error.next_step
    boundary = next(r.offset for r in logs(after, "B", "old") if r.value == b"B-000")
    request = ResumeRequest(topic=after.topic("old"), partition=0, skip_to=boundary)
    resume(back, request, "by-hand", agree=lambda _: True, say=lambda _: None)
    after.settle()
    wanted = [*values("A", range(10)), "B-000"]
    assert after.held()["A"]["old"] == after.held()["B"]["old"] == wanted


def logs(topology: Topology, alias: str, label: str) -> list[Seen]:
    topic = topology.topic(label)
    return records.read(topology.clusters[alias].bootstrap_servers, [topic])[topic][0]
