"""Where copies begin: decided once per partition, and never later than what arrives after the first run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from integration import records
from integration.copying import Mirrored
from integration.hostile import transactional
from integration.records import Sent, numbered, send
from mirror.errors import ForeignData
from mirror.kafka.values import TopicPartition

BEFORE, BETWEEN, AFTER = numbered(10), numbered(10, start=10), numbered(10, start=20)
LATEST = "SOURCE.consumer.auto.offset.reset = latest"  # with the alias for SOURCE
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)


def values(*parts: list[Sent]) -> list[bytes | None]:
    return [record.value for part in parts for record in part]


@pytest.mark.parametrize(
    ("lines", "first", "second"),
    [
        ("", [BEFORE], [BEFORE, BETWEEN]),
        (LATEST, [], [BETWEEN]),
        ("airmirror.start = {topic}:0:7", [BEFORE[7:]], [BEFORE[7:], BETWEEN]),
        (LATEST + "\nairmirror.start = {topic}:0:7", [BEFORE[7:]], [BEFORE[7:], BETWEEN]),
        (LATEST + "\nairmirror.start = another:0:7", [], [BETWEEN]),
    ],
    ids=["earliest", "latest", "offset", "offset-over-latest", "offset-of-another-topic"],
)
def test_what_arrives_between_two_runs_is_copied_and_nothing_before_the_start(
    flow: Mirrored, lines: str, first: list[list[Sent]], second: list[list[Sent]]
) -> None:
    topic = flow.topic("orders")
    flow.configure(lines.format(topic=topic))
    flow.write(topic, BEFORE)
    flow.mirror().raise_if_incomplete()
    assert flow.downstream_values(topic) == values(*first)
    flow.write(topic, BETWEEN)
    flow.mirror().raise_if_incomplete()
    assert flow.downstream_values(topic) == values(*second)


def test_a_timestamp_starts_each_partition_at_its_first_record_not_older(flow: Mirrored) -> None:
    """Partition 0 crosses the moment, 1 lies before it, 2 behind it, 3 is empty."""
    topic = flow.topic("orders", 4, retention_ms="-1")
    flow.configure(f"airmirror.start = {NOON.isoformat()}")
    stamps = {0: (-2, -1, 0, 1), 1: (-3, -2), 2: (5, 6)}
    old = [
        Sent(value=b"%d" % distance, timestamp_ms=NOON_MS + distance, partition=partition)
        for partition, distances in stamps.items()
        for distance in distances
    ]
    flow.write(topic, old)
    flow.mirror().raise_if_incomplete()
    assert [flow.downstream_values(topic, n) for n in range(4)] == [[b"0", b"1"], [], [b"5", b"6"], []]
    # What arrives later is copied whatever time it bears.
    flow.write(topic, [Sent(value=b"late", timestamp_ms=NOON_MS - 9, partition=n) for n in range(4)])
    flow.mirror().raise_if_incomplete()
    copied = [flow.downstream_values(topic, n) for n in range(4)]
    assert copied == [[b"0", b"1", b"late"], [b"late"], [b"5", b"6", b"late"], [b"late"]]


@pytest.mark.parametrize("lines", [LATEST, "airmirror.start = 2100-01-01"], ids=["latest", "timestamp"])
def test_partitions_and_topics_that_appear_later_are_copied_from_their_beginning(flow: Mirrored, lines: str) -> None:
    topic = flow.topic("orders")
    flow.configure(lines)
    flow.write(topic, BEFORE)
    flow.mirror()
    flow.source.grow_topics({topic: 2})
    later = flow.topic("later")
    flow.write(topic, [record._replace(partition=1) for record in BETWEEN])
    flow.write(later, AFTER)
    flow.mirror().raise_if_incomplete()
    assert flow.downstream_values(topic, 0) == []
    assert flow.downstream_values(topic, 1) == values(BETWEEN)
    assert flow.downstream_values(later) == values(AFTER)


def test_latest_is_decided_before_the_remote_topic_exists_and_not_anew_with_each_run(flow: Mirrored) -> None:
    """The first run can copy nothing yet; what arrives until the second one must not count as old."""
    topic = flow.topic("orders")
    flow.configure(LATEST)
    flow.write(topic, BEFORE)
    assert topic in flow.copy().waiting
    flow.write(topic, BETWEEN)
    flow.mirror().raise_if_incomplete()
    assert flow.downstream_values(topic) == values(BETWEEN)


def test_latest_beside_an_open_transaction_copies_what_it_commits_later(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.configure(LATEST)
    flow.write(topic, BEFORE)
    open_one = transactional(flow, "open")
    open_one.begin_transaction()
    send(open_one, topic, BETWEEN)
    flow.mirror()
    open_one.commit_transaction()
    flow.mirror().raise_if_incomplete()
    assert flow.downstream_values(topic) == values(BETWEEN)


def test_a_remote_topic_with_records_of_nobody_we_know_stops_that_topic_unless_the_file_says_append(
    flow: Mirrored,
) -> None:
    topic, other = flow.topic("orders"), flow.topic("other")
    flow.write(topic, BEFORE)
    flow.write(other, BEFORE)
    flow.make_remote_topics()
    records.write(flow.downstream.bootstrap_servers, flow.remote(topic), AFTER)
    result = flow.copy()
    (failed,) = result.failed
    assert isinstance(failed.error, ForeignData)
    assert failed.partition == TopicPartition(topic, 0)
    assert failed.error.about["end"] == len(AFTER)
    assert flow.downstream_values(topic) == values(AFTER)
    flow.assert_equal(other)
    flow.configure("airmirror.on.foreign.data = append")
    flow.copy().raise_if_incomplete()
    assert flow.downstream_values(topic) == values(AFTER, BEFORE)
