"""Topics made on a real target: what Kafka's own tools see, what a second run does, what one refusal leaves alone."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from flow_files import flow_from, write_file
from mirror import naming
from mirror.cli import topics as command
from mirror.config import Flow
from mirror.errors import TopicRefused, UsageRefused
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import NewTopic
from mirror.topics import TopicPlan, TopicSummary, apply, discover, ensure_internal
from mirror.topics.visibility import wait_until_visible
from world.kafka import KafkaCluster

TopicName = Callable[..., str]
DEADLINE_S = 20


class Pair:
    """The two clusters as an administrator sees them, and the file that joins them."""

    def __init__(self, directory: Path, source: KafkaCluster, target: KafkaCluster) -> None:
        self.directory = directory
        self.servers = {"east": source.bootstrap_servers, "west": target.bootstrap_servers}
        self.source = Cluster("east", {"bootstrap.servers": source.bootstrap_servers})
        self.target = Cluster("west", {"bootstrap.servers": target.bootstrap_servers})

    def flow(self, lines: str, flow: str = "east->west") -> Flow:
        return flow_from(self.directory, lines, clusters=self.servers, flow=flow)

    def mirror(self, lines: str) -> TopicSummary:
        return apply(self.plan(lines), self.source, self.target)

    def plan(self, lines: str) -> TopicPlan:
        return discover(self.flow(lines), self.source, self.target)

    def make(self, name: str, partition_count: int = 1, **settings: str) -> None:
        make(self.source, name, partition_count, **settings)


def make(cluster: Cluster, name: str, partition_count: int = 1, **settings: str) -> None:
    configs = {key.replace("_", "."): value for key, value in settings.items()}
    topic = NewTopic(name=name, partition_count=partition_count, replication_factor=1, configs=configs)
    assert cluster.create_topics([topic]) == {name: None}
    wait_for(cluster, name, partition_count)


def wait_for(cluster: Cluster, name: str, partition_count: int) -> None:
    """A broker may learn of a topic a moment after its controller said that it is made."""
    deadline = time.monotonic() + DEADLINE_S
    while (found := cluster.describe([name]).get(name)) is None or found.partition_count != partition_count:
        assert time.monotonic() < deadline, f"{name} has not {partition_count} partitions: {found}"
        time.sleep(0.05)


@pytest.fixture
def pair(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Pair:
    return Pair(tmp_path, east, west)


def test_a_copy_has_the_sources_partitions_and_settings_as_kafkas_own_tool_sees_them(
    pair: Pair, west: KafkaCluster, topic_name: TopicName
) -> None:
    topic = topic_name()
    pair.make(topic, 7, retention_ms="86400000", cleanup_policy="compact", min_insync_replicas="1")
    summary = pair.mirror(f"topics = {topic}")
    assert summary.failure() is None
    wait_for(pair.target, f"east.{topic}", 7)
    seen = west.tool("org.apache.kafka.tools.TopicCommand", "--describe", "--topic", f"east.{topic}")
    assert "PartitionCount: 7" in seen
    assert "ReplicationFactor: 1" in seen
    assert "retention.ms=86400000" in seen
    assert "cleanup.policy=compact" in seen
    set_here = {
        entry.name
        for entry in pair.target.configs([f"east.{topic}"])[f"east.{topic}"].values()
        if entry.source == "DYNAMIC_TOPIC_CONFIG"
    }
    assert set_here == {"retention.ms", "cleanup.policy"}


def test_a_second_run_changes_nothing_and_says_so(pair: Pair, topic_name: TopicName) -> None:
    topic = topic_name()
    pair.make(topic, 3, retention_ms="-1")
    lines = f"topics = {topic}\nheartbeats.replication.enabled = false"
    assert f"east.{topic}" in {creation.topic.name for creation in pair.mirror(lines).created}
    wait_for(pair.target, f"east.{topic}", 3)
    before = (pair.target.topics(), pair.target.configs([f"east.{topic}"]))
    again = pair.mirror(lines)
    assert again.changed_nothing
    assert (again.selected_count, again.failures) == (1, ())
    assert (pair.target.topics(), pair.target.configs([f"east.{topic}"])) == before


def test_many_topics_are_there_for_every_client_when_the_run_ends(pair: Pair, topic_name: TopicName) -> None:
    prefix = topic_name()
    names = [f"{prefix}-{number}" for number in range(60)]
    new = [NewTopic(name=name, partition_count=4, replication_factor=1) for name in names]
    assert set(pair.source.create_topics(new).values()) == {None}
    for name in names:
        wait_for(pair.source, name, 4)
    assert pair.mirror(f"topics = {prefix}.*").failures == ()
    found = pair.target.describe(f"east.{name}" for name in names)
    assert {topic.partition_count for topic in found.values()} == {4}
    assert len(found) == len(names)
    assert pair.mirror(f"topics = {prefix}.*").changed_nothing


def test_the_wait_for_new_topics_lasts_until_they_are_there_and_names_those_that_never_come(
    pair: Pair, topic_name: TopicName
) -> None:
    late, never = topic_name("late"), topic_name("never")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait_until_visible, pair.target, {late: 3})
        make(pair.target, late, 1)
        assert not waiting.done()
        assert pair.target.grow_topics({late: 3}) == {late: None}
        assert waiting.result(timeout=DEADLINE_S) == {}
    (error,) = wait_until_visible(pair.target, {late: 3, never: 1}, within_s=0).values()
    assert (error.about["topic"], error.about["cluster"]) == (never, "west")


def test_a_plan_carried_out_twice_changes_nothing_the_second_time(pair: Pair, topic_name: TopicName) -> None:
    new, grown = topic_name("new"), topic_name("grown")
    pair.make(new, 2)
    pair.make(grown, 4)
    make(pair.target, f"east.{grown}", 1)
    plan = TopicPlan.from_json(json.loads(json.dumps(pair.plan(f"topics = {new}, {grown}").to_json())))
    first = apply(plan, pair.source, pair.target)
    assert (first.failures, [growth.topic for growth in first.grown]) == ((), [f"east.{grown}"])
    wait_for(pair.target, f"east.{grown}", 4)
    wait_for(pair.target, f"east.{new}", 2)
    second = apply(plan, pair.source, pair.target)
    assert second.changed_nothing
    assert second.failures == ()


def test_a_topic_that_was_auto_created_after_the_plan_gets_its_partitions(pair: Pair, topic_name: TopicName) -> None:
    topic = topic_name()
    pair.make(topic, 5)
    plan = pair.plan(f"topics = {topic}")
    make(pair.target, f"east.{topic}", 1)
    assert [growth.topic for growth in apply(plan, pair.source, pair.target).grown] == [f"east.{topic}"]
    wait_for(pair.target, f"east.{topic}", 5)


def test_partitions_added_at_the_source_are_added_to_the_copy(pair: Pair, topic_name: TopicName) -> None:
    topic = topic_name()
    pair.make(topic, 2)
    pair.mirror(f"topics = {topic}")
    wait_for(pair.target, f"east.{topic}", 2)
    assert pair.source.grow_topics({topic: 6}) == {topic: None}
    wait_for(pair.source, topic, 6)
    (growth,) = pair.mirror(f"topics = {topic}").grown
    assert (growth.partition_count_now, growth.partition_count) == (2, 6)
    wait_for(pair.target, f"east.{topic}", 6)


def test_a_name_of_201_characters_is_copied_and_one_whose_copy_would_be_too_long_is_refused_by_name(
    pair: Pair, topic_name: TopicName
) -> None:
    long, too_long = topic_name().ljust(201, "x"), topic_name().ljust(249, "y")
    pair.make(long)
    pair.make(too_long)
    summary = pair.mirror(f"topics = {long}, {too_long}")
    wait_for(pair.target, f"east.{long}", 1)
    failure = summary.failure()
    assert isinstance(failure, TopicRefused)
    assert failure.about["topics"] == [too_long]
    assert "would have 254 characters, Kafka allows 249" in failure.message


def test_copies_do_not_come_back(pair: Pair, topic_name: TopicName) -> None:
    topic = topic_name()
    pair.make(topic)
    pair.mirror(f"topics = {topic}")
    wait_for(pair.target, f"east.{topic}", 1)
    back = discover(pair.flow(f"topics = .*{topic}", "west->east"), pair.target, pair.source)
    decision = next(decision for decision in back.decisions if decision.topic == f"east.{topic}")
    assert (decision.selected, decision.reason) == (False, f"cycle: `east.{topic}` came from east")
    assert [d.topic for d in back.decisions if d.selected and topic in d.topic] == []


def test_a_topic_that_the_target_refuses_leaves_the_others_alone(pair: Pair, topic_name: TopicName) -> None:
    refused, good = topic_name("refused"), topic_name("good")
    pair.make(refused)
    pair.make(good)
    # Kafka keeps names apart that differ only in `.` and `_`, because metrics cannot.
    make(pair.target, f"east_{refused}")
    summary = pair.mirror(f"topics = {refused}, {good}")
    wait_for(pair.target, f"east.{good}", 1)
    assert [failure.topic for failure in summary.failures] == [f"east.{refused}"]
    failure = summary.failure()
    assert isinstance(failure, TopicRefused)
    assert f"east_{refused}" in failure.message
    assert "topics.exclude" in failure.next_step


def test_a_replication_factor_that_is_set_and_cannot_be_had_is_an_error_that_names_the_option(
    pair: Pair, topic_name: TopicName
) -> None:
    topic = topic_name()
    pair.make(topic)
    failure = pair.mirror(f"topics = {topic}\nreplication.factor = 3").failure()
    assert isinstance(failure, TopicRefused)
    assert failure.about["topics"] == [f"east.{topic}"]
    assert "replication.factor" in failure.next_step


def test_a_default_replication_factor_bends_to_one_broker_with_a_notice(pair: Pair, topic_name: TopicName) -> None:
    topic = topic_name()
    pair.make(topic)
    summary = pair.mirror(f"topics = {topic}")
    assert summary.failures == ()
    assert any(notice.startswith("replication.factor is 2 by default") for notice in summary.notices)


def test_our_state_topics_are_made_once_and_keep_what_is_written(pair: Pair) -> None:
    flow = pair.flow("")
    ensure_internal(flow, pair.target)
    names = (naming.syncs_topic("east"), naming.control_topic("east"))
    for name in names:
        wait_for(pair.target, name, 1)
    before = pair.target.describe(names)
    ensure_internal(flow, pair.target)
    assert pair.target.describe(names) == before
    configs = pair.target.configs(names)
    assert {configs[name]["cleanup.policy"].value for name in names} == {"compact"}
    assert configs[names[1]]["message.timestamp.type"].value == "LogAppendTime"


def test_mm2s_syncs_topic_is_made_on_the_source_where_the_file_says_so(pair: Pair, topic_name: TopicName) -> None:
    pair.mirror(f"topics = {topic_name()}\noffset-syncs.topic.location = source")
    wait_for(pair.source, "mm2-offset-syncs.west.internal", 1)
    config = pair.source.configs(["mm2-offset-syncs.west.internal"])["mm2-offset-syncs.west.internal"]
    assert config["cleanup.policy"].value == "compact"


def test_a_state_topic_that_retention_would_empty_is_refused(pair: Pair, tmp_path: Path) -> None:
    servers = {"lost": pair.servers["east"], "west": pair.servers["west"]}
    flow = flow_from(tmp_path, clusters=servers, flow="lost->west")
    make(pair.target, naming.syncs_topic("lost"), cleanup_policy="delete")
    with pytest.raises(TopicRefused, match=r"cleanup\.policy=delete"):
        ensure_internal(flow, pair.target)
    with pytest.raises(TopicRefused, match=r"cleanup\.policy=delete"):
        discover(flow, pair.source, pair.target)


def test_a_size_that_the_sources_brokers_allow_is_allowed_for_the_copy(
    tmp_path: Path, west: KafkaCluster, fresh_clusters: Callable[..., tuple[KafkaCluster, ...]], topic_name: TopicName
) -> None:
    (roomy,) = fresh_clusters("roomy", properties={"message.max.bytes": "5000000"})
    pair = Pair(tmp_path, roomy, west)
    topic = topic_name()
    pair.make(topic)
    summary = pair.mirror(f"topics = {topic}")
    wait_for(pair.target, f"east.{topic}", 1)
    assert pair.target.configs([f"east.{topic}"])[f"east.{topic}"]["max.message.bytes"].value == "5000000"
    assert any("max.message.bytes=5000000 is set" in notice for notice in summary.notices)


@contextmanager
def arguments(pair: Pair, lines: str, *given: str) -> Iterator[argparse.Namespace]:
    """What the command `airmirror topics` gets."""
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    path = write_file(pair.directory, lines, clusters=pair.servers, flows=("east->west",))
    args = parser.parse_args(["topics", *given])
    args.config = path
    yield args


def test_a_dry_run_shows_every_decision_and_changes_nothing(
    pair: Pair, topic_name: TopicName, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = topic_name()
    pair.make(topic, 3)
    before = (pair.source.topics(), pair.target.topics())
    with arguments(pair, f"topics = {topic}", "east->west", "--dry-run") as args:
        assert args.run(args) == 0
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if line.strip().startswith(topic))
    assert f"selected: matches topics `{topic}`" in row
    assert f"east.{topic}" in row
    assert "create, 3 partitions" in row
    assert "Nothing was changed" in shown
    assert (pair.source.topics(), pair.target.topics()) == before
    with arguments(pair, f"topics = {topic}", "east-to-west", "--dry-run", "--json") as args:
        assert args.run(args) == 0
    document = json.loads(capsys.readouterr().out)
    assert {decision["topic"] for decision in document["decisions"]} == set(before[0])
    assert (pair.source.topics(), pair.target.topics()) == before


def test_the_command_makes_topics_once_and_then_has_nothing_to_do(
    pair: Pair, topic_name: TopicName, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = topic_name()
    pair.make(topic, 2, retention_ms="1000000")
    with arguments(pair, f"topics = {topic}", "east->west") as args:
        assert args.run(args) == 0
        assert "created, 2 partitions, retention.ms=1000000" in capsys.readouterr().out
        wait_for(pair.target, f"east.{topic}", 2)
        assert args.run(args) == 0
        assert "all are there, nothing to do" in capsys.readouterr().out


def test_the_command_prints_what_was_done_before_it_fails_for_the_rest(
    pair: Pair, topic_name: TopicName, capsys: pytest.CaptureFixture[str]
) -> None:
    refused, good = topic_name("refused"), topic_name("good")
    pair.make(refused)
    pair.make(good)
    make(pair.target, f"east_{refused}")
    with arguments(pair, f"topics = {refused}, {good}", "east->west", "--json") as args, pytest.raises(TopicRefused):
        args.run(args)
    document = json.loads(capsys.readouterr().out)
    assert f"east.{good}" in {creation["topic"]["name"] for creation in document["created"]}
    assert [failed["topic"] for failed in document["failed"]] == [f"east.{refused}"]


def test_the_command_does_not_touch_a_flow_that_is_not_enabled(pair: Pair) -> None:
    with arguments(pair, "", "west->east") as args, pytest.raises(UsageRefused, match="not enabled"):
        args.run(args)
