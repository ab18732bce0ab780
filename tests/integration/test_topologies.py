"""Every topology settles: each record stands once wherever it belongs, and then nothing moves but heartbeats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from integration.topology import Topology
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster

IDENTITY = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
PAGE = Path(__file__).parents[2] / "docs" / "topologies.md"
FLOWS = ("A->B", "B->A", "B->C", "C->B", "C->A", "A->C")


class Case(NamedTuple):
    """The flows that a topic takes, the clusters on which it is written, and what it must be called where."""

    flows: tuple[str, ...]
    origins: str
    expected: dict[str, dict[str, str]]  # cluster: {name: origin}; t stands for the topic


CASES = {
    "active-passive": Case(("A->B",), "A", {"A": {"t": "A"}, "B": {"A.t": "A"}, "C": {}}),
    "active-active": Case(
        ("A->B", "B->A"),
        "AB",
        {"A": {"t": "A", "B.t": "B"}, "B": {"t": "B", "A.t": "A"}, "C": {}},
    ),
    "aggregation": Case(
        ("A->C", "B->C"),
        "AB",
        {"A": {"t": "A"}, "B": {"t": "B"}, "C": {"A.t": "A", "B.t": "B"}},
    ),
    "fan-out": Case(("A->B", "A->C"), "A", {"A": {"t": "A"}, "B": {"A.t": "A"}, "C": {"A.t": "A"}}),
    "chain": Case(("A->B", "B->C"), "A", {"A": {"t": "A"}, "B": {"A.t": "A"}, "C": {"B.A.t": "A"}}),
    "chain-both-ways": Case(
        ("A->B", "B->A", "B->C", "C->B"),
        "ABC",
        {
            "A": {"t": "A", "B.t": "B", "B.C.t": "C"},
            "B": {"t": "B", "A.t": "A", "C.t": "C"},
            "C": {"t": "C", "B.t": "B", "B.A.t": "A"},
        },
    ),
    "ring": Case(
        ("A->B", "B->C", "C->A"),
        "ABC",
        {
            "A": {"t": "A", "C.t": "C", "C.B.t": "B"},
            "B": {"t": "B", "A.t": "A", "A.C.t": "C"},
            "C": {"t": "C", "B.t": "B", "B.A.t": "A"},
        },
    ),
}


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory, three_clusters: dict[str, KafkaCluster]) -> Topology:
    """One file for all cases: each case's topic takes its own flows, all rounds are shared, and all come to rest."""
    topics = {flow: "|".join(label for label, case in CASES.items() if flow in case.flows) for flow in FLOWS}
    lines = "\n".join(f"{flow}.topics = .*PREFIX-({labels})" for flow, labels in topics.items() if labels)
    topology = Topology(tmp_path_factory.mktemp("file"), three_clusters, [f for f in FLOWS if topics[f]], lines)
    fill(topology, CASES)
    return topology


def fill(topology: Topology, cases: dict[str, Case]) -> None:
    """Records, rounds until rest; some records come between, when the first are in the midst of their hops."""
    places = [(label, origin) for label, case in cases.items() for origin in case.origins]
    for label, origin in places:
        topology.create(origin, label)
        topology.write(origin, label, values(origin, 0, 20))
    topology.run_round()
    for label, origin in places:
        topology.write(origin, label, values(origin, 20, 11))
        topology.commit(origin, label, 7)
    topology.settle()


def values(origin: str, start: int, count: int) -> list[str]:
    return [f"{origin}-{n:03}" for n in range(start, start + count)]


def assert_case(topology: Topology, label: str, case: Case) -> None:
    """Each topic is there under its names and no other, and each record once; its group goes on at the same record."""
    held = topology.held()
    for alias, names in case.expected.items():
        here = {name: found for name, found in held[alias].items() if name.rpartition(".")[2] == label}
        assert here == {name.replace("t", label): values(origin, 0, 31) for name, origin in names.items()}
        goes_on = {
            TopicPartition(topology.topic(name.replace("t", label)), n): f"{origin}-{14 + n:03}"
            for name, origin in names.items()
            for n in (0, 1)
        }
        assert topology.next_values(alias, label) == goes_on


@pytest.mark.parametrize("label", CASES)
def test_each_record_stands_once_on_every_cluster_it_belongs_to_and_nothing_moves_on(
    settled: Topology, label: str
) -> None:
    assert_case(settled, label, CASES[label])


@pytest.mark.long("rounds until all is at rest")
def test_identity_one_way_settles_with_each_record_once(
    tmp_path: Path, three_clusters: dict[str, KafkaCluster]
) -> None:
    case = Case(("A->B",), "A", {"A": {"t": "A"}, "B": {"t": "A"}, "C": {}})
    topology = Topology(tmp_path, three_clusters, case.flows, IDENTITY)
    fill(topology, {"identity": case})
    assert_case(topology, "identity", case)


def test_the_page_about_topologies_shows_these() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.read_text().splitlines() if line.startswith("|")]
    shown = {
        label.strip(): (
            tuple(_quoted(flows)),
            origins.replace(",", "").replace(" ", ""),
            {alias: set(_quoted(cell)) for alias, cell in zip("ABC", cells, strict=True)},
        )
        for label, origins, flows, *cells in rows[2:]
    }
    assert shown == {
        label: (case.flows, case.origins, {alias: set(names) for alias, names in case.expected.items()})
        for label, case in CASES.items()
    }


def _quoted(cell: str) -> list[str]:
    return re.findall(r"`(.+?)`", cell)
