"""MirrorMaker 1's two files replicate, and the mm2.properties that is printed for them does the same."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as ClientTopicPartition

from integration import records
from integration.command import Outcome, slots_in_threads
from integration.copying import make_topic
from integration.records import numbered
from mirror.cli import copy
from mirror.cli.main import main
from mirror.kafka.cluster import Cluster
from mirror.operations.legacy import run as rounds
from world.kafka import KafkaCluster

Run = Callable[..., Outcome]


class Pair:
    """A MirrorMaker 1 of one test: its files, its group, and aliases under which nobody else keeps state."""

    def __init__(self, directory: Path, east: KafkaCluster, west: KafkaCluster) -> None:
        mark = uuid.uuid4().hex[:6]
        self.directory, self.east, self.west = directory, east, west
        self.prefix, self.group = f"mm1-{mark}", f"mirrormaker-{mark}"
        self.aliases = ("--source", f"old-{mark}", "--target", f"new-{mark}")
        self.flow = f"old-{mark}->new-{mark}"
        self.consumer, self.producer = directory / "consumer.properties", directory / "producer.properties"
        self.consumer.write_text(
            f"bootstrap.servers={east.bootstrap_servers}\ngroup.id={self.group}\nauto.offset.reset=earliest\n"
            "key.deserializer=org.apache.kafka.common.serialization.ByteArrayDeserializer\n"
        )
        self.producer.write_text(f"bootstrap.servers={west.bootstrap_servers}\nacks=all\nlinger.ms=5\n")
        self.source = Cluster("east", {"bootstrap.servers": east.bootstrap_servers})

    @property
    def arguments(self) -> tuple[str, ...]:
        files = ("--consumer.config", str(self.consumer), "--producer.config", str(self.producer))
        return (*files, *self.aliases, "--num.streams", "2", "--whitelist", f"{self.prefix}.*")

    def topic(self, label: str, partition_count: int = 1) -> str:
        name = f"{self.prefix}-{label}"
        make_topic(self.source, name, partition_count)
        return name

    def read(self, topic: str) -> tuple[records.Topic, records.Topic]:
        here, there = (records.read(c.bootstrap_servers, [topic])[topic] for c in (self.east, self.west))
        return here, there

    def commit(self, topic: str, offset: int) -> Consumer:
        """What MirrorMaker 1 left: an offset of its group."""
        client = Consumer({"bootstrap.servers": self.east.bootstrap_servers, "group.id": self.group})
        client.commit(offsets=[ClientTopicPartition(topic, 0, offset)], asynchronous=False)
        return client


@pytest.fixture
def pair(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Pair:
    return Pair(tmp_path, east, west)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    slots_in_threads(monkeypatch)
    monkeypatch.setattr("mirror.cli.legacy.make_executor", copy.make_executor)

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = main(list(arguments))
        told = capsys.readouterr()
        return Outcome(code, told.out, told.err)

    return call


def test_a_pair_of_files_replicates_and_the_printed_file_does_the_same(pair: Pair, run: Run) -> None:
    topic = pair.topic("orders", 3)
    records.write(pair.east.bootstrap_servers, topic, numbered(300, partitions=3))
    done = run("legacy", *pair.arguments, "--drain")
    assert done.code == 0, done.err
    assert not records.first_difference(*pair.read(topic))

    printed = run("legacy", *pair.arguments, "--print-config")
    assert printed.code == 0, printed.err
    config = pair.directory / "mm2.properties"
    config.write_text(printed.out)
    other = pair.topic("users")
    records.write(pair.east.bootstrap_servers, topic, numbered(50, start=300, partitions=3))
    records.write(pair.east.bootstrap_servers, other, numbered(20))
    for command in ("topics", "copy", "verify"):
        done = run("--config", str(config), command, pair.flow)
        assert done.code == 0, f"{command}: {done.out}{done.err}"
    for name, count in ((topic, 350), (other, 20)):
        here, there = pair.read(name)
        assert records.count(here) == count
        assert not records.first_difference(here, there)


def test_it_goes_on_from_the_offsets_that_mirrormaker_1_committed(pair: Pair, run: Run) -> None:
    topic, fresh = pair.topic("taken-over"), pair.topic("fresh")
    for name in (topic, fresh):
        records.write(pair.east.bootstrap_servers, name, numbered(100))
    # What MirrorMaker 1 copied before it was stopped.
    make_topic(Cluster("west", {"bootstrap.servers": pair.west.bootstrap_servers}), topic)
    records.write(pair.west.bootstrap_servers, topic, numbered(60))
    pair.commit(topic, 60).close()

    printed = run("legacy", *pair.arguments, "--print-config")
    assert f"airmirror.start = {topic}:0:60" in printed.out
    done = run("legacy", *pair.arguments, "--drain")
    assert done.code == 0, done.err
    values = [record.value for record in pair.read(topic)[1][0]]
    assert values == [record.value for record in numbered(100)]
    assert records.count(pair.read(fresh)[1]) == 100
    assert "goes on where it stopped" in run("legacy", *pair.arguments, "--drain").err


def test_a_mirrormaker_1_that_still_runs_is_refused(pair: Pair, run: Run) -> None:
    topic = pair.topic("running")
    records.write(pair.east.bootstrap_servers, topic, numbered(10))
    still = Consumer(
        {"bootstrap.servers": pair.east.bootstrap_servers, "group.id": pair.group, "auto.offset.reset": "earliest"}
    )
    try:
        still.subscribe([topic])
        assert still.consume(1, records.DEADLINE_S)
        done = run("legacy", *pair.arguments, "--drain")
    finally:
        still.close()
    assert done.code == 1
    assert "MirrorMaker 1 still runs" in done.err


@pytest.mark.long("rounds at their own pace")
def test_rounds_go_on_with_what_arrives_until_interrupted(
    pair: Pair, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = pair.topic("growing")
    records.write(pair.east.bootstrap_servers, topic, numbered(10))
    taken: list[int] = []
    once = rounds.run_copy

    def between(*arguments: object, **more: object) -> object:
        if len(taken) == 3:
            raise KeyboardInterrupt
        result = once(*arguments, **more)  # type: ignore[arg-type]
        taken.append(result.record_count)
        if len(taken) == 1:
            pair.topic("late")
            for name in (topic, f"{pair.prefix}-late"):
                records.write(pair.east.bootstrap_servers, name, numbered(5))
        return result

    monkeypatch.setattr(rounds, "run_copy", between)
    monkeypatch.setattr(rounds, "ROUND_S", 0.5)
    done = run("legacy", *pair.arguments)
    assert done.code == 130
    assert sum(taken) == 20
    assert taken[0] == 10
