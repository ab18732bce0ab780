"""Topics that applications made on the target while it led: they come home, or are named with what brings them."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.scenario import IS_LONG
from integration import records
from integration.copying import make_topic
from integration.returning import DEFAULT, IDENTITY, POLICIES, RoundTrip
from mirror import topics
from mirror.config import Flow, load
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.operations.failback import ReturnCopies
from mirror.operations.failback_preview import plan_failback
from mirror.operations.failback_request import FailbackRequest
from mirror.operations.failover import run_failover
from mirror.operations.failover_plan import FailoverRequest
from mirror.operations.report import markdown
from mirror.verify import run_verify
from world.kafka import KafkaCluster


@pytest.mark.long("a way there and back")
@POLICIES
def test_a_topic_made_on_the_target_comes_home_with_its_settings_records_and_groups(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster, policy: str
) -> None:
    flow = RoundTrip(tmp_path, east, west, policy)
    flow.write_here(flow.topic("orders"), "before", (3,))
    flow.mirror().raise_if_incomplete()
    # The target's own from before, though it is called as a copy is: nobody asked for it on the source.
    theirs = flow.topic_there("theirs")
    flow.write_there(theirs, "theirs", (2,))
    flow.fail_over()
    flow.write_there(theirs, "theirs", (2,))
    made = flow.topic_there("made", 3, retention_ms="99999999", cleanup_policy="compact,delete")
    every = flow.write_there(made, "made", (9, 4, 0))
    inside, done = f"{flow.prefix}-inside", f"{flow.prefix}-done"
    flow.consume("there", inside, made, {0: 5, 1: 0, 2: 0})
    flow.consume("there", done, made, {0: None, 1: None, 2: None})

    told = [{"topic": flow.remote(made), "returns_to": made, "reason": "", "commands": []}]
    plan = plan_failback(flow.flow, flow.home, FailbackRequest())
    assert plan.to_json()["new_topics"] == told
    assert {(each.partition.topic, each.to_return) for each in plan.partitions} >= {(made, 9), (made, 4), (made, 0)}
    report = flow.fail_back()
    assert list(report.new_topics) == told
    assert (report.returned, report.survivor_count) == (13, 0)
    assert f"{made}" in markdown(report.title, report.sections())
    assert theirs not in flow.source.topic_names()
    described = flow.source.describe([made])[made]
    assert described.partition_count == 3
    found = flow.source.configs([made])[made]
    assert (found["retention.ms"].value, found["cleanup.policy"].value) == ("99999999", "compact,delete")
    flow.assert_same_set(made, every)
    again = flow.assert_not_late("here", made)
    assert again == {inside: 0, done: 0}, "where nothing else was written, they go on at the very record"

    if not IS_LONG:
        return
    # From now on it is a topic of the flow like any other.
    every += flow.write_here(made, "again", (2, 2, 2))
    assert flow.copy().record_count == 6
    flow.assert_same_set(made, every)
    assert run_verify(flow.flow, parts=()).is_equal
    flow.consume("here", inside, made, {0: 7, 1: 3, 2: 1})
    flow.fail_over(planned=True)
    assert flow.assert_not_late("there", made)[inside] == 0
    every += flow.write_there(made, "there", (1, 1, 1))
    assert flow.fail_back().new_topics == ()
    flow.assert_same_set(made, every)
    flow.assert_not_late("here", made)


@pytest.mark.long("the other policy")
def test_a_topic_of_the_targets_own_name_stays_and_the_command_that_is_told_mirrors_it(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = RoundTrip(tmp_path, east, west, DEFAULT)
    flow.write_here(flow.topic("orders"), "before", (3,))
    flow.mirror().raise_if_incomplete()
    before, plain = f"{flow.prefix}-before", f"{flow.prefix}-plain"
    make_topic(flow.target, before)
    flow.fail_over()
    make_topic(flow.target, plain)
    records.write(west.bootstrap_servers, plain, flow.written("plain", 4, 0))
    home, name = flow.home.id, f"{flow.aliases[1]}.{plain}"
    commands = [f"airmirror topics '{home}'", f"airmirror copy '{home}' --topics '{plain}'"]
    report = flow.fail_back()
    (told,) = report.new_topics
    assert (told["topic"], told["returns_to"], list(told["commands"])) == (plain, "", commands)
    switch = f"{home}.enabled = true"
    assert f"{home} would copy it, with {switch} in the file, to {flow.aliases[0]} as {name}" in told["reason"]
    assert all(command in markdown(report.title, report.sections()) for command in commands)
    assert not {plain, name} & set(flow.source.topic_names())
    # What is told is true: with that line in the file, the topic arrives under that name.
    opposite = enable_opposite(flow)
    run_copy(opposite, CopyRequest(), lambda: InProcessExecutor(2)).raise_if_incomplete()
    assert len(records.read(east.bootstrap_servers, [name])[name][0]) == 4


@pytest.mark.long("a moment that is rare")
def test_a_topic_made_while_records_return_is_taken_in_too(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = RoundTrip(tmp_path, east, west, IDENTITY)
    topic = flow.topic("orders")
    every = flow.write_here(topic, "before", (3,))
    flow.mirror().raise_if_incomplete()
    flow.fail_over()
    made: list[str] = []
    plain = ReturnCopies.bring_survivors

    def bring_survivors(copies: ReturnCopies, sides: object) -> int:
        """Behind the plan an application makes a topic, and gives another one a partition more."""
        made.append(flow.topic_there("late"))
        every_late.extend(flow.write_there(made[0], "late", (5,)))
        assert flow.target.grow_topics({topic: 2}) == {topic: None}
        every.extend(flow.write_there(topic, "there", (2, 2)))
        return plain(copies, sides)  # type: ignore[arg-type]

    every_late: list[bytes] = []
    monkeypatch.setattr(ReturnCopies, "bring_survivors", bring_survivors)
    report = flow.fail_back()
    assert [(told["topic"], told["returns_to"]) for told in report.new_topics] == [(made[0], made[0])]
    assert report.returned == 9
    flow.assert_same_set(made[0], every_late)
    flow.assert_same_set(topic, every)


@pytest.mark.long("a failover that nobody needed")
def test_a_flow_that_never_copied_anything_leaves_to_the_opposite_flow_what_is_its(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = RoundTrip(tmp_path, east, west, DEFAULT)
    theirs = f"{flow.prefix}-theirs"
    make_topic(flow.target, theirs)
    records.write(west.bootstrap_servers, theirs, flow.written("theirs", 2, 0))
    opposite = enable_opposite(flow)
    run_failover(flow.flow, FailoverRequest(planned=False))  # no copy has run, so no group has a checkpoint
    report = flow.fail_back()
    assert (report.returned, report.partitions, report.new_topics) == (0, (), ())
    name = f"{flow.aliases[1]}.{theirs}"
    assert records.read(east.bootstrap_servers, [name])[name][0] == [], "nobody asked the opposite flow to copy"
    run_copy(opposite, CopyRequest(), lambda: InProcessExecutor(2)).raise_if_incomplete()
    assert len(records.read(east.bootstrap_servers, [name])[name][0]) == 2


def enable_opposite(flow: RoundTrip) -> Flow:
    """Write the opposite flow into the file, and make its topics on the source."""
    home = flow.home.id
    flow.configure(f"{flow.lines}\n{home}.enabled = true")
    opposite = load(flow.config).flow(home)
    summary = topics.apply(topics.discover(opposite, flow.target, flow.source), flow.target, flow.source)
    assert summary.failure() is None
    return opposite
