"""The operations' Dags on a real Airflow, driven as automation would: what they do, keep, refuse and show to whom."""

from __future__ import annotations

import pytest

from dags.airflow_world import AirflowWorld, wait_until
from dags.operating import answer, fetch, page_of, plan_of, report_of
from dags.rehearsed import GROUPS, UNCOPIED
from mirror.config import Flow
from mirror.copy.links import links_of
from mirror.groups.checkpoints import Known, write_checkpoints
from mirror.kafka.cluster import Cluster
from mirror.wire.checkpoint import Checkpoint

pytestmark = pytest.mark.slow

DAG = "mirror.drill"


@pytest.fixture(scope="module")
def drilled(airflow_world: AirflowWorld, rehearsed: Flow) -> str:
    """A drill without approval, done."""
    wait_until(lambda: DAG in airflow_world.rest.dags(), "the Dag of the drill")
    run, state = airflow_world.run(DAG, {"flow": rehearsed.id, "approval": False})
    assert state == "success", airflow_world.states(DAG, run)
    return run


def test_without_approval_the_drill_goes_on_by_itself(airflow_world: AirflowWorld, drilled: str) -> None:
    assert airflow_world.states(DAG, drilled) == dict.fromkeys(("plan", "approve", "drill"), "success")
    report = airflow_world.rest.xcom(DAG, drilled, "drill")
    assert (report["passed"], report["recovery_point"]["records_missing"]) == (True, UNCOPIED)
    assert [group["group"] for group in report["groups"]] == [airflow_world.topic(group) for group in GROUPS]


def test_a_report_is_open_to_those_who_may_read_results_and_to_nobody_else(
    airflow_world: AirflowWorld, drilled: str
) -> None:
    url = report_of(airflow_world, drilled, "drill")
    status, page = fetch(url, airflow_world.airflow.rest_as("viewer").token())
    assert (status, f"<td>{airflow_world.topic(GROUPS[0])}</td>" in page) == (200, True)
    assert fetch(url)[0] == 401
    assert fetch(url.replace("/drill", "/plan"), airflow_world.rest.token())[0] == 404
    for path in ("/airmirror/docs", "/airmirror/openapi.json"):
        assert "swagger" not in fetch(airflow_world.airflow.url + path)[1].lower()
    assert f"report: {url}" in airflow_world.rest.logs(DAG, drilled, "drill")


def test_a_rejected_plan_does_nothing(airflow_world: AirflowWorld, drilled: str, rehearsed: Flow) -> None:
    world = airflow_world
    run = world.trigger(DAG, {"flow": rehearsed.id})
    detail = plan_of(world, DAG, run)
    assert world.topic(GROUPS[0]) in detail["body"]
    assert detail["subject"] == f"Drill of {rehearsed.id}: go ahead?"
    answer(world, DAG, run, "Reject")
    assert world.rest.wait_run(DAG, run) == "success"
    assert world.states(DAG, run) == {"plan": "success", "approve": "success", "drill": "skipped"}


def test_a_mistyped_param_is_refused_without_a_retry(airflow_world: AirflowWorld, drilled: str) -> None:
    run, state = airflow_world.run(DAG, {"flow": "rehearsed->west", "group": "billing"})
    assert (state, airflow_world.task(DAG, run, "plan")["try_number"]) == ("failed", 1)
    assert "unknown params: group; known: flow, groups, approval" in airflow_world.log(DAG, run, "plan")


def test_a_failed_drill_fails_its_run_once_and_keeps_its_report(
    airflow_world: AirflowWorld, drilled: str, rehearsed: Flow
) -> None:
    world, group = airflow_world, airflow_world.topic("late")
    links = links_of(rehearsed)
    late = Checkpoint(
        group=group,
        topic=f"{rehearsed.source}.{world.topic('rehearsed')}",
        partition=0,
        upstream_offset=50,
        downstream_offset=51,
        metadata="",
    )
    with Cluster(rehearsed.target, links.target_admin) as target:
        write_checkpoints(rehearsed, links, target, [Known(checkpoint=late)], at_ms=1)
    run, state = world.run(DAG, {"flow": rehearsed.id, "approval": False, "groups": group})
    assert (state, world.task(DAG, run, "drill")["try_number"]) == ("failed", 1)
    assert world.rest.xcom(DAG, run, "drill")["passed"] is False
    page = page_of(world, run, "drill")
    assert ("FAILED" in page, "has another key, value or headers" in page) == (True, True)


@pytest.mark.long("Spark inside Airflow, which copies show, too")
def test_a_verification_compares_in_spark_and_asks_nobody(
    airflow_world: AirflowWorld, drilled: str, rehearsed: Flow
) -> None:
    run, state = airflow_world.run("mirror.verify", {"flow": rehearsed.id, "newest": 50})
    assert state == "success", airflow_world.states("mirror.verify", run)
    report = airflow_world.rest.xcom("mirror.verify", run, "verify")
    assert (report["equal"], report["scope"]) == (True, "the newest 50 offsets of each partition")
    assert report["records"] >= 140
    assert "equal" in page_of(airflow_world, run, "verify")


def test_after_a_failover_the_flows_own_dags_skip(airflow_world: AirflowWorld, drilled: str, rehearsed: Flow) -> None:
    world, conf = airflow_world, {"flow": rehearsed.id, "mode": "unplanned", "approval": False}
    run, state = world.run("mirror.failover", conf)
    assert state == "success", world.states("mirror.failover", run)
    report = world.rest.xcom("mirror.failover", run, "failover")
    assert (report["flow"], report["mode"]) == (rehearsed.id, "unplanned")
    moved = {group["group"] for group in report["groups"] if group["outcome"] == "moved"}
    assert {world.topic(group) for group in GROUPS} <= moved
    assert "What to type next" in page_of(world, run, "failover")
    late, state = world.run(f"{rehearsed.slug}.copy")
    assert (state, set(world.states(f"{rehearsed.slug}.copy", late).values())) == ("success", {"skipped"})
    again, state = world.run(DAG, {"flow": rehearsed.id, "approval": False})
    assert (state, world.states(DAG, again)["drill"]) == ("success", "skipped")
