"""`airmirror lag` against real clusters: true numbers, what holds a partition, and not a byte written."""

from __future__ import annotations

import time

from confluent_kafka import Producer

from integration.command import Command
from integration.copying import Mirrored
from integration.records import DEADLINE_S, Sent, numbered, producer
from mirror.kafka.timestamps import read_timestamps
from mirror.kafka.values import TopicPartition
from mirror.status import measure_lag

AN_HOUR_MS = 3_600_000


def an_hour_ago() -> int:
    return int(time.time() * 1000) - AN_HOUR_MS


def test_a_flow_that_was_never_copied_says_so_and_nothing_is_written(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders", 2)
    flow.write(topic, numbered(10, partitions=2))
    before = flow.target_ends()
    told = airmirror("lag", "--json")
    assert told.code == 0
    (document,) = told.document["flows"]
    assert (document["never_copied"], document["lag_records"], document["newest_commit"]) == (True, 10, None)
    assert {p["state"] for p in document["partitions"]} == {"waiting"}
    assert topic in document["waiting"]
    assert "never copied; 10 records to copy" in airmirror("lag").out
    assert flow.target_ends() == before  # no internal topic was made either


def test_lag_is_what_came_since_the_copy_and_as_old_as_its_first_record(flow: Mirrored, airmirror: Command) -> None:
    topic, quiet = flow.topic("orders", 2), flow.topic("quiet")
    flow.write(topic, numbered(10, partitions=2))
    flow.make_remote_topics()
    assert airmirror("copy").code == 0
    current = airmirror.lag()
    assert {(p["state"], p["lag_records"], p["lag_seconds"]) for p in current.values()} == {("current", 0, 0.0)}
    assert current[topic, 0]["newest_commit"] is not None
    assert current[quiet, 0]["newest_commit"] is None

    stamp = an_hour_ago()
    flow.write(topic, [Sent(value=b"first", timestamp_ms=stamp, partition=1), Sent(value=b"second", partition=1)])
    before = flow.target_ends()
    lag = {p.partition: p for p in measure_lag(flow.flow).partitions}
    behind = lag[TopicPartition(topic, 1)]
    assert (behind.state, behind.position, behind.end, behind.lag, behind.oldest_ms) == ("behind", 5, 7, 2, stamp)
    assert lag[TopicPartition(topic, 0)].lag == 0
    by_topic = airmirror("lag")
    (row,) = by_topic.rows(topic)
    assert row[1:10] == ["2", "2", "1", "h", "0", "min", "1", "at", "5"]
    assert "2 records behind" in by_topic.out
    by_partition = airmirror("lag", "--partitions").rows(topic)
    assert [row[1:5] for row in by_partition] == [["0", "5", "5", "0"], ["1", "5", "7", "2"]]
    assert flow.target_ends() == before


def open_transaction(flow: Mirrored, topic: str, stamp: int) -> Producer:
    """Records of a transaction that nobody ends."""
    client = producer(flow.upstream.bootstrap_servers, transactional_id=f"{topic}-hanging")
    client.init_transactions(DEADLINE_S)
    client.begin_transaction()
    for number in range(3):
        client.produce(topic, b"held-%d" % number, partition=0, timestamp=stamp + number)
    assert client.flush(DEADLINE_S) == 0
    return client


def test_a_hanging_transaction_shows_as_held_since_and_the_rest_goes_on(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders", 2)
    flow.write(topic, numbered(10, partitions=2))
    stamp = an_hour_ago()
    hanging = open_transaction(flow, topic, stamp)
    flow.write(topic, numbered(4, start=10, partitions=2))
    flow.make_remote_topics()
    assert airmirror("copy").code == 0
    (held, free) = measure_lag(flow.flow).partitions
    assert (held.state, held.position, held.stable_end, held.end, held.lag) == ("held", 5, 5, 10, 5)
    assert held.held_since_ms == stamp
    assert (free.state, free.lag) == ("current", 0)
    assert "held since" in airmirror("lag").out

    hanging.abort_transaction(DEADLINE_S)
    assert airmirror("copy").code == 0
    assert {p["state"] for p in airmirror.lag().values()} == {"current"}
    flow.assert_equal(topic)


def test_a_gap_is_told_before_and_after_it_is_on_record(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(10))
    flow.make_remote_topics()
    assert airmirror("copy").code == 0
    flow.write(topic, numbered(10, start=10))
    flow.delete_records(topic, 15)
    for recorded in (False, True):
        (gap,) = airmirror.lag()[topic, 0]["gaps"]
        assert (gap["from"], gap["to"], gap["reason"], gap["recorded"]) == (10, 15, "retention", recorded)
        assert airmirror("copy").code == 0


def test_timestamps_of_many_partitions_are_read_at_once_and_an_end_has_none(flow: Mirrored) -> None:
    topic = flow.topic("many", 30)
    stamp = an_hour_ago()
    sent = [Sent(value=b"x" * 500, timestamp_ms=stamp + n, partition=n % 30) for n in range(300)]
    flow.write(topic, sent)
    positions = {TopicPartition(topic, n): 2 for n in range(29)} | {TopicPartition(topic, 29): 10}
    found = read_timestamps(flow.links.source_consumer, flow.flow.source, positions)
    expected = {TopicPartition(topic, n): stamp + 60 + n for n in range(29)}
    assert found == {**expected, TopicPartition(topic, 29): None}
    assert read_timestamps(flow.links.source_consumer, flow.flow.source, {}) == {}
