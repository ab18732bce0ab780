"""The groups Dag on a real Airflow: what it moves, what it leaves alone and why, and when it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dags.airflow_world import AirflowWorld, wait_until
from integration.group_reading import commit, committed, member
from integration.records import numbered
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition

pytestmark = pytest.mark.slow

DAG = "grouped-to-west.groups"


class Grouped:
    """One copied topic, and groups of every kind that the summary tells apart."""

    def __init__(self, world: AirflowWorld) -> None:
        self.world = world
        self.topic, self.flow = world.topic("grouped"), world.flow("grouped->west")
        self.remote = f"grouped.{self.topic}"
        self.east = GroupCluster("east", {"bootstrap.servers": world.east.bootstrap_servers})
        self.west = GroupCluster("west", {"bootstrap.servers": world.west.bootstrap_servers})
        self.idle, self.ahead, self.busy = (world.topic(f"{kind}-group") for kind in ("idle", "ahead", "busy"))

    def prepare(self) -> None:
        world = self.world
        world.create(world.east, self.topic)
        world.write(world.east, self.topic, numbered(40, partitions=2))
        world.create_remote_topics(self.flow)
        assert run_copy(self.flow, CopyRequest(), InProcessExecutor).record_count == 40
        for group in (self.idle, self.ahead, self.busy, f"other-{self.idle}"):
            commit(self.east, group, {TopicPartition(self.topic, n): Committed(5 + n) for n in (0, 1)})
        commit(self.west, self.ahead, {TopicPartition(self.remote, n): Committed(19) for n in (0, 1)})

    def there(self, group: str) -> dict[int, int]:
        return {p.partition: c.offset for p, c in committed(self.west, group).items()}


@pytest.fixture(scope="module")
def grouped(airflow_world: AirflowWorld) -> Iterator[Grouped]:
    prepared = Grouped(airflow_world)
    prepared.prepare()
    yield prepared
    airflow_world.rest.pause(DAG)


def test_the_summaries_tell_what_was_moved_and_left_alone_and_why_and_are_true(grouped: Grouped) -> None:
    """Unpaused, the Dag also runs by its own schedule: what is new is told by the first of its runs."""
    world = grouped.world
    with member(world.west.bootstrap_servers, grouped.busy, grouped.remote):
        world.run(DAG)
        world.rest.pause(DAG)
        runs = sorted(finished_runs(world), key=lambda run: str(run["start_date"]))
        assert grouped.there(grouped.busy) == {}
    assert {run["state"] for run in runs} == {"success"}
    first = str(runs[0]["dag_run_id"])
    assert set(world.states(DAG, first).values()) == {"success"}
    told: dict[str, Any] = world.rest.xcom(DAG, first, "checkpoints")
    assert (told["groups"], told["partitions"], told["exact"], told["checkpoints_written"]) == (3, 6, 6, 6)
    assert told["groups_filtered"] >= 1
    summary: dict[str, Any] = world.rest.xcom(DAG, first, "sync_group_offsets")
    assert (summary["moved"], summary["left_alone"], summary["failed"]) == (1, 2, 0)
    by_group = {one["group"]: one for one in summary["groups"]}
    assert {m["partition"]: m["to"] for m in by_group[grouped.idle]["moved"]} == grouped.there(grouped.idle)
    assert grouped.there(grouped.idle) == {0: 5, 1: 6}
    assert grouped.there(grouped.ahead) == {0: 19, 1: 19}
    reasons = {group: one["left_alone"][0]["reason"] for group, one in by_group.items() if one["left_alone"]}
    assert "ahead" in reasons[grouped.ahead]
    assert "has members" in reasons[grouped.busy]
    assert f"left alone: {grouped.ahead}" in world.log(DAG, first, "sync_group_offsets")
    for run in runs[1:]:  # nothing new: nothing written
        assert world.rest.xcom(DAG, run["dag_run_id"], "checkpoints")["checkpoints_written"] == 0
        again = world.rest.xcom(DAG, run["dag_run_id"], "sync_group_offsets")
        assert (again["moved"], again["in_place"], again["left_alone"]) == (0, 1, 2)


def finished_runs(world: AirflowWorld) -> list[dict[str, Any]]:
    """The Dag's runs, all of which have ended."""

    def runs() -> list[dict[str, Any]]:
        return list(world.rest.get(f"/api/v2/dags/{DAG}/dagRuns")["dag_runs"])

    for run in runs():
        world.rest.wait_run(DAG, run["dag_run_id"], 300)
    return runs()


def test_it_runs_after_a_copy_and_finds_everything_in_place(grouped: Grouped) -> None:
    rest = grouped.world.rest
    rest.pause(DAG, False)
    uri = "airmirror://grouped/west"
    (asset,) = [one for one in rest.get("/api/v2/assets", uri_pattern=uri)["assets"] if one["uri"] == uri]
    rest.post("/api/v2/assets/events", {"asset_id": asset["id"]})  # as a copy that wrote records does

    def run_of_asset() -> dict[str, Any] | None:
        runs = rest.get(f"/api/v2/dags/{DAG}/dagRuns")["dag_runs"]
        return next((run for run in runs if run["run_type"] == "asset_triggered"), None)

    wait_until(lambda: run_of_asset() is not None, "a run after the copy")
    found = run_of_asset()
    assert found is not None
    assert rest.wait_run(DAG, found["dag_run_id"], 300) == "success"
    assert rest.xcom(DAG, found["dag_run_id"], "sync_group_offsets")["in_place"] >= 1
