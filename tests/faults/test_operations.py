"""Failover and failback killed with kill -9 at each of their points, and run again: the end is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.runs import KILLED, Run, Runs
from faults.scenario import IS_LONG, REPEATS
from integration.returning import DEFAULT, IDENTITY, RoundTrip
from mirror.copy.gate import read_direction
from mirror.groups.run import run_checkpoints
from world.kafka import KafkaCluster


def behind(kind: str, *steps: str) -> list[str]:
    return [f"{kind}-{step}-{how}" for step in steps for how in ("acted", "noted")]


# In the order in which they are reached; each run goes on where the one before was killed.
FAILOVER = ["turned-copy", "turned-heartbeats", *behind("failover", "turn", "groups")]
PLANNED = [
    *("turned-copy", *behind("failover", "turn")),
    *("claim-written", "planned", "flushed", "syncs-sent", "committed"),
    *behind("failover", "drain", "verify", "groups"),
]
FAILBACK = [
    *("turned-copy", "turned-return", *behind("failback", "turn")),
    *("failback-decided", *behind("failback", "plan")),
    *("flushed", "committed", *behind("failback", "survivors")),
    *("flushed", "committed", *behind("failback", "return")),
    # Behind the release's act the flow goes forward: who comes then is told the report, and notes nothing more.
    *("syncs-sent", "committed", *behind("failback", "forward", "groups"), "failback-release-acted"),
]
# One of each kind: in the middle of a copy, done and not on record, on record.
SHORT = {
    "failover": ["turned-copy", "failover-groups-acted"],
    "planned": ["committed", "failover-groups-acted"],
    "failback": ["failback-decided", "committed", "failback-return-acted", "failback-release-noted"],
}
LONG = {"failover": FAILOVER, "planned": PLANNED, "failback": FAILBACK}


@pytest.fixture(params=[DEFAULT, IDENTITY] if IS_LONG else [IDENTITY], ids=lambda policy: policy.rpartition(".")[2])
def flow(request: pytest.FixtureRequest, tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> RoundTrip:
    return RoundTrip(tmp_path, east, west, request.param)


@pytest.fixture
def runs(flow: RoundTrip, tmp_path: Path) -> Iterator[Runs]:
    made = Runs(flow.config, flow.flow.id, tmp_path)
    yield made
    made.end()


def killed_at_each_point(runs: Runs, operation: str) -> Run:
    for point in (LONG if IS_LONG else SHORT)[operation]:
        runs.operation(operation, runs.fault(point)).assert_ends(KILLED)
    last = runs.operation(operation)
    last.assert_ends(0)
    return last


@pytest.mark.parametrize("round_", range(min(REPEATS, 2)))  # of two to three minutes each
@pytest.mark.parametrize("operation", ["failover", "planned"] if IS_LONG else ["planned"])
def test_killed_at_each_point_a_failover_and_a_failback_end_as_if_nothing_had_been(
    flow: RoundTrip, runs: Runs, operation: str, round_: int
) -> None:
    topic = flow.topic("orders", 2)
    every = flow.write_here(topic, "before", (20, 12))
    flow.mirror().raise_if_incomplete()
    group, idle = f"{flow.prefix}-group", f"{flow.prefix}-idle"
    flow.consume("here", group, topic, {0: None, 1: None})
    flow.consume("here", idle, topic, {0: 7, 1: 3})
    late = flow.write_here(topic, "late", (6, 5))
    run_checkpoints(flow.flow)
    killed_at_each_point(runs, operation)
    flow.assert_not_late("there", topic)
    every += late
    if operation == "planned":
        flow.assert_same_set(topic, every)
    every += flow.write_there(topic, "there", (9, 8))
    flow.consume("there", group, topic, {0: None, 1: 5})
    survivors = 11 if operation == "failover" else 0
    every += flow.write_here(topic, "stray", (2, 1))

    report = json.loads(killed_at_each_point(runs, "failback").output.splitlines()[-1])
    flow.assert_same_set(topic, every)
    flow.assert_not_late("here", topic)
    assert (report["returned"], report["survivor_count"]) == (17, survivors + 3)
    state = read_direction(flow.links, flow.target)
    assert state is not None
    assert state.is_forward
    every += flow.write_here(topic, "again", (3, 3))
    assert flow.copy().record_count == 6
    flow.assert_same_set(topic, every)
    runs.assert_none_left()
