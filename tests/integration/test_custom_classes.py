"""The page about own classes is true: its examples, put where it says, do what it says between real clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import documented
from integration import records
from integration.copying import Mirrored
from integration.group_reading import commit
from integration.records import numbered
from mirror.cli.main import main
from mirror.groups.run import run_checkpoints
from mirror.kafka.configs import SettingChange, alter_settings
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition
from mirror.naming import control_topic, syncs_topic
from world.kafka import KafkaCluster


@pytest.fixture
def mirrored(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Mirrored:
    """A flow with all of the page's classes; its own topics are listed for the topic filter by the test."""
    (tmp_path / "topics.txt").touch()
    return Mirrored(tmp_path, east, west, documented.classes(tmp_path))


def journal(directory: Path, what: str) -> list[object]:
    """What the page's admin noted of one kind."""
    notes = [json.loads(line) for line in (directory / "changes.jsonl").read_text().splitlines()]
    return [note[what] for note in notes if what in note]


def test_the_pages_policy_filters_and_admin_do_what_the_page_says(mirrored: Mirrored, tmp_path: Path) -> None:
    topic = mirrored.topic("orders", 2, retention_ms="86400000", segment_ms="86400000")
    mirrored.topic("unlisted")
    (tmp_path / "topics.txt").write_text(f"{topic}\n")
    mirrored.write(topic, numbered(20, partitions=2))
    command = ["--config", str(mirrored.config), "topics", mirrored.flow.id]
    assert main(command) == 0
    remote = f"{topic}-copied-from-{mirrored.aliases[0]}"
    made = [name for name in mirrored.target.topic_names() if name.startswith(mirrored.prefix)]
    assert made == [remote]
    explicit = {
        entry.name: entry.value
        for entry in mirrored.target.configs([remote])[remote].values()
        if entry.source == "DYNAMIC_TOPIC_CONFIG"
    }
    assert explicit == {"retention.ms": "86400000"}
    created = [name for names in journal(tmp_path, "create") for name in names]  # type: ignore[attr-defined]
    internal = {syncs_topic(mirrored.aliases[0]), control_topic(mirrored.aliases[0])}
    assert {remote, *internal} <= set(created)

    mirrored.copy().raise_if_incomplete()
    here = records.read(mirrored.upstream.bootstrap_servers, [topic])[topic]
    assert not records.first_difference(here, records.read(mirrored.downstream.bootstrap_servers, [remote])[remote])

    assert mirrored.source.grow_topics({topic: 3}) == {topic: None}
    assert main(command) == 0
    assert journal(tmp_path, "grow") == [{remote: 3}]

    source = GroupCluster("source", {"bootstrap.servers": mirrored.upstream.bootstrap_servers})
    for team in ("orders", "payments"):
        commit(source, f"{team}.{mirrored.prefix}", {TopicPartition(topic, 0): Committed(4)})
    summary, _ = run_checkpoints(mirrored.flow)
    assert {p.group for p in summary.partitions} == {f"orders.{mirrored.prefix}"}
    reason = "left out by group.filter.class = acme.filters:TeamsGroups"
    assert summary.filtered[f"payments.{mirrored.prefix}"] == reason


def test_a_refusal_of_the_pages_admin_is_told_and_the_others_are_made(
    mirrored: Mirrored, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_, closed = mirrored.topic("open"), mirrored.topic("closed")
    (tmp_path / "topics.txt").write_text(f"{open_}\n{closed}\n")
    mirrored.configure(f"{mirrored.lines}forwarding.admin.closed = {closed}\n")
    assert main(["--config", str(mirrored.config), "topics", mirrored.flow.id]) == 1
    assert f"{closed}-copied-from-{mirrored.aliases[0]} is of a closed domain" in capsys.readouterr().err
    assert [n for n in mirrored.target.topic_names() if n.startswith(mirrored.prefix)] == [
        f"{open_}-copied-from-{mirrored.aliases[0]}"
    ]


def test_settings_are_altered_through_the_pages_admin(mirrored: Mirrored, tmp_path: Path) -> None:
    topic = mirrored.topic("orders", retention_ms="86400000")
    (tmp_path / "topics.txt").write_text(f"{topic}\n")
    command = ["--config", str(mirrored.config), "topics", mirrored.flow.id]
    assert main(command) == 0
    remote = f"{topic}-copied-from-{mirrored.aliases[0]}"
    changes = [SettingChange(name=name, operation="set", value="3600000") for name in ("retention.ms", "segment.ms")]
    assert alter_settings(mirrored.source, {topic: changes}) == {topic: None}
    assert main(command) == 0
    assert journal(tmp_path, "alter") == [{remote: ["retention.ms"]}]
