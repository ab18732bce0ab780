"""Settings of copies on a real target: they follow the source, drift comes back, and what is excluded stays."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from integration.copying import Mirrored
from integration.waiting import wait_for_equal, wait_until
from mirror.cli import topics as command
from mirror.errors import TopicRefused
from mirror.kafka.cluster import Cluster
from mirror.kafka.configs import SettingChange, alter_settings
from mirror.topics import SettingsSummary, apply_settings, compare_settings
from world.kafka import KafkaCluster


@pytest.fixture
def mirrored(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Mirrored:
    return Mirrored(tmp_path, east, west)


def sync(mirrored: Mirrored) -> SettingsSummary:
    return apply_settings(compare_settings(mirrored.flow, mirrored.source, mirrored.target), mirrored.target)


def set_here(cluster: Cluster, topic: str) -> dict[str, str | None]:
    """The settings that the topic itself has."""
    entries = cluster.configs([topic])[topic].values()
    return {entry.name: entry.value for entry in entries if entry.source == "DYNAMIC_TOPIC_CONFIG"}


def change(cluster: Cluster, topic: str, **settings: str | None) -> None:
    """Change settings as an operator would; None deletes."""
    changes = [
        SettingChange(name=name.replace("_", "."), operation="delete" if value is None else "set", value=value or "")
        for name, value in settings.items()
    ]
    assert alter_settings(cluster, {topic: changes}) == {topic: None}
    wanted = {c.name: c.value if c.operation == "set" else None for c in changes}
    wait_for_equal(lambda: {name: set_here(cluster, topic).get(name) for name in wanted}, wanted)


def said(summary: SettingsSummary) -> list[str]:
    return [f"{difference.topic}: {difference}" for difference in summary.changed]


def test_changes_at_the_source_reach_the_copy_and_only_they_are_written(mirrored: Mirrored) -> None:
    topic = mirrored.topic("orders", retention_ms="1000", segment_ms="9000")
    quiet = mirrored.topic("quiet", retention_ms="1000")
    mirrored.configure("heartbeats.replication.enabled = false")
    mirrored.make_remote_topics()
    remote = mirrored.remote(topic)
    assert sync(mirrored).changed == ()
    change(mirrored.source, topic, retention_ms="2000", segment_ms=None, compression_type="lz4")
    summary = sync(mirrored)
    assert said(summary) == [
        f"{remote}: set compression.type=lz4 (not set): the source topic has it",
        f"{remote}: set retention.ms=2000 (was 1000): the source topic has it",
        f"{remote}: delete segment.ms (was 9000): the source topic does not set it",
    ]
    assert (summary.topic_count, summary.failures) == (2, ())
    wait_for_equal(lambda: set_here(mirrored.target, remote), {"retention.ms": "2000", "compression.type": "lz4"})
    wait_for_equal(lambda: set_here(mirrored.target, mirrored.remote(quiet)), {"retention.ms": "1000"})
    assert sync(mirrored).changed == ()


def test_drift_on_the_target_comes_back_and_what_is_excluded_stays(mirrored: Mirrored) -> None:
    topic = mirrored.topic("orders", retention_ms="1000")
    mirrored.make_remote_topics()
    remote = mirrored.remote(topic)
    change(mirrored.target, remote, retention_ms="5", segment_ms="6000", min_insync_replicas="1")
    change(mirrored.source, topic, message_timestamp_type="LogAppendTime")
    assert len(sync(mirrored).changed) == 2
    wait_for_equal(lambda: set_here(mirrored.target, remote), {"retention.ms": "1000", "min.insync.replicas": "1"})


def test_the_sources_defaults_are_copied_where_the_file_says_so(mirrored: Mirrored) -> None:
    topic = mirrored.topic("orders")
    mirrored.make_remote_topics()
    mirrored.configure("use.defaults.from = source")
    sync(mirrored)
    copied = wait_until(lambda: set_here(mirrored.target, mirrored.remote(topic)), bool)
    # MM2 4.3.1 made 25 settings explicit; which they are is the brokers' matter.
    assert len(copied) > 20
    assert {"retention.ms", "segment.bytes", "remote.storage.enable"} <= copied.keys()
    assert "min.insync.replicas" not in copied
    assert sync(mirrored).changed == ()
    mirrored.configure("")
    sync(mirrored)
    wait_for_equal(lambda: set_here(mirrored.target, mirrored.remote(topic)), {})


def test_a_topic_that_refuses_leaves_the_others_done(mirrored: Mirrored) -> None:
    good = mirrored.topic("good", retention_ms="1000")
    bad = mirrored.topic("bad")
    mirrored.make_remote_topics()
    change(mirrored.source, good, retention_ms="2000")
    plan = compare_settings(mirrored.flow, mirrored.source, mirrored.target)
    (difference,) = plan.differences
    # The clusters take the same settings: what one refuses is put into the plan by hand.
    refused = SettingChange(name="remote.storage.enable", operation="set", value="true")
    broken = replace(plan, differences=(replace(difference, topic=mirrored.remote(bad), change=refused), difference))
    summary = apply_settings(broken, mirrored.target)
    assert [d.topic for d in summary.changed] == [mirrored.remote(good)]
    failure = summary.failure()
    assert isinstance(failure, TopicRefused)
    assert failure.about["topics"] == [mirrored.remote(bad)]
    assert "config.properties.exclude" in failure.next_step


def run_command(mirrored: Mirrored, *given: str, lines: str = "") -> int:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["topics", mirrored.flow.id, *given])
    mirrored.configure(lines)
    args.config = mirrored.config
    code: int = args.run(args)
    return code


def test_the_command_shows_then_writes_settings_and_leaves_them_when_switched_off(
    mirrored: Mirrored, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = mirrored.topic("orders", retention_ms="1000")
    remote = mirrored.remote(topic)
    assert run_command(mirrored) == 0
    change(mirrored.source, topic, retention_ms="2000")
    capsys.readouterr()

    assert run_command(mirrored, "--dry-run", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    (wanted,) = document["settings"]["change"]
    assert (wanted["topic"], wanted["name"], wanted["value"], wanted["now"]) == (remote, "retention.ms", "2000", "1000")
    assert run_command(mirrored, "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "set retention.ms=2000 (was 1000): the source topic has it" in shown
    assert "would change 1 setting" in shown
    wait_for_equal(lambda: set_here(mirrored.target, remote), {"retention.ms": "1000"})

    assert run_command(mirrored, lines="sync.topic.configs.enabled = false") == 0
    assert "settings are off by sync.topic.configs.enabled = false" in capsys.readouterr().out
    wait_for_equal(lambda: set_here(mirrored.target, remote), {"retention.ms": "1000"})

    assert run_command(mirrored) == 0
    assert "changed 1 setting" in capsys.readouterr().out
    wait_for_equal(lambda: set_here(mirrored.target, remote), {"retention.ms": "2000"})
    assert run_command(mirrored) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_the_task_says_what_it_changed_and_is_skipped_where_the_file_switches_it_off(mirrored: Mirrored) -> None:
    from airflow.sdk.exceptions import AirflowSkipException

    from mirror.airflow.upkeep_tasks import sync_configs

    topic = mirrored.topic("orders")
    mirrored.make_remote_topics()
    change(mirrored.source, topic, retention_ms="2000")
    with pytest.raises(AirflowSkipException, match=r"sync\.topic\.configs\.enabled = false"):
        sync_configs(mirrored.configure("sync.topic.configs.enabled = false"))
    summary = sync_configs(mirrored.configure(""))
    assert (summary["changed_count"], summary["changed"][0]["value"]) == (1, "2000")
    wait_for_equal(lambda: set_here(mirrored.target, mirrored.remote(topic)), {"retention.ms": "2000"})
    assert sync_configs(mirrored.flow)["changed_count"] == 0
