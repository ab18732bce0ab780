"""A planned failover with applications running: nothing is lost, nothing is read again."""

from __future__ import annotations

import pytest

from integration.applications import Reading, Writing
from integration.command import Command
from integration.crossing import Groups
from mirror.copy.gate import read_direction

PARTITIONS = 2


def values(count: int, partition: int) -> list[bytes]:
    return [b"value-%d" % n for n in range(partition, count, PARTITIONS)]


def test_planned_failover_loses_nothing_and_rereads_nothing(
    groups: Groups, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders", PARTITIONS), groups.name("billing")
    command = Command(flow, capsys, monkeypatch)
    reading = Reading(flow.upstream.bootstrap_servers, group, topic)
    try:
        with Writing(flow.upstream.bootstrap_servers, topic, PARTITIONS) as writing:
            reading.wait_for(100)
            flow.mirror().raise_if_incomplete()
            refused = command("failover", "--yes", "--silence", "0.4", "--json")
            assert refused.code == 1
            assert "still gets records" in refused.err
            assert read_direction(flow.links, flow.target) is None, "nothing was changed"
    finally:
        seen = reading.stop()
    command_outcome = command("failover", "--yes", "--silence", "0.4", "--json")
    assert command_outcome.code == 0, command_outcome.err
    report = command_outcome.document
    assert (report["mode"], report["missing_at_least"]) == ("planned", 0)
    assert [(g["group"], g["outcome"]) for g in report["groups"]] == [(group, "moved")]
    flow.assert_equal(topic)
    there = Reading(flow.downstream.bootstrap_servers, group, flow.remote(topic))
    with Writing(flow.downstream.bootstrap_servers, flow.remote(topic), PARTITIONS, start=writing.written) as more:
        there.wait_for(more.written - len(seen) + 20)
    there.wait_for(more.written - len(seen))
    seen = seen + there.stop()
    for partition in range(PARTITIONS):
        assert [value for number, value in seen if number == partition] == values(more.written, partition)


def test_a_source_that_grows_may_be_left_behind_if_a_person_says_so(
    groups: Groups, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = groups.flow
    topic = flow.topic("orders", PARTITIONS)
    flow.make_remote_topics()
    command = Command(flow, capsys, monkeypatch)
    with Writing(flow.upstream.bootstrap_servers, topic, PARTITIONS):
        outcome = command("failover", "--yes", "--producers-still-write", "--json")
    assert outcome.code == 0, outcome.err
    assert any("was not asked to be silent" in note for note in outcome.document["notes"])
    state = read_direction(flow.links, flow.target)
    assert state is not None
    assert state.state == "failed-over"
