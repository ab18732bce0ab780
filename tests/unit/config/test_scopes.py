"""Which key counts for which flow and client, and which of two wins: MM2's rules, one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirror.config import Configuration, Flow
from mirror.config import options as opt
from mirror.config.configuration import parse

HEAD = "clusters = A, B\nA.bootstrap.servers = a:1\nB.bootstrap.servers = b:1\nA->B.enabled = true\n"


def configuration(lines: str = "", head: str = HEAD) -> Configuration:
    return parse((head + lines).encode(), Path("mm2.properties"))


def flow(lines: str) -> Flow:
    return configuration(lines).flow("A->B")


def test_a_flows_own_line_wins_over_the_top_level_wherever_it_stands() -> None:
    configured = configuration("A->B.tasks.max = 3\ntasks.max = 2\n")
    assert configured.flow("A->B")[opt.TASKS_MAX] == 3
    assert configured.flow("B->A")[opt.TASKS_MAX] == 2


def test_every_value_knows_its_line_or_that_it_is_a_default() -> None:
    found = flow("tasks.max = 2\n")
    assert str(found.origin(opt.TASKS_MAX)) == "mm2.properties:5"
    assert found.origin(opt.TASKS_MAX).key == "tasks.max"
    assert found.is_set(opt.TASKS_MAX)
    assert str(found.origin(opt.TOPICS)) == "default"
    assert not found.is_set(opt.TOPICS)


def test_use_defaults_from_counts_at_top_level_too() -> None:
    assert flow("use.defaults.from = source\n")[opt.USE_DEFAULTS_FROM] == "source"


def test_a_new_name_wins_over_its_old_one_whatever_the_order() -> None:
    assert flow("topics.exclude = new\ntopics.blacklist = old\n")[opt.TOPICS_EXCLUDE] == ("new",)
    assert flow("A->B.topics.blacklist = old\ntopics.exclude = new\n")[opt.TOPICS_EXCLUDE] == ("old",)


def test_an_alias_that_begins_like_another_keeps_its_own_keys() -> None:
    head = "clusters = us, us.west\nus.bootstrap.servers = a:1\nus.west.bootstrap.servers = b:1\n"
    configured = configuration("us->us.west.enabled = true\nus->us.west.topics = t\n", head)
    found = configured.flow("us->us.west")
    assert found.admin_settings("source")["bootstrap.servers"] == "a:1"
    assert found.admin_settings("target")["bootstrap.servers"] == "b:1"
    assert found[opt.TOPICS] == ("t",)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", ["A->B", "B->A"]),
        ("emit.heartbeats.enabled = false\n", ["A->B"]),
        ("emit.heartbeats.enabled = false\nB->A.emit.heartbeats.enabled = true\n", ["A->B", "B->A"]),
        ("B->A.emit.heartbeats.enabled = false\n", ["A->B"]),
        ("emit.heartbeats.enabled = false\nB->A.enabled = TRUE\n", ["A->B", "B->A"]),
    ],
)
def test_flows_exist_where_mm2_would_run_a_herder(lines: str, expected: list[str]) -> None:
    assert [found.id for found in configuration(lines).flows] == expected


def test_enabled_at_top_level_enables_what_no_line_disables() -> None:
    configured = configuration("enabled = true\nB->A.enabled = false\n")
    assert [found.id for found in configured.enabled_flows] == ["A->B"]
    assert [found.id for found in configuration("enabled = true\n").enabled_flows] == ["A->B", "B->A"]


def test_flows_of_three_clusters_are_all_ordered_pairs() -> None:
    configured = configuration(head="clusters = c, a, b\nbootstrap.servers = x:1\n")
    assert [found.id for found in configured.flows] == ["c->a", "c->b", "a->c", "a->b", "b->c", "b->a"]


# Which of several lines wins for the source's consumer: each case names the winner's value.
@pytest.mark.parametrize(
    ("lines", "winner"),
    [
        (["A->B.consumer.fetch.min.bytes = 1"], 1),
        (["A.consumer.fetch.min.bytes = 2", "A->B.consumer.fetch.min.bytes = 1"], 2),
        (["A->B.source.consumer.fetch.min.bytes = 3", "A.consumer.fetch.min.bytes = 2"], 3),
        (["B.consumer.fetch.min.bytes = 4", "A->B.consumer.fetch.min.bytes = 1"], 1),
        (["A->B.target.consumer.fetch.min.bytes = 4", "A->B.consumer.fetch.min.bytes = 1"], 1),
    ],
)
def test_the_nearer_line_wins_for_a_client(lines: list[str], winner: int) -> None:
    for order in (lines, lines[::-1]):
        assert flow("\n".join(order) + "\n").consumer_settings("source")["fetch.min.bytes"] == winner


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("security.protocol = SSL\n", "ssl"),
        ("security.protocol = SSL\nA.security.protocol = PLAINTEXT\n", "plaintext"),
        ("A.security.protocol = SSL\nA.consumer.security.protocol = PLAINTEXT\n", "plaintext"),
        # The fan-out writes the cluster's value for each of its clients: stronger than the flow's both-sides form.
        ("A.security.protocol = SSL\nA->B.consumer.security.protocol = PLAINTEXT\n", "ssl"),
        ("A.security.protocol = SSL\nA->B.source.consumer.security.protocol = PLAINTEXT\n", "plaintext"),
        ("B.security.protocol = SSL\n", "plaintext"),
    ],
)
def test_security_falls_from_top_level_to_cluster_to_client(lines: str, expected: str) -> None:
    assert flow(lines).consumer_settings("source")["security.protocol"] == expected


@pytest.mark.parametrize(
    ("lines", "linger"),
    [
        ("A->B.producer.linger.ms = 1\n", 1),
        ("A->B.producer.linger.ms = 1\nB.producer.linger.ms = 2\n", 2),
        ("B.producer.linger.ms = 2\nA->B.target.producer.linger.ms = 3\n", 3),
        ("A->B.producer.override.linger.ms = 4\nA->B.target.producer.linger.ms = 3\n", 4),
    ],
)
def test_overrides_are_strongest_for_the_targets_producer(lines: str, linger: int) -> None:
    found = flow(lines)
    assert found.producer_settings("target")["linger.ms"] == linger
    assert "linger.ms" not in found.consumer_settings("target")


def test_raw_properties_are_those_of_mm2s_connector() -> None:
    raw = flow(
        "topics = t\nreplication.policy.own = x\nconsumer.fetch.min.bytes = 1\nA.consumer.x = y\nunknown = z\n"
    ).raw
    assert raw["source.cluster.alias"] == "A"
    assert raw["target.cluster.alias"] == "B"
    assert raw["source.cluster.bootstrap.servers"] == raw["source.consumer.bootstrap.servers"] == "a:1"
    assert (raw["topics"], raw["replication.policy.own"], raw["source.consumer.x"]) == ("t", "x", "y")
    assert raw["enabled"] == "true"
    assert "consumer.fetch.min.bytes" not in raw
    assert "unknown" not in raw
