"""A planned failover, the way back and comparisons by their Dags: form, plan, approval, Spark, report, truth."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from dags.airflow_world import TURNED, AirflowWorld, wait_until
from dags.operated import Operated
from dags.operating import answer, page_of, plan_of
from integration.applications import Writing
from integration.records import numbered
from integration.tampering import faithful, write_copies
from mirror.copy.control import Control
from mirror.copy.gate import read_direction
from mirror.groups.run import run_checkpoints

pytestmark = pytest.mark.long("operations inside Airflow, with Spark")

FAILOVER, FAILBACK, VERIFY, COPY = "mirror.failover", "mirror.failback", "mirror.verify", f"{TURNED}-to-west.copy"
COPIED, UNCOPIED, THERE, AFTERWARDS = (40, 30), (9, 6), (12, 5), (3, 4)

# Now: the brokers would take records of long ago away again.
WRITTEN_MS = int(time.time() * 1000)


class Story:
    """One flow through all of it; each test goes on where the one before it ended."""

    def __init__(self, world: AirflowWorld) -> None:
        self.world = world
        self.flow = Operated(world, TURNED)
        self.topic = self.flow.topic("orders", 2)
        self.behind, self.done, self.inside = (self.flow.group(word) for word in ("behind", "done", "inside"))
        self.returned = 0
        self.every = self.flow.write_here(self.topic, "before", COPIED)
        self.flow.mirror().raise_if_incomplete()
        self.every += self.flow.write_here(self.topic, "uncopied", UNCOPIED)
        for group, upto in (
            (self.behind, {0: 5, 1: 0}),
            (self.inside, {0: 30, 1: 20}),
            (self.done, {0: None, 1: None}),
        ):
            self.flow.consume("here", group, self.topic, upto)

    def approved(self, dag: str, conf: dict[str, Any]) -> tuple[str, str]:
        """A run that a person agreed to, done: its id and the plan that was read."""
        run = self.world.trigger(dag, {"flow": self.flow.flow.id, **conf})
        plan = plan_of(self.world, dag, run)
        assert plan["subject"] == f"{dag.partition('.')[2].capitalize()} of {self.flow.flow.id}: go ahead?"
        answer(self.world, dag, run, "Approve")
        state = self.world.rest.wait_run(dag, run, 300)
        assert state == "success", (
            self.world.states(dag, run),
            self.world.log(dag, run, dag.partition(".")[2])[-6000:],
        )
        assert set(self.world.states(dag, run).values()) == {"success"}
        return run, str(plan["body"])

    def direction(self) -> str:
        state = read_direction(self.flow.links, self.flow.target)
        return state.state if state else "forward"

    def executors(self) -> set[str]:
        """Where the slots of the flow's newest copy ran."""
        newest = Control(self.flow.links, self.flow.target).read().newest_result or {}
        return {slot["executor"] for slot in newest["slots"]}


@pytest.fixture(scope="module")
def story(airflow_world: AirflowWorld) -> Story:
    wait_until(lambda: {FAILOVER, FAILBACK, VERIFY, COPY} <= set(airflow_world.rest.dags()), "the Dags")
    return Story(airflow_world)


def test_a_source_that_still_gets_records_is_not_failed_over(story: Story) -> None:
    world, flow = story.world, story.flow
    with Writing(flow.upstream.bootstrap_servers, story.topic, 2) as writing:
        run, state = world.run(FAILOVER, {"flow": flow.flow.id, "approval": False})
    story.every += [b"value-%d" % n for n in range(writing.written)]
    flow.consume("here", story.done, story.topic, {0: None, 1: None})
    assert (state, world.task(FAILOVER, run, "failover")["try_number"]) == ("failed", 1)
    log = world.log(FAILOVER, run, "failover")
    for word in (f"cluster {TURNED} still gets records", "nothing was changed", "stop its producers"):
        assert word in log
    assert story.direction() == "forward"


def test_a_planned_failover_drains_on_spark_verifies_and_moves_groups(story: Story) -> None:
    world, flow = story.world, story.flow
    run, plan = story.approved(FAILOVER, {"mode": "planned", "verify_newest": 25})
    for word in ("copy what is left", "compare the newest records", f"{story.topic}-0"):
        assert word in plan
    report = world.rest.xcom(FAILOVER, run, "failover")
    assert (report["flow"], report["mode"], report["missing_at_least"]) == (flow.flow.id, "planned", 0)
    assert report["verified"] == {
        "summary": "50 of the newest records are equal on both sides",
        "records": 50,
        "newest": 25,
    }
    assert {g["group"]: g["outcome"] for g in report["groups"]} == dict.fromkeys(
        (story.behind, story.done, story.inside), "moved"
    )
    assert all(name.startswith(f"{socket.gethostname()}/local/") for name in story.executors())
    page = page_of(world, run, "failover")
    for word in ("What to type next", story.behind, "50 of the newest records are equal", f"{TURNED}.{story.topic}-1"):
        assert word in page
    flow.assert_equal(story.topic)
    again = flow.assert_not_late("there", story.topic)
    assert again == dict.fromkeys((story.behind, story.done, story.inside), 0)
    assert story.direction() == "failed-over"


def test_what_was_written_there_comes_home_and_the_flow_goes_forward(story: Story) -> None:
    world, flow = story.world, story.flow
    story.every += flow.write_there(story.topic, "there", THERE)
    flow.consume("there", story.done, story.topic, {0: None, 1: None})
    survivors = flow.write_here(story.topic, "stray", (0, 2))
    story.every += survivors
    run, plan = story.approved(FAILBACK, {"survivors": "copy"})
    for word in (
        "bring back what was written on the target",
        f"{TURNED}.{story.topic}-0",
        "Survivors on the source: copy",
    ):
        assert word in plan
    report = world.rest.xcom(FAILBACK, run, "failback")
    assert (report["returned"], report["survivor_count"]) == (sum(THERE), len(survivors))
    story.returned = report["returned"]
    page = page_of(world, run, "failback")
    for word in (f"{sum(THERE)} records", story.done, "What to type next", f"{story.topic}-1"):
        assert word in page
    flow.assert_same_set(story.topic, story.every)
    flow.assert_not_late("here", story.topic)
    assert story.direction() == "forward"
    # The forward Dag goes on: what is new and only that.
    story.every += flow.write_here(story.topic, "afterwards", AFTERWARDS)
    copy, state = world.run(COPY)
    assert (state, world.rest.xcom(COPY, copy, "copy")["records"]) == ("success", sum(AFTERWARDS))
    flow.assert_same_set(story.topic, story.every)
    ends = flow.target_ends()
    idle, state = world.run(COPY)
    assert (state, world.states(COPY, idle)) == ("success", {"look": "success", "copy": "skipped"})
    assert flow.target_ends() == ends


def test_a_comparison_is_green_until_one_byte_of_one_record_was_changed(story: Story) -> None:
    world, flow = story.world, story.flow
    flow.copy().raise_if_incomplete()
    run_checkpoints(flow.flow)  # a group without one would be a difference
    run, state = world.run(VERIFY, {"flow": flow.flow.id, "newest": 0})
    assert state == "success", world.log(VERIFY, run, "verify")[-6000:]
    report = world.rest.xcom(VERIFY, run, "verify")
    assert (report["equal"], report["differences"]) == (True, 0)
    # What came home is its own original there, and is told apart.
    assert report["records"] + story.returned == len(story.every)
    assert sum(count for p in report["partitions"] for count in p["right"].values()) == story.returned

    tampered = flow.topic("tampered")
    sent = [record._replace(timestamp_ms=WRITTEN_MS + n) for n, record in enumerate(numbered(20))]
    flow.write(tampered, sent)
    flow.make_remote_topics()
    changed = [record._replace(value=b"Value-7") if n == 7 else record for n, record in enumerate(sent)]
    write_copies(flow, tampered, faithful(changed), position=len(sent))
    run, state = world.run(VERIFY, {"flow": flow.flow.id, "newest": 0})
    assert (state, world.task(VERIFY, run, "verify")["try_number"]) == ("failed", 1)
    report = world.rest.xcom(VERIFY, run, "verify")
    (found,) = [p for p in report["partitions"] if p["differences"]]
    assert (found["topic"], found["partition"], found["differences"]) == (tampered, 0, {"value": 1})
    assert [d["upstream_offset"] for d in found["first_differences"]] == [7]
    page = page_of(world, run, "verify")
    for word in ("DIFFERENT", f"{tampered}-0", "value at upstream 7"):
        assert word in page
    assert f"airmirror verify '{flow.flow.id}' --json" in world.log(VERIFY, run, "verify")
