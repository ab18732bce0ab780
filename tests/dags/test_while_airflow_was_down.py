"""Airflow is down when a flow fails over, and comes back late: its Dags run as scheduled, and change nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dags.airflow_world import DOWNED, AirflowWorld, wait_until
from dags.operated import Operated
from integration.group_reading import committed
from mirror.copy.control import Control
from mirror.copy.gate import read_direction
from mirror.kafka.configs import SettingChange, alter_settings

pytestmark = [pytest.mark.long("Airflow is stopped and started"), pytest.mark.timeout(900)]

KINDS = ("topics", "configs", "acls", "copy", "groups", "heartbeats")
FIRST_TASKS = {
    "topics": "discover",
    "configs": "sync_configs",
    "acls": "sync_acls",
    "copy": "look",
    "groups": "checkpoints",
    "heartbeats": "emit",
}
FINAL = ("success", "failed")
AIRMIRROR = Path(sys.executable).with_name("airmirror")


@dataclass(frozen=True)
class Scheduled:
    """A flow whose Dags run by their own schedules, and what stands on its target."""

    world: AirflowWorld
    flow: Operated
    topic: str
    group: str

    def dag(self, kind: str) -> str:
        return f"{DOWNED}-to-west.{kind}"

    def runs(self, kind: str) -> list[dict[str, Any]]:
        answer = self.world.rest.get(f"/api/v2/dags/{self.dag(kind)}/dagRuns", order_by="-id")
        return list(answer["dag_runs"])

    def ended(self, kind: str, since: datetime) -> dict[str, str]:
        """The Dag's runs that began since then and ended, with their states."""
        return {
            run["dag_run_id"]: run["state"]
            for run in self.runs(kind)
            if run["state"] in FINAL and datetime.fromisoformat(run["start_date"]) >= since
        }

    def is_quiet(self) -> bool:
        """Airflow takes minutes to find that a task which it stopped with has died: it is stopped between runs."""
        return all(run["state"] in FINAL for kind in KINDS for run in self.runs(kind))

    def type(self, *words: str) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("AIRMIRROR", "AIRFLOW"))}
        done = subprocess.run(
            [str(AIRMIRROR), "--config", str(self.world.config), *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def standing(self) -> Mapping[str, Any]:
        """Everything on the target that a late task could change."""
        control = Control(self.flow.links, self.flow.target).read()
        return {
            "ends": self.flow.target_ends(),
            "topics": sorted(self.flow.target.topic_names()),
            "settings": self.flow.target.configs([self.flow.remote(self.topic)]),
            "group": committed(self.flow.there, self.group),
            "state": control.direction,
            "claim": control.claim,
            "operations": control.operations,
        }


@pytest.fixture
def scheduled(airflow_world: AirflowWorld) -> Iterator[Scheduled]:
    """Every Dag of the flow has run by itself, and the topic is copied with its group."""
    world, flow = airflow_world, Operated(airflow_world, DOWNED)
    topic = flow.topic("orders", 2)
    flow.write_here(topic, "before", (20, 20))
    found, began = Scheduled(world, flow, topic, flow.group("billing")), datetime.now(UTC)
    flow.consume("here", found.group, topic, {0: 5, 1: 5})
    flow.make_remote_topics()
    wait_until(lambda: {found.dag(kind) for kind in KINDS} <= set(world.rest.dags()), "the flow's Dags")
    for kind in KINDS:
        world.rest.pause(found.dag(kind), False)
    try:
        wait_until(lambda: all(found.ended(kind, began) for kind in KINDS), "a run of each Dag", 300)
        wait_until(lambda: committed(flow.there, found.group) != {}, "the group on the target", 300)
        yield found
    finally:
        if not world.rest.health():
            world.start_again()
        for kind in KINDS:
            world.rest.pause(found.dag(kind))


def test_a_failover_while_airflow_was_down_stays_as_it_was_when_it_comes_back(scheduled: Scheduled) -> None:
    world, flow, topic = scheduled.world, scheduled.flow, scheduled.topic
    copied = next(
        run["dag_run_id"]
        for run in scheduled.runs("copy")
        if world.states(scheduled.dag("copy"), run["dag_run_id"])["copy"] == "success"
    )
    wait_until(scheduled.is_quiet, "a moment between runs")
    world.airflow.stop()
    assert world.rest.health() == {}
    flow.write_here(topic, "last", (7, 6))
    scheduled.type("failover", flow.flow.id, "--yes")
    flow.assert_equal(topic)
    flow.assert_not_late("there", topic)

    # Work goes on there; and here something strays for each Dag to carry over: records, a topic, a setting, a group.
    flow.write_there(topic, "there", (5, 5))
    flow.consume("there", scheduled.group, topic, {0: 24, 1: 24})
    flow.write_here(topic, "stray", (3, 3))
    flow.topic("stray")
    longer = SettingChange(name="retention.ms", value="123456789", operation="set")
    assert alter_settings(flow.source, {topic: [longer]}) == {topic: None}
    flow.consume("here", scheduled.group, topic, {0: None, 1: None})
    before = scheduled.standing()
    direction = read_direction(flow.links, flow.target)
    assert direction is not None
    assert (direction.state, direction.by) == ("failed-over", "airmirror failover")

    back = datetime.now(UTC)
    world.start_again()
    wait_until(lambda: all(scheduled.ended(kind, back) for kind in KINDS), "a run of each Dag after the start", 400)
    for kind in KINDS:
        for run, state in scheduled.ended(kind, back).items():
            states = world.states(scheduled.dag(kind), run)
            assert (state, set(states.values())) == ("success", {"skipped"}), (kind, states)
            first = world.task(scheduled.dag(kind), run, FIRST_TASKS[kind])
            log = world.log(scheduled.dag(kind), run, first["task_id"], first["try_number"])
            assert f"{flow.flow.id} is failed over since" in log, kind
            assert "airmirror failover" in log, kind
    # Also who has an old run's copy done again, past the look.
    world.clear(scheduled.dag("copy"), copied, "copy")
    assert world.rest.wait_run(scheduled.dag("copy"), copied, 300) == "success"
    assert world.states(scheduled.dag("copy"), copied)["copy"] == "skipped"
    assert scheduled.standing() == before
