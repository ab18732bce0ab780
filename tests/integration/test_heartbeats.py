"""Heartbeats between real clusters: written as MM2 writes them, copied beside everything else and without Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from integration import records
from integration.copying import Mirrored
from mirror.cli.main import main
from mirror.config import Flow, load
from mirror.copy.claim import ClaimPolicy, take_claim
from mirror.copy.control import Control
from mirror.copy.execution import Executor
from mirror.copy.look import look
from mirror.errors import CopyIncomplete, UnknownFlow
from mirror.heartbeats import copy_heartbeats, emit, read_ages
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster, running


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KafkaCluster, KafkaCluster]]:
    """Not the session's: a heartbeats topic is selected by every flow of every test."""
    directory = tmp_path_factory.mktemp("heartbeats")
    here, there = (KafkaCluster(name, directory) for name in ("here", "there"))
    with running(here, there):
        yield here, there


@pytest.fixture
def mirrored(tmp_path: Path, clusters: tuple[KafkaCluster, KafkaCluster]) -> Mirrored:
    return Mirrored(tmp_path, *clusters)


def reverse(mirrored: Mirrored) -> Flow:
    """The pair of the other direction, which is not enabled."""
    return load(mirrored.config).flow("->".join(reversed(mirrored.aliases)))


def no_spark() -> Executor:
    raise AssertionError("heartbeats alone woke Spark")


def beats(cluster: KafkaCluster, topic: str, pair: tuple[str, str]) -> list[records.Seen]:
    """The records of one pair in a heartbeats topic, as read_committed readers see them."""
    key = b"".join(len(alias).to_bytes(2, "big") + alias.encode() for alias in pair)
    return [r for r in records.read(cluster.bootstrap_servers, [topic])[topic][0] if r.key == key]


def test_a_heartbeat_is_mm2s_record_in_mm2s_topic(mirrored: Mirrored) -> None:
    before_ms = int(time.time() * 1000)
    heartbeat = emit(mirrored.flow)
    assert heartbeat is not None
    assert heartbeat.timestamp_ms >= before_ms
    (seen,) = beats(mirrored.downstream, "heartbeats", mirrored.aliases)
    assert seen.value == bytes(2) + heartbeat.timestamp_ms.to_bytes(8, "big")
    assert seen.timestamp_ms == heartbeat.timestamp_ms
    assert mirrored.target.describe(["heartbeats"])["heartbeats"].partition_count == 1
    settings = mirrored.target.configs(["heartbeats"])["heartbeats"].values()
    own = {entry.name: entry.value for entry in settings if entry.source == "DYNAMIC_TOPIC_CONFIG"}
    assert own == {"cleanup.policy": "compact"}


def test_the_disabled_pairs_heartbeat_shows_that_the_enabled_flow_lives(mirrored: Mirrored) -> None:
    back = reverse(mirrored)
    assert not back.enabled
    written = emit(back)
    assert written is not None
    assert copy_heartbeats(mirrored.flow).record_count >= 1
    pair = (back.source, back.target)
    remote = mirrored.remote("heartbeats")
    (copied,) = beats(mirrored.downstream, remote, pair)
    (original,) = beats(mirrored.upstream, "heartbeats", pair)
    assert (copied.key, copied.value, copied.timestamp_ms) == (original.key, original.value, original.timestamp_ms)
    found = next(age for age in read_ages(mirrored.flow) if age.topic == remote and age.source == back.source)
    assert (found.hops, found.timestamp_ms) == ((mirrored.aliases[0],), written.timestamp_ms)


def test_each_heartbeat_is_copied_once(mirrored: Mirrored) -> None:
    back = reverse(mirrored)
    for _ in range(3):
        emit(back)
        copy_heartbeats(mirrored.flow).raise_if_incomplete()
    assert copy_heartbeats(mirrored.flow).record_count == 0
    assert len(beats(mirrored.downstream, mirrored.remote("heartbeats"), (back.source, back.target))) == 3


def test_the_copy_of_records_leaves_heartbeats_to_their_task_and_starts_no_spark_for_them(mirrored: Mirrored) -> None:
    emit(reverse(mirrored))
    mirrored.make_remote_topics()
    mirrored.copy(no_spark)
    seen = look(mirrored.flow)
    assert (seen.needs_slots, seen.has_work) == (False, False)
    result = mirrored.copy(no_spark)
    assert (result.partitions, dict(result.waiting)) == ((), {})
    assert beats(mirrored.downstream, mirrored.remote("heartbeats"), mirrored.aliases[::-1]) == []


def test_heartbeats_are_copied_while_another_run_holds_the_flow(mirrored: Mirrored) -> None:
    emit(reverse(mirrored))
    mirrored.mirror()
    control = Control(mirrored.links, mirrored.target)
    claim = take_claim(mirrored.links, control, "a-long-copy", 1, ClaimPolicy(renew_s=1.0), say=lambda _: None)
    try:
        assert copy_heartbeats(mirrored.flow).record_count >= 1
        newest = control.read().claim
        assert newest is not None
        assert newest.run == "a-long-copy"
    finally:
        claim.release()


def test_both_copies_at_once_lose_nothing_and_repeat_nothing(mirrored: Mirrored) -> None:
    """A copy with a window commits state into the topic in which the heartbeats' copy keeps its own."""
    topic = mirrored.topic("orders", 2)
    mirrored.make_remote_topics()
    back = reverse(mirrored)
    sent = 0
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(mirrored.copy, window_s=8.0)
        while not running.done():
            mirrored.write(topic, [records.Sent(key=b"k", value=str(sent).encode(), partition=sent % 2)])
            sent += 1
            emit(back)
            copy_heartbeats(mirrored.flow).raise_if_incomplete()
        running.result().raise_if_incomplete()
    mirrored.copy().raise_if_incomplete()
    assert sent >= 2
    mirrored.assert_equal(topic)
    assert len(beats(mirrored.downstream, mirrored.remote("heartbeats"), (back.source, back.target))) == sent
    states = mirrored.states()
    assert {TopicPartition(topic, 0), TopicPartition(topic, 1), TopicPartition("heartbeats", 0)} <= states.keys()


def test_what_the_file_switches_off_is_not_written_and_not_copied(mirrored: Mirrored) -> None:
    emit(reverse(mirrored))
    mirrored.configure("SOURCE->TARGET.emit.heartbeats.enabled = false\nheartbeats.replication.enabled = false")
    assert emit(mirrored.flow) is None
    assert beats(mirrored.downstream, "heartbeats", mirrored.aliases) == []
    result = copy_heartbeats(mirrored.flow)
    assert (result.partitions, result.record_count) == ((), 0)
    # The switch for a source that is only read: nothing is left of the pair that would write there.
    mirrored.configure("TARGET->SOURCE.emit.heartbeats.enabled = false")
    with pytest.raises(UnknownFlow):
        reverse(mirrored)


def test_the_command_does_it_for_every_pair_and_tells_ages(
    mirrored: Mirrored, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(*arguments: str) -> str:
        assert main(["--config", str(mirrored.config), "heartbeats", *arguments]) == 0
        return capsys.readouterr().out

    there, back = mirrored.flow.id, reverse(mirrored).id
    alone = command(there)
    assert f"{there}: wrote a heartbeat, copied" in alone
    document = json.loads(command("--json"))
    by_flow = {each["flow"]: each for each in document["flows"]}
    assert (by_flow.keys(), document["errors"]) == ({there, back}, [])
    assert by_flow[back]["copied"] is None
    remote = mirrored.remote("heartbeats")
    (age,) = (h for h in by_flow[there]["heartbeats"] if h["topic"] == remote and h["pair"] == back)
    assert age["timestamp_ms"] == by_flow[back]["emitted_ms"]
    assert 0 <= age["age_seconds"] < 600
    assert f"{back}: wrote a heartbeat, copied none, since the flow is not enabled." in command()


def test_a_flow_without_a_heartbeat_from_its_source_names_the_command_that_writes_one(
    tmp_path: Path,
    clusters: tuple[KafkaCluster, KafkaCluster],
    capsys: pytest.CaptureFixture[str],
) -> None:
    mirrored = Mirrored(tmp_path, clusters[0], clusters[1], "heartbeats.replication.enabled = false")
    assert main(["--config", str(mirrored.config), "heartbeats", mirrored.flow.slug]) == 0
    back = reverse(mirrored).id
    assert f"airmirror heartbeats '{back}'" in capsys.readouterr().out


def test_the_task_writes_and_copies_for_an_enabled_flow_and_only_writes_for_a_pair(mirrored: Mirrored) -> None:
    from mirror.airflow.upkeep_tasks import emit_heartbeats

    back = emit_heartbeats(reverse(mirrored))
    assert back["copied"] is None
    there = emit_heartbeats(mirrored.flow)
    assert there["copied"] >= 1
    newest = {h["pair"]: h["timestamp_ms"] for h in there["heartbeats"] if h["hops"] == [mirrored.aliases[0]]}
    assert newest[back["flow"]] == back["emitted_ms"]


@pytest.mark.long("topics made anew are tested with data")
def test_a_heartbeats_topic_made_anew_stops_until_a_person_resumes_it(
    mirrored: Mirrored, capsys: pytest.CaptureFixture[str]
) -> None:
    back = reverse(mirrored)
    emit(back)
    copy_heartbeats(mirrored.flow).raise_if_incomplete()
    mirrored.delete_source_topic("heartbeats")
    emit(back)
    with pytest.raises(CopyIncomplete) as stopped:
        copy_heartbeats(mirrored.flow).raise_if_incomplete()
    assert f"airmirror resume '{mirrored.flow.id}' --topic heartbeats" in stopped.value.next_step
    command = ("resume", mirrored.flow.id, "--topic", "heartbeats", "--restart", "--yes")
    assert main(["--config", str(mirrored.config), *command]) == 0
    copy_heartbeats(mirrored.flow).raise_if_incomplete()
    assert len(beats(mirrored.downstream, mirrored.remote("heartbeats"), (back.source, back.target))) == 2
