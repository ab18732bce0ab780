"""Whose turn it is: another run's claim sends a task away, an earlier try's is waited out."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.airflow.runs import TaskRun, wait_for_turn
from mirror.config import Flow
from mirror.copy.claim import ClaimPolicy, HeldClaim, take_claim
from mirror.copy.control import Control
from mirror.copy.links import links_of
from mirror.errors import ClaimHeld
from mirror.kafka.cluster import Cluster
from mirror.topics import ensure_internal
from world.kafka import KafkaCluster


@pytest.fixture
def flow(tmp_path: Path, east: KafkaCluster, west: KafkaCluster, topic_name: object) -> Flow:
    alias = topic_name("alias").rsplit("-", 1)[1]  # type: ignore[operator]  # the fixture is a function
    servers = {alias: east.bootstrap_servers, "west": west.bootstrap_servers}
    lines = "replication.factor = 1\nairmirror.claim.renew.seconds = 1\n"
    return flow_from(tmp_path, lines, clusters=servers, flow=f"{alias}->west")


def claim(flow: Flow, run: str) -> HeldClaim:
    links = links_of(flow)
    target = Cluster(flow.target, links.target_admin)
    ensure_internal(flow, target)
    policy = ClaimPolicy(on_held="skip", renew_s=1)
    return take_claim(links, Control(links, target), run, 1, policy, lambda _: None)


def try_of(dag_run: str, number: int) -> TaskRun:
    return TaskRun(dag_run=dag_run, try_number=number, topics="", window_s=0, by="a test")


def test_a_flow_that_nobody_claims_is_free(flow: Flow) -> None:
    claim(flow, "somebody").release()
    wait_for_turn(flow, try_of("manual", 1), print)


def test_a_living_claim_of_another_run_sends_a_task_away(flow: Flow) -> None:
    held = claim(flow, "somebody")
    try:
        with pytest.raises(ClaimHeld, match="is being copied by run somebody"):
            wait_for_turn(flow, try_of("manual", 2), print)
    finally:
        held.release()


def test_a_living_earlier_try_is_waited_for(flow: Flow) -> None:
    held = claim(flow, try_of("manual", 1).id)
    said: list[str] = []
    waiter = threading.Thread(target=wait_for_turn, args=(flow, try_of("manual", 2), said.append), daemon=True)
    waiter.start()
    waiter.join(4)  # longer than a claim lives without a sign of life
    assert waiter.is_alive()
    held.release()
    waiter.join(30)
    assert not waiter.is_alive()
    assert len(said) == 1
    assert "waiting for an earlier try" in said[0]


def test_a_killed_earlier_try_is_waited_for_until_it_counts_as_dead(flow: Flow) -> None:
    held = claim(flow, try_of("manual", 1).id)
    held._ended.set()  # no more signs of life, and no word of its end: as after kill -9
    waiter = threading.Thread(target=wait_for_turn, args=(flow, try_of("manual", 2), print), daemon=True)
    waiter.start()
    waiter.join(30)
    assert not waiter.is_alive()
