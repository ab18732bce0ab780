"""`airmirror preflight` on real clusters: what would go wrong is told before it does, with the next step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flow_files import flow_from, write_file
from integration.command import Command, Outcome
from integration.copying import Mirrored, make_topic
from integration.records import numbered, write
from mirror.airflow.topic_tasks import discover_topics
from mirror.cli.main import main
from mirror.errors import PreflightFailed
from mirror.kafka.configs import SettingChange
from mirror.kafka.values import NewTopic
from mirror.operations.preflight.topics import check_creations, check_settings
from mirror.topics import Creation, SettingsPlan
from mirror.topics.settings_sync import SettingDifference
from world.kafka import KafkaCluster
from world.ports import free_ports


def by_subject(told: Outcome) -> dict[str, dict[str, Any]]:
    return {check["subject"]: check for check in told.document["checks"]}


def own_topics(flow: Mirrored) -> list[str]:
    """The source's topics, but for those that its brokers make for themselves."""
    return [name for name in flow.source.topic_names() if not name.startswith("__")]


def statuses(told: Outcome) -> set[str]:
    return {check["status"] for check in told.document["checks"]}


def test_a_flow_with_all_it_needs_passes_and_nothing_is_changed(flow: Mirrored, airmirror: Command) -> None:
    flow.configure("offset-syncs.topic.replication.factor = 1")
    topic = flow.topic("orders", 2)
    flow.write(topic, numbered(4, partitions=2))
    before, topics = flow.target_ends(), own_topics(flow)
    told = airmirror("preflight", "--json")
    assert told.code == 0
    assert statuses(told) <= {"ok", "warning"}  # without an authorizer every right is there
    assert len([check for check in told.document["checks"] if check["area"] == "rights"]) > 20
    assert "or newer" in by_subject(told)[f"{flow.aliases[1]}: version"]["reason"]
    assert airmirror("preflight").out.splitlines()[-1].endswith("0 unknown, 0 failed.")
    assert (flow.target_ends(), own_topics(flow)) == (before, topics)
    assert f"{flow.flow}: asking for rights" in told.err  # progress, and only on stderr


def test_one_cluster_under_two_names_is_told_by_preflight_and_by_discover(
    tmp_path: Path, east: KafkaCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = {"one": east.bootstrap_servers, "other": east.bootstrap_servers}
    config = write_file(tmp_path, "topics = none-of-them\n", clusters=servers, flows=("one->other",))
    assert main(["--config", str(config), "preflight", "one->other"]) == 1
    assert "would copy the cluster onto itself" in capsys.readouterr().out
    flow = flow_from(tmp_path, "topics = none-of-them\n", clusters=servers, flow="one->other")
    with pytest.raises(PreflightFailed, match="onto itself"):
        discover_topics(flow, {})


def test_a_cluster_that_is_down_is_told_and_the_other_is_looked_at(
    tmp_path: Path, east: KafkaCluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mirror.kafka.rights.FIRST_ANSWER_S", 1.0)
    servers = {"up": east.bootstrap_servers, "down": f"127.0.0.1:{free_ports(1)[0]}"}
    config = write_file(tmp_path, clusters=servers, flows=("up->down",))
    assert main(["--config", str(config), "preflight", "up->down", "--json"]) == 1
    told = by_subject(Outcome(1, capsys.readouterr().out, ""))
    assert told["up can be reached"]["status"] == "ok"
    assert told["down can be reached"]["status"] == "failed"
    assert "down.bootstrap.servers" in told["down can be reached"]["next_step"]
    assert told["everything else"]["status"] == "unknown"


def test_names_replicas_settings_and_foreign_data_are_told_before_they_fail(flow: Mirrored, airmirror: Command) -> None:
    long = flow.topic("x" * (249 - len(flow.prefix) - 1))
    alike = f"{flow.aliases[1]}.{flow.prefix}-of-nobody"
    make_topic(flow.source, alike)
    taken = flow.topic("taken")
    make_topic(flow.target, flow.remote(taken))
    write(flow.downstream.bootstrap_servers, flow.remote(taken), numbered(3))
    plain = flow.topic("plain")
    flow.configure(f"topics = {flow.prefix}.*, {alike}\nreplication.factor = 2")
    told = airmirror("preflight", "--json")
    assert told.code == 1
    found = by_subject(told)
    assert "Kafka allows 249" in found[f"topic {long}"]["reason"]
    assert "topics.exclude" in found[f"topic {long}"]["next_step"]
    assert found[f"topic {alike}"]["status"] == "warning"
    assert f"has no topic {flow.prefix}-of-nobody" in found[f"topic {alike}"]["reason"]
    factor = found[f"replication.factor on {flow.aliases[1]}"]
    assert (factor["status"], factor["next_step"]) == ("failed", "replication.factor = 1")
    assert "eplication factor" in found[f"topic {flow.remote(plain)}"]["reason"]
    assert "already holds records" in found[f"topic {taken}"]["reason"]
    assert "on.foreign.data" in found[f"topic {taken}"]["next_step"]


def test_what_the_target_would_refuse_is_told_and_nothing_is_changed(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.make_remote_topics()
    remote, new = flow.remote(topic), flow.remote("new")
    change = SettingChange(name="retention.ms", operation="set", value="forever")
    difference = SettingDifference(topic=remote, change=change, now=None, reason="a test")
    plan = SettingsPlan(flow=flow.flow.id, target=flow.aliases[1], differences=(difference,), notices=(), topic_count=1)
    (check,) = check_settings(plan, flow.target)
    assert (check.status, check.subject) == ("failed", f"topic {remote}")
    assert "config.properties.exclude" in check.next_step

    unfit = NewTopic(name=new, partition_count=1, replication_factor=1, configs={"cleanup.policy": "sometimes"})
    fit = NewTopic(name=f"{new}er", partition_count=1, replication_factor=1)
    creations = [Creation(cluster=flow.aliases[1], topic=each) for each in (unfit, fit)]
    (check,) = check_creations(creations, {flow.aliases[1]: flow.target})
    assert (check.status, check.subject) == ("failed", f"topic {new}")
    assert flow.target.describe([new, fit.name]) == {}
