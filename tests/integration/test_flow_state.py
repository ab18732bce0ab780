"""A flow that failed over is left alone: by every task, by every command, and by a copy that was under way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from airflow.sdk.exceptions import AirflowSkipException

from integration.command import Command
from integration.copying import Mirrored
from integration.crossing import Groups
from integration.records import numbered
from mirror.airflow.topic_tasks import create_topics, discover_topics
from mirror.airflow.upkeep_tasks import TASKS
from mirror.copy.execution import InProcessExecutor
from mirror.copy.result import SlotResult
from mirror.copy.spec import SlotSpec
from mirror.errors import FlowNotForward
from mirror.heartbeats import copy_heartbeats, emit
from mirror.kafka.values import TopicPartition
from mirror.operations.turning import turn
from world.kafka import KafkaCluster


@pytest.fixture
def groups(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Groups:
    return Groups(tmp_path, east, west, "offset-syncs.topic.replication.factor = 1")


def fail_over(flow: Mirrored, operation: str = "o1") -> None:
    turn(flow.flow, flow.target, "failed-over", operation, lambda _: None)


def test_every_task_of_a_late_airflow_is_skipped_and_changes_nothing(
    groups: Groups, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders"), groups.name("billing")
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    groups.commit(group, {TopicPartition(topic, 0): 5})
    groups.cross()
    emit(flow.flow)
    copy_heartbeats(flow.flow)
    fail_over(flow)
    # Everything that the tasks are there for is due.
    flow.write(topic, numbered(20, start=20))
    new = flow.topic("new")
    groups.commit(group, {TopicPartition(topic, 0): 15})
    ends, topics = flow.target_ends(), flow.target.topic_names()
    for task in TASKS.values():
        with pytest.raises(AirflowSkipException, match="failed over since"):
            task(flow.flow)
    tasks: tuple[Callable[[], object], ...] = (
        lambda: discover_topics(flow.flow, {}),  # type: ignore[typeddict-item]
        lambda: create_topics(flow.flow, {}),
    )
    for task_of_topics in tasks:
        with pytest.raises(AirflowSkipException, match="failed over since"):
            task_of_topics()
    with pytest.raises(FlowNotForward, match="failed over since"):
        flow.copy()
    with pytest.raises(FlowNotForward):
        copy_heartbeats(flow.flow)
    command = Command(flow, capsys, monkeypatch)
    for refused in (["copy", "--take-over"], ["topics"], ["groups"], ["heartbeats"]):
        outcome = command(*refused)
        assert outcome.code == 1, refused
        assert "failed over since" in outcome.err, refused
    resumed = command("resume", "--topic", topic, "--restart", "--yes")
    assert (resumed.code, "failed over" in resumed.err) == (1, True)
    control = TopicPartition(flow.links.control_topic, 0)
    assert {p: end for p, end in flow.target_ends().items() if p != control} == {
        p: end for p, end in ends.items() if p != control
    }
    assert flow.target.topic_names() == topics, f"{new} is not mirrored"
    assert groups.there(group, topic) == 5


def test_flows_shows_the_state_and_forward_again_lets_all_go_on(
    groups: Groups, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = groups.flow
    topic = flow.topic("orders")
    flow.write(topic, numbered(5))
    flow.mirror().raise_if_incomplete()
    command = Command(flow, capsys, monkeypatch)
    fail_over(flow)
    (shown, *_) = command.flows()
    assert (shown["state"]["state"], shown["state"]["operation"]) == ("failed-over", "o1")
    turn(flow.flow, flow.target, "forward", "o1", lambda _: None)
    (shown, *_) = command.flows()
    assert shown["state"]["state"] == "forward"
    flow.write(topic, numbered(5, start=5))
    flow.copy().raise_if_incomplete()
    flow.assert_equal(topic)
    with pytest.raises(FlowNotForward, match="operation o1 is over"):
        flow.copy(operation="o1")


class _TurnedMeanwhile(InProcessExecutor):
    """Slots that start only when the flow has failed over: the driver froze behind its plan, and thawed."""

    def __init__(self, turn_it: Callable[[], None]) -> None:
        super().__init__(2)
        self._turn_it = turn_it

    def run(self, specs: Sequence[SlotSpec], watch: Callable[[], bool]) -> list[SlotResult]:
        self._turn_it()
        return super().run(specs, watch)


def test_a_copy_that_planned_before_the_failover_copies_nothing_behind_it(groups: Groups) -> None:
    flow = groups.flow
    topic = flow.topic("orders", 2)
    flow.write(topic, numbered(20, partitions=2))
    flow.make_remote_topics()
    result = flow.copy(executor=lambda: _TurnedMeanwhile(lambda: fail_over(flow, "o7")))
    assert (result.superseded_by, result.record_count) == ("o7", 0)
    assert flow.downstream_values(topic) == []
    copied = flow.copy(operation="o7")
    assert copied.record_count == 20, "the operation itself may copy: a planned failover drains"
