"""Brokers that die in mid-copy: the run, or the next one, goes on when they are back; nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicCollection

from faults.scenario import IS_LONG, LINES, REPEATS, Scenario
from integration.copying import admin
from integration.records import DEADLINE_S
from mirror.copy.spec import transactional_id
from world.kafka import Broker, KafkaCluster

pytestmark = [
    pytest.mark.skipif(not IS_LONG, reason="in make test-faults: brokers take their time to come back"),
    pytest.mark.parametrize("round_", range(min(REPEATS, 2))),  # of one to two minutes each
]

# A broker that comes back takes five to ten seconds: transactions must outlive it, or each is a retry.
PATIENT = LINES.replace("timeout.ms = 10000", "timeout.ms = 60000")

# Long enough for two transactions on a busy machine, and for a broker to come back while the run is on.
WINDOW_S = 30

Clusters = Callable[..., tuple[KafkaCluster, ...]]
Build = Callable[..., Scenario]


@pytest.fixture
def build(tmp_path: Path, fresh_clusters: Clusters) -> Iterator[Build]:
    """A scenario on clusters of its own."""
    made: list[Scenario] = []

    def start(*, target_brokers: int = 1) -> Scenario:
        (source,) = fresh_clusters("source")
        (target,) = fresh_clusters("target", brokers=target_brokers)
        lines = PATIENT + f"replication.factor = {target_brokers}\n"
        made.append(Scenario(tmp_path, source, target, lines=lines))
        return made[-1]

    yield start
    for scenario in made:
        scenario.runs.end()


def strike(scenario: Scenario, victim: Callable[[], Broker], point: str, *, comes_back: bool = True) -> None:
    """Kill a broker when a slot reaches a point of its second transaction; the run, or the next one, goes on."""
    seen = scenario.runs.fault(point, 2, what="note")
    with scenario.growing():
        run = scenario.runs.command(seen, window_s=WINDOW_S)
        run.assert_reaches(seen)
        broker = victim()
        broker.kill()
        if comes_back:
            broker.start()
            broker.wait_until_ready()
        code = run.wait()
        assert code in (0, 1), run.output[-3000:]
        scenario.assert_prefix()
        scenario.runs.in_process(window_s=1).assert_ends(0)
    scenario.assert_exact()


@pytest.mark.parametrize("point", ["produced", "flushed", "syncs-sent", "committed"])
def test_a_target_broker_killed_in_mid_copy(build: Build, point: str, round_: int) -> None:
    scenario = build()
    strike(scenario, lambda: scenario.mirrored.downstream.brokers[0], point)


@pytest.mark.parametrize("point", ["produced", "committed"])
def test_a_source_broker_killed_in_mid_copy(build: Build, point: str, round_: int) -> None:
    scenario = build()
    strike(scenario, lambda: scenario.mirrored.upstream.brokers[0], point)


def broker_of(cluster: KafkaCluster, node: int) -> Broker:
    return next(broker for broker in cluster.brokers if broker.node.id == node)


def leaders_of(cluster: KafkaCluster, topic: str) -> list[int]:
    client = admin(cluster)  # kept: an admin client that goes out of scope fails its own futures
    described = client.describe_topics(TopicCollection([topic]))[topic].result(DEADLINE_S)
    return [partition.leader.id for partition in described.partitions]


def leader_of_a_remote_partition(scenario: Scenario) -> Broker:
    cluster = scenario.mirrored.downstream
    topic = scenario.mirrored.remote(next(iter(scenario.counts)))
    return broker_of(cluster, leaders_of(cluster, topic)[0])


def coordinator_of_the_first_slot(scenario: Scenario) -> Broker:
    """The leader of the partition of the transaction log that holds slot 0's id."""
    cluster = scenario.mirrored.downstream
    id_ = transactional_id(scenario.mirrored.links.flow_key, 0)
    leaders = leaders_of(cluster, "__transaction_state")
    return broker_of(cluster, leaders[abs(java_hash(id_)) % len(leaders)])


def java_hash(text: str) -> int:
    """String.hashCode, by which brokers find an id's place in their log."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


@pytest.mark.parametrize("victim", [leader_of_a_remote_partition, coordinator_of_the_first_slot])
@pytest.mark.parametrize("point", ["flushed", "syncs-sent"])
def test_a_leader_killed_among_three_brokers(
    build: Build, victim: Callable[[Scenario], Broker], point: str, round_: int
) -> None:
    scenario = build(target_brokers=3)
    strike(scenario, lambda: victim(scenario), point, comes_back=False)
