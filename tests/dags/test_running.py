"""The Dags of an active/active file on a real Airflow, Spark and Kafka: what they copy, skip, refuse and tell."""

from __future__ import annotations

import os
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from dags.airflow_world import ODD, OWN, SLOW, AirflowWorld, wait_until
from integration import records
from integration.records import Sent, numbered
from mirror.copy.claim import ClaimPolicy, take_claim
from mirror.copy.control import Control
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.copy.links import links_of
from mirror.kafka.cluster import Cluster
from mirror.topics import ensure_internal
from world.demo.dag_runs import start_others, wait_until_green
from world.kafka import KafkaCluster
from world.progress import Progress

pytestmark = pytest.mark.slow


def ends(cluster: KafkaCluster, topic_part: str) -> dict[str, int]:
    """End offsets of all partitions of topics whose name has this part."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    found = {name: topic for name, topic in admin.list_topics(timeout=30).topics.items() if topic_part in name}
    asked = {TopicPartition(name, number): OffsetSpec.latest() for name, t in found.items() for number in t.partitions}
    return {f"{p.topic}-{p.partition}": f.result(30).offset for p, f in admin.list_offsets(asked).items()}


@pytest.fixture(scope="module")
def both_ways(airflow_world: AirflowWorld) -> dict[str, dict[str, Any]]:
    """Both directions' Dags, run once: per flow the summary that its copy returned."""
    world = airflow_world
    for cluster, name, count in ((world.east, "both-orders", 1200), (world.west, "both-payments", 700)):
        world.create(cluster, world.topic(name))
        world.write(cluster, world.topic(name), numbered(count, partitions=2, size=100))
    summaries = {}
    flows = ("east-to-west", "west-to-east")
    for kind in ("topics", "copy"):
        runs = {flow: world.trigger(f"{flow}.{kind}") for flow in flows}
        for flow, run in runs.items():
            dag = f"{flow}.{kind}"
            assert world.rest.wait_run(dag, run, 300) == "success", world.states(dag, run)
            assert set(world.states(dag, run).values()) == {"success"}
            if kind == "copy":
                summaries[flow] = world.rest.xcom(dag, run, "copy")
    return summaries


def test_airflow_reads_the_dags_without_error(airflow_world: AirflowWorld) -> None:
    wanted = {f"{alias}-to-west.{kind}" for alias in ("east", *SLOW, *ODD) for kind in ("topics", "copy")}
    wait_until(lambda: wanted <= set(airflow_world.rest.dags()), "the Dags of every flow")
    assert airflow_world.rest.import_errors() == []


@pytest.mark.parametrize(
    ("flow", "label", "count"), [("east-to-west", "both-orders", 1200), ("west-to-east", "both-payments", 700)]
)
def test_summaries_say_what_a_reader_of_the_target_counts(
    airflow_world: AirflowWorld, both_ways: dict[str, dict[str, Any]], flow: str, label: str, count: int
) -> None:
    source, _, target = flow.partition("-to-")
    remote = f"{source}.{airflow_world.topic(label)}"
    cluster = airflow_world.west if target == "west" else airflow_world.east
    recounted = records.read(cluster.bootstrap_servers, [remote])[remote]
    summary = both_ways[flow]
    assert summary["records"] == records.count(recounted) == count
    listed = {p["partition"]: p["records"] for p in summary["partitions"] if p["remote_topic"] == remote}
    assert listed == {number: len(found) for number, found in recounted.items()}
    assert (summary["lag_records"], summary["lag_seconds"], summary["partitions_stopped"]) == (0, 0.0, 0)


def test_a_copy_is_told_as_an_event_of_the_flows_asset(
    airflow_world: AirflowWorld, both_ways: dict[str, dict[str, Any]]
) -> None:
    answer = airflow_world.rest.get("/api/v2/assets/events", source_dag_id="east-to-west.copy")
    (event,) = answer["asset_events"]
    assert event["uri"] == "airmirror://east/west"
    summary = both_ways["east-to-west"]
    told = ("records", "bytes", "run", "lag_records", "lag_seconds")
    assert {key: event["extra"][key] for key in told} == {key: summary[key] for key in told}
    assert event["extra"]["partitions"] == 2


def test_a_run_with_nothing_to_do_starts_no_spark_and_writes_nothing(
    airflow_world: AirflowWorld, both_ways: dict[str, dict[str, Any]]
) -> None:
    before = ends(airflow_world.west, airflow_world.prefix)
    assert sum(before.values()) > 0
    run, state = airflow_world.run("east-to-west.copy")
    assert state == "success"
    assert airflow_world.states("east-to-west.copy", run) == {"look": "success", "copy": "skipped"}
    assert airflow_world.rest.xcom("east-to-west.copy", run, "look")["offsets_to_copy"] == 0
    run, state = airflow_world.run("east-to-west.topics")
    assert airflow_world.states("east-to-west.topics", run) == {"discover": "success", "create_topics": "skipped"}
    assert ends(airflow_world.west, airflow_world.prefix) == before


def test_the_dags_that_the_demo_starts_beside_its_copies_are_green(
    airflow_world: AirflowWorld, both_ways: dict[str, dict[str, Any]]
) -> None:
    world = airflow_world
    started = start_others(world.rest, [world.flow("east-to-west")])
    assert {f"east-to-west.{kind}" for kind in ("configs", "groups")} <= set(started)
    wait_until_green(world.rest, started, world.airflow.home, Progress())


@pytest.mark.long("Spark inside Airflow, which copies show, too")
def test_a_policy_a_filter_and_a_function_of_ones_own_work_in_the_dags(airflow_world: AirflowWorld) -> None:
    world, topic = airflow_world, airflow_world.topic(OWN)
    world.create(world.east, topic)
    plain = numbered(40, partitions=2)
    internal = Sent(value=b"not for others", headers=(("internal", b""),))
    world.write(world.east, topic, [*plain[:20], internal, *plain[20:]])
    for dag in (f"{OWN}-to-west.topics", f"{OWN}-to-west.copy"):
        run, state = world.run(dag)
        assert (state, set(world.states(dag, run).values())) == ("success", {"success"}), world.states(dag, run)
    remote = f"{topic}-copied-from-{OWN}"
    copied = records.read(world.west.bootstrap_servers, [remote])[remote]
    assert {n: [r.value for r in found] for n, found in copied.items()} == {
        n: [sent.value for sent in plain if sent.partition == n] for n in (0, 1)
    }


def test_a_form_that_asks_for_other_topics_copies_none(
    airflow_world: AirflowWorld, both_ways: dict[str, dict[str, Any]]
) -> None:
    topic = airflow_world.topic("both-orders")
    airflow_world.write(airflow_world.east, topic, numbered(2, start=1200, partitions=2))
    run, state = airflow_world.run("east-to-west.copy", {"topics": "something-else"})
    assert (state, airflow_world.states("east-to-west.copy", run)["copy"]) == ("success", "skipped")


def test_a_mistyped_param_is_refused_without_a_retry(airflow_world: AirflowWorld) -> None:
    run, state = airflow_world.run("east-to-west.copy", {"topic": "orders"})
    assert state == "failed"
    assert airflow_world.task("east-to-west.copy", run, "look")["try_number"] == 1
    assert "unknown params: topic; known: topics, window" in airflow_world.log("east-to-west.copy", run, "look")


def test_a_flow_that_another_run_copies_is_left_to_it(airflow_world: AirflowWorld) -> None:
    world, topic, flow = airflow_world, airflow_world.topic("held"), airflow_world.flow("held->west")
    world.create(world.east, topic)
    world.write(world.east, topic, numbered(10))
    links = links_of(flow)
    target = Cluster(flow.target, links.target_admin)
    ensure_internal(flow, target)
    world.create(world.west, f"held.{topic}")
    policy = ClaimPolicy(on_held="skip", renew_s=1)
    held = take_claim(links, Control(links, target), "somebody", 1, policy, lambda _: None)
    try:
        run, state = world.run("held-to-west.copy")
    finally:
        held.release()
    assert (state, world.states("held-to-west.copy", run)) == ("success", {"look": "skipped", "copy": "skipped"})
    assert "held->west is being copied by run somebody" in world.log("held-to-west.copy", run, "look")


@pytest.mark.long("Spark inside Airflow, which copies show, too")
def test_a_record_that_the_target_refuses_fails_the_run_at_once_and_is_named(airflow_world: AirflowWorld) -> None:
    world, topic = airflow_world, airflow_world.topic("picky")
    world.create(world.east, topic, max_message_bytes="3000000")
    world.create(world.west, f"picky.{topic}", max_message_bytes="100000")
    good = numbered(20, partitions=2)
    large = Sent(value=os.urandom(300_000), key=b"large", partition=1)
    world.write(world.east, topic, [*good, large, *numbered(20, start=20, partitions=2)])
    run, state = world.run("picky-to-west.copy")
    assert state == "failed"
    copy = world.task("picky-to-west.copy", run, "copy")
    assert (copy["state"], copy["try_number"]) == ("failed", 1)
    log = world.log("picky-to-west.copy", run, "copy")
    assert f"{topic}-1, copied up to offset 10" in log
    assert "airmirror resume" in log
    summary = world.rest.xcom("picky-to-west.copy", run, "copy")
    assert summary["partitions_stopped"] == 1
    assert {p["partition"]: p["to"] for p in summary["partitions"]} == {0: 20, 1: 10}
    copied = records.read(world.west.bootstrap_servers, [f"picky.{topic}"])[f"picky.{topic}"]
    assert {number: len(found) for number, found in copied.items()} == {0: 20, 1: 10}


def test_a_stopped_topic_does_not_hide_behind_runs_that_found_nothing_new(airflow_world: AirflowWorld) -> None:
    world, topic, flow = airflow_world, airflow_world.topic("anew"), airflow_world.flow("anew->west")
    world.create(world.east, topic, 1)
    world.write(world.east, topic, numbered(5))
    world.create_remote_topics(flow)
    assert run_copy(flow, CopyRequest(), InProcessExecutor).record_count == 5
    admin = AdminClient({"bootstrap.servers": world.east.bootstrap_servers})
    admin.delete_topics([topic])[topic].result(30)
    world.create(world.east, topic, 1)
    run, state = world.run("anew-to-west.copy")
    assert state == "failed"
    assert world.states("anew-to-west.copy", run) == {"look": "failed", "copy": "upstream_failed"}
    assert world.task("anew-to-west.copy", run, "look")["try_number"] == 1
    log = world.log("anew-to-west.copy", run, "look")
    assert f"{topic}-0" in log
    assert "was deleted and made again" in log
    assert f"airmirror resume 'anew->west' --topic {topic} --restart" in log
