"""Records that are gone, topics that are not the same any more: named with offsets, and the others go on."""

from __future__ import annotations

import pytest

from integration.copying import Mirrored, make_topic, result_of
from integration.disturbances import MANY_COMMITS, at, fill
from integration.records import numbered
from mirror.copy import slot
from mirror.copy.result import CopyResult
from mirror.errors import CopyIncomplete, RecordsLost, TopicNotFound, TopicRecreated
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import GapReason


def assert_stopped(result: CopyResult, topic: str, kind: type[Exception]) -> dict[str, object]:
    """The topic's only partition stopped with this error, as the result document and the raised error both tell."""
    (failed,) = result.failed
    assert failed.partition == TopicPartition(topic, 0)
    assert type(failed.error) is kind, failed.error
    (told,) = [p for p in result.to_json()["partitions"] if "error" in p]
    assert (told["topic"], told["error"]["error"]) == (topic, kind.__name__)
    with pytest.raises(CopyIncomplete) as raised:
        result.raise_if_incomplete()
    assert [p["topic"] for p in raised.value.about["partitions"]] == [topic]
    assert raised.value.next_step
    error: dict[str, object] = told["error"]
    return error


def values(*numbers: int) -> list[bytes]:
    return [b"value-%d" % n for n in numbers]


@pytest.mark.parametrize("on_gap", ["continue", "fail"])
def test_records_deleted_between_two_runs_are_a_gap_with_offsets(flow: Mirrored, on_gap: str) -> None:
    topic, other = flow.topic("orders"), flow.topic("other")
    flow.configure(f"airmirror.on.gap = {on_gap}")
    for name in (topic, other):
        flow.write(name, numbered(10))
    flow.mirror().raise_if_incomplete()
    for name in (topic, other):
        flow.write(name, numbered(20, start=10))
    flow.delete_records(topic, 25)
    result = flow.copy()
    flow.assert_equal(other)
    if on_gap == "fail":
        error = assert_stopped(result, topic, RecordsLost)
        assert (error["start"], error["end"]) == (10, 25)
        assert "--skip-to 25" in str(error["next_step"])
        assert flow.downstream_values(topic) == values(*range(10))
    else:
        result.raise_if_incomplete()
        assert flow.downstream_values(topic) == values(*range(10), *range(25, 30))
        assert result_of(result, topic).to_json()["gaps"] == [{"from": 10, "to": 25, "reason": "retention"}]
        (gap,) = flow.states()[TopicPartition(topic, 0)].gaps
        assert (gap.start, gap.end, gap.reason) == (10, 25, GapReason.RETENTION)


def test_a_gap_up_to_the_end_is_told_though_no_record_follows_it_and_told_once(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(10))
    flow.mirror()
    flow.write(topic, numbered(10, start=10))
    flow.delete_records(topic, 20)
    first = flow.copy()
    assert result_of(first, topic).to_json()["gaps"] == [{"from": 10, "to": 20, "reason": "retention"}]
    assert not flow.copy().gaps
    flow.write(topic, numbered(5, start=20))
    assert not flow.copy().gaps
    assert flow.downstream_values(topic) == values(*range(10), *range(20, 25))
    assert len(flow.states()[TopicPartition(topic, 0)].gaps) == 1


@pytest.mark.parametrize("on_gap", ["continue", "fail"])
def test_records_deleted_while_they_are_copied_are_a_gap_with_offsets(
    flow: Mirrored, monkeypatch: pytest.MonkeyPatch, on_gap: str
) -> None:
    topic = flow.topic("orders")
    flow.configure(f"{MANY_COMMITS}airmirror.on.gap = {on_gap}")
    fill(flow, topic, 1000)
    flow.make_remote_topics()
    disturbed = at(monkeypatch, "committed", 2, lambda: flow.delete_records(topic, 980))
    result = flow.copy()
    assert disturbed.is_set()
    seen = [int((value or b"").rstrip(b".").split(b"-")[1]) for value in flow.downstream_values(topic)]
    if on_gap == "fail":
        error = assert_stopped(result, topic, RecordsLost)
        assert error["end"] == 980
        assert seen == list(range(int(str(error["start"]))))
    else:
        result.raise_if_incomplete()
        (gap,) = result_of(result, topic).gaps
        assert gap.end == 980
        assert seen == [*range(gap.start), *range(980, 1000)]
        assert result.record_count == len(seen)


@pytest.mark.parametrize("on_recreated", ["fail", "restart"])
@pytest.mark.parametrize(
    "new_count", [5, pytest.param(30, marks=pytest.mark.long("longer than the old one"))], ids=["shorter", "longer"]
)
def test_a_source_topic_made_anew_between_two_runs(flow: Mirrored, on_recreated: str, new_count: int) -> None:
    topic, other = flow.topic("orders"), flow.topic("other")
    flow.configure(f"airmirror.on.recreated = {on_recreated}")
    for name in (topic, other):
        flow.write(name, numbered(10))
    flow.mirror().raise_if_incomplete()
    flow.delete_source_topic(topic)
    make_topic(flow.source, topic)
    flow.write(topic, numbered(new_count, start=100))
    flow.write(other, numbered(10, start=10))
    result = flow.mirror()
    flow.assert_equal(other)
    new = range(100, 100 + new_count)
    if on_recreated == "fail":
        error = assert_stopped(result, topic, TopicRecreated)
        assert (error["cluster"], error["partition"]) == (flow.aliases[0], 0)
        assert flow.downstream_values(topic) == values(*range(10))
    else:
        result.raise_if_incomplete()
        assert flow.downstream_values(topic) == values(*range(10), *new)
        flow.write(topic, numbered(1, start=500))
        flow.copy().raise_if_incomplete()
        assert flow.downstream_values(topic) == values(*range(10), *new, 500)


@pytest.mark.parametrize("point", ["flushed", "committed"])
@pytest.mark.parametrize("new_count", [2000, 0], ids=["longer", "empty"])
def test_a_source_topic_made_anew_while_it_is_copied_is_named_and_none_of_its_records_are_taken(
    flow: Mirrored, monkeypatch: pytest.MonkeyPatch, point: str, new_count: int
) -> None:
    topic = flow.topic("orders")
    flow.configure(MANY_COMMITS)
    fill(flow, topic, 1000)
    flow.make_remote_topics()

    def make_anew() -> None:
        flow.delete_source_topic(topic)
        make_topic(flow.source, topic)
        fill(flow, topic, new_count, b"second")

    disturbed = at(monkeypatch, point, 2, make_anew)
    result = flow.copy()
    assert disturbed.is_set()
    assert_stopped(result, topic, TopicRecreated)
    copied = [(value or b"").rstrip(b".") for value in flow.downstream_values(topic)]
    assert copied
    assert copied == [b"first-%d" % n for n in range(len(copied))]
    assert flow.states()[TopicPartition(topic, 0)].position == len(copied)


def test_a_source_topic_deleted_while_it_is_copied_is_named(flow: Mirrored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "STALL_S", 1.0)
    topic = flow.topic("orders")
    flow.configure(MANY_COMMITS)
    fill(flow, topic, 1000)
    flow.make_remote_topics()
    disturbed = at(monkeypatch, "committed", 2, lambda: flow.delete_source_topic(topic))
    result = flow.copy()
    assert disturbed.is_set()
    assert_stopped(result, topic, TopicNotFound)


@pytest.mark.parametrize("on_recreated", ["fail", "restart"])
def test_a_remote_topic_made_anew_between_two_runs(flow: Mirrored, on_recreated: str) -> None:
    topic, other = flow.topic("orders"), flow.topic("other")
    flow.configure(f"airmirror.on.recreated = {on_recreated}")
    for name in (topic, other):
        flow.write(name, numbered(10))
    flow.mirror().raise_if_incomplete()
    flow.delete_remote_topic(topic)
    for name in (topic, other):
        flow.write(name, numbered(5, start=10))
    result = flow.mirror()
    flow.assert_equal(other)
    if on_recreated == "fail":
        error = assert_stopped(result, topic, TopicRecreated)
        assert error["cluster"] == flow.aliases[1]
        assert flow.downstream_values(topic) == []
    else:
        result.raise_if_incomplete()
        flow.assert_equal(topic)


def test_a_remote_topic_made_anew_while_it_is_written_is_named_and_the_other_copied(
    flow: Mirrored, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, other = flow.topic("orders"), flow.topic("other")
    flow.configure(MANY_COMMITS)
    fill(flow, topic, 300)
    fill(flow, other, 300)
    flow.make_remote_topics()

    def make_anew() -> None:
        flow.delete_remote_topic(topic)
        make_topic(flow.target, flow.remote(topic))

    disturbed = at(monkeypatch, "flushed", 2, make_anew)
    result = flow.copy()
    assert disturbed.is_set()
    assert_stopped(result, topic, TopicRecreated)
    flow.assert_equal(other)
