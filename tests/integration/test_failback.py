"""Failover, failback, and again: both sides hold the same records, none twice, and no group is late."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.applications import Writing
from integration.returning import IDENTITY, POLICIES, RoundTrip
from mirror.copy.gate import read_direction
from mirror.copy.links import links_of
from mirror.copy.state import read_states
from mirror.errors import StillWritten, UsageRefused
from mirror.kafka.values import TopicPartition
from mirror.verify import run_verify
from world.kafka import KafkaCluster


def listed(survivors: tuple) -> dict[tuple[str, int], list[tuple[int, int]]]:  # type: ignore[type-arg]
    return {(s["topic"], s["partition"]): [(r["from"], r["to"]) for r in s["runs"]] for s in survivors}


@pytest.mark.long("faults/test_operations goes the same way, and is killed on it")
@POLICIES
def test_there_and_back_and_there_again(tmp_path: Path, east: KafkaCluster, west: KafkaCluster, policy: str) -> None:
    flow = RoundTrip(tmp_path, east, west, policy)
    topic = flow.topic("orders", 2)
    every = flow.write_here(topic, "before", (20, 12))
    flow.mirror().raise_if_incomplete()
    behind, done, inside = (f"{flow.prefix}-{word}" for word in ("behind", "done", "inside"))
    flow.consume("here", behind, topic, {0: 5, 1: 0})
    flow.consume("here", done, topic, {0: None, 1: None})
    flow.consume("here", inside, topic, {0: 20, 1: 12})

    # Survivors: written before the crash, never copied. Then the source is gone, and the work is on the target.
    every += flow.write_here(topic, "survivor", (4, 3))
    flow.fail_over()
    flow.assert_not_late("there", topic)
    every += flow.write_there(topic, "there", (9, 7))
    flow.consume("there", done, topic, {0: None, 1: None})
    flow.consume("there", inside, topic, {0: 23, 1: 14})
    every += flow.write_here(topic, "stray", (1, 1))

    report = flow.fail_back()
    flow.assert_same_set(topic, every)
    assert (report.returned, report.survivor_count) == (16, 9)
    assert listed(report.survivors) == {(topic, 0): [(20, 25)], (topic, 1): [(12, 16)]}
    flow.assert_not_late("here", topic)
    state = read_direction(flow.links, flow.target)
    assert state is not None
    assert state.is_forward

    # Forward again: nothing is copied twice. And the same once more, planned this time.
    every += flow.write_here(topic, "again", (6, 5))
    assert flow.copy().record_count == 11
    flow.assert_same_set(topic, every)
    flow.consume("here", done, topic, {0: None, 1: None})
    flow.fail_over(planned=True)
    again = flow.assert_not_late("there", topic)
    assert again[done] == 0, "a group that had seen all reads nothing again"
    every += flow.write_there(topic, "there", (3, 0))
    report = flow.fail_back()
    assert (report.returned, report.survivor_count) == (3, 0)
    flow.assert_same_set(topic, every)
    flow.assert_not_late("here", topic)
    assert flow.copy().record_count == 0
    assert flow.fail_back() == report, "told again, it is the same report"

    # And once more unplanned: survivors now lie behind and between what came back before, and groups stand inside it.
    survivors = flow.write_here(topic, "survivor", (3, 2))
    flow.fail_over()
    flow.assert_not_late("there", topic)
    every += flow.write_there(topic, "there", (5, 6))
    flow.consume("there", inside, topic, {0: 28, 1: 18})
    survivors += flow.write_here(topic, "stray", (2, 0))
    report = flow.fail_back()
    every += survivors
    flow.assert_same_set(topic, every)
    assert report.returned == 11
    here, _ = flow.contents(topic)
    assert {
        (each["topic"], each["partition"], offset)
        for each in report.survivors
        for run in each["runs"]
        for offset in range(run["from"], run["to"])
    } == {(topic, number, r.offset) for number, rows in here.items() for r in rows if r.value in survivors}
    flow.assert_not_late("here", topic)
    assert flow.copy().record_count == 0
    assert run_verify(flow.flow, parts=()).is_equal
    flow.fail_over(planned=True)
    flow.assert_not_late("there", topic)


@pytest.mark.long("the other choices than the default")
@pytest.mark.parametrize(("choice", "there"), [("ignore", False), ("keep", True)])
def test_survivors_are_kept_or_ignored_as_a_person_says(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster, choice: str, there: bool
) -> None:
    flow = RoundTrip(tmp_path, east, west, IDENTITY)
    topic = flow.topic("orders")
    every = flow.write_here(topic, "before", (10,))
    flow.mirror().raise_if_incomplete()
    survivors = flow.write_here(topic, "survivor", (3,))
    flow.fail_over()
    every += flow.write_there(topic, "there", (4,))
    report = flow.fail_back(survivors=choice)
    assert report.survivor_count == 3
    here, copied = ([r.value for r in side[0]] for side in flow.contents(topic))
    assert sorted(here) == sorted(every + survivors)
    assert sorted(copied) == sorted(every + survivors if there else every)
    assert bool(flow.states()[TopicPartition(topic, 0)].gaps) == (not there), "what is ignored is on record"


@pytest.mark.long("a second life of the source")
@POLICIES
def test_a_source_rebuilt_empty_is_seeded_again(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster, policy: str
) -> None:
    flow = RoundTrip(tmp_path, east, west, policy)
    topic, other = flow.topic("orders", 2, retention_ms="99999999"), flow.topic("other")
    every = flow.write_here(topic, "before", (10, 4))
    others = flow.write_here(other, "other", (5,))
    flow.mirror().raise_if_incomplete()
    group = f"{flow.prefix}-g"
    flow.consume("here", group, topic, {0: 6, 1: 4})
    flow.fail_over()
    every += flow.write_there(topic, "there", (5, 2))
    flow.consume("there", group, topic, {0: 12, 1: 5})
    # One topic is gone, the other was made again and somebody has written to it already.
    flow.delete_source_topic(topic)
    flow.delete_source_topic(other)
    flow.topic("other")
    strays = flow.write_here(other, "stray", (2,))
    report = flow.fail_back()
    assert report.returned == 21 + 5
    assert listed(report.survivors) == {(other, 0): [(0, 2)]}
    others += strays
    flow.assert_same_set(topic, every)
    flow.assert_same_set(other, others)
    assert flow.source.configs([topic])[topic]["retention.ms"].value == "99999999"
    flow.assert_not_late("here", topic)
    every += flow.write_here(topic, "again", (2, 2))
    assert flow.copy().record_count == 4
    flow.assert_same_set(topic, every)
    flow.fail_over(planned=True)
    flow.assert_not_late("there", topic)
    every += flow.write_there(topic, "there", (2, 1))
    flow.consume("there", group, topic, {0: 18, 1: None})

    # Its cluster is new altogether this time: neither topics nor what an earlier return knew of them.
    ours = [name for name in flow.source.topic_names() if flow.prefix in name or flow.aliases[1] in name]
    assert any(name.startswith("mm2-") for name in ours), "the way back had states there"
    for name in ours:
        flow.delete_source_topic(name)
    report = flow.fail_back()
    assert (report.returned, report.survivor_count) == (len(every) + len(others), 0)
    flow.assert_same_set(topic, every)
    flow.assert_same_set(other, others)
    flow.assert_not_late("here", topic)
    every += flow.write_here(topic, "again", (1, 1))
    assert flow.copy().record_count == 2
    assert run_verify(flow.flow, parts=()).is_equal
    flow.fail_over(planned=True)
    flow.assert_same_set(topic, every)
    flow.assert_not_late("there", topic)


@pytest.mark.long("applications at their own pace")
def test_applications_that_write_on_both_sides_meanwhile_lose_nothing_and_double_nothing(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = RoundTrip(tmp_path, east, west, IDENTITY)
    flow.configure(f"{flow.lines}\nairmirror.copy.commit.bytes = 20000\nairmirror.copy.commit.interval.ms = 100")
    topic = flow.topic("orders", 2)
    every = flow.write_here(topic, "before", (50, 50))
    flow.mirror().raise_if_incomplete()
    with pytest.raises(UsageRefused, match="goes forward"):
        flow.fail_back()
    every += flow.write_here(topic, "survivor", (3000, 3000))
    flow.fail_over()
    every += flow.write_there(topic, "there", (500, 500))
    with (
        Writing(west.bootstrap_servers, flow.remote(topic), 2) as there,
        Writing(east.bootstrap_servers, topic, 2, start=1_000_000) as here,
        pytest.raises(StillWritten, match="still gets records"),
    ):
        flow.fail_back()
    state = read_direction(flow.links, flow.target)
    assert state is not None
    assert state.state == "returning", "what was there has returned, and the flow stays shut"
    report = flow.fail_back()
    every += [b"value-%d" % n for n in [*range(there.written), *range(1_000_000, here.written)]]
    assert report.returned == 1000 + there.written
    flow.assert_same_set(topic, every)
    # They did write between our copies, on both sides: without exact stretches some would be lost or doubled.
    assert max(len(state.stretches) for state in flow.states().values()) > 1
    returns = read_states(links_of(flow.home, route={}), flow.source).states
    assert max(len(state.stretches) for state in returns.values()) > 1
