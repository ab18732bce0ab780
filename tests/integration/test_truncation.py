"""A source that lost the end of its log: what was copied is not there any more, and the copy says so.

An unclean election gives a partition to a replica that missed records. Its log may have grown past the position by
the next copy, and then looks whole: only the leader epoch of the last copied record tells (the witness).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from integration import records
from integration.copying import Mirrored, admin, result_of
from integration.records import DEADLINE_S, Sent, numbered
from integration.returning import POLICIES, RoundTrip
from mirror.copy import driver
from mirror.copy.look import look
from mirror.errors import CopyIncomplete, LogTruncated
from mirror.kafka.values import TopicPartition
from mirror.verify import run_verify
from world.kafka import Broker, KafkaCluster

ELECTION = "org.apache.kafka.tools.LeaderElectionCommand"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    with KafkaCluster("three", tmp_path_factory.mktemp("three"), brokers=3) as cluster:
        yield cluster


@pytest.fixture
def flow(tmp_path: Path, source: KafkaCluster, west: KafkaCluster) -> Mirrored:
    return Mirrored(tmp_path, source, west)


class TwoReplicas:
    """A topic on two of three brokers: one that leads, and one that can be made to miss records."""

    def __init__(self, flow: Mirrored) -> None:
        self.flow = flow
        self.partition = TopicPartition(
            flow.topic("orders", replication_factor=2, unclean_leader_election_enable="true", min_insync_replicas="1"),
            0,
        )
        self.other = flow.topic("other", replication_factor=3)
        self.leader, self.follower = (self._broker(node) for node in self._replicas())
        self.wait_for_leader(self.leader)

    def _replicas(self) -> list[int]:
        client = admin(self.flow.upstream)
        described = client.list_topics(self.partition.topic, timeout=DEADLINE_S).topics[self.partition.topic]
        return list(described.partitions[0].replicas)

    def _broker(self, node_id: int) -> Broker:
        return next(broker for broker in self.flow.upstream.brokers if broker.node.id == node_id)

    def wait_for_leader(self, broker: Broker) -> None:
        client = admin(self.flow.upstream)
        self._wait(lambda: self._metadata(client).leader == broker.node.id, f"{broker.name} leads")

    def wait_for_in_sync(self, count: int) -> None:
        client = admin(self.flow.upstream)
        self._wait(lambda: len(self._metadata(client).isrs) == count, f"{count} replicas in sync")

    def _metadata(self, client: object) -> object:
        return client.list_topics(self.partition.topic, timeout=5).topics[self.partition.topic].partitions[0]  # type: ignore[attr-defined]

    def _wait(self, holds: object, what: str) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                if holds():  # type: ignore[operator]
                    return
            except KafkaException:
                pass  # the broker that was asked is the one that is down
            assert time.monotonic() < deadline, f"not in {DEADLINE_S} s: {what}"
            time.sleep(0.1)

    def lose_the_end(self, kept: list[Sent], lost: list[Sent]) -> None:
        """Copy records of which only the leader has the last, then let the follower lead without them."""
        flow, topic = self.flow, self.partition.topic
        flow.write(topic, kept)
        flow.write(self.other, kept)
        self.wait_for_in_sync(2)
        self.follower.stop()
        self.wait_for_in_sync(1)
        flow.write(topic, lost)
        flow.mirror().raise_if_incomplete()
        assert flow.states()[self.partition].position == len(kept) + len(lost)
        self.leader.kill()
        self.follower.start()
        self.follower.wait_until_ready()
        self._elect_unclean()
        self.wait_for_leader(self.follower)

    def _elect_unclean(self) -> None:
        """Ask for it, where the controller would rather wait for a replica that has everything."""
        self.flow.upstream.tool(
            ELECTION, *("--election-type", "UNCLEAN", "--topic", self.partition.topic, "--partition", "0")
        )

    def recover(self) -> None:
        for broker in self.flow.upstream.brokers:
            if not broker.is_running():
                broker.start()
                broker.wait_until_ready()


@pytest.fixture
def two(flow: Mirrored) -> Iterator[TwoReplicas]:
    topic = TwoReplicas(flow)
    yield topic
    topic.recover()


def assert_truncated(two: TwoReplicas, position: int) -> LogTruncated:
    flow = two.flow
    flow.write(two.other, numbered(5, start=500))
    before = flow.downstream_values(two.partition.topic)
    result = flow.copy()
    error = result_of(result, two.partition.topic).error
    assert isinstance(error, LogTruncated), result.to_json()
    assert error.about["position"] == position
    assert str(position) in error.message
    assert flow.downstream_values(two.partition.topic) == before
    flow.assert_equal(two.other)
    with pytest.raises(CopyIncomplete):
        result.raise_if_incomplete()
    return error


def test_a_log_that_lost_what_was_copied_is_named_also_when_it_has_grown_past_the_position(
    two: TwoReplicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    two.lose_the_end(numbered(10), numbered(10, start=10))
    ends = look(two.flow.flow).survey.source.ends
    assert ends[two.partition] == 10, "the election was not unclean: the records are still there"
    # The position lies beyond the end.
    assert_truncated(two, position=20)
    # The log grows past the position, with other records: from outside it looks as if nothing had happened.
    two.flow.write(two.partition.topic, numbered(30, start=100))
    error = assert_truncated(two, position=20)
    assert "leader epoch" in error.message
    # The witness alone sees it: without it, the next records are copied behind ones that the source does not have.
    monkeypatch.setattr(driver, "truncated_partitions", lambda *_: ({}, []))
    two.flow.copy().raise_if_incomplete()
    here, there = two.flow.read(two.partition.topic)[two.partition.topic]
    assert records.first_difference(here, there)


@pytest.mark.long("brokers take their time to come back")
def test_a_clean_change_of_leader_is_no_truncation_and_copies_go_on_exactly(two: TwoReplicas) -> None:
    flow, topic = two.flow, two.partition.topic
    flow.write(topic, numbered(10))
    flow.mirror().raise_if_incomplete()
    two.wait_for_in_sync(2)
    two.leader.stop()
    two.wait_for_leader(two.follower)
    flow.write(topic, numbered(10, start=10))
    flow.copy().raise_if_incomplete()
    flow.assert_equal(topic)
    two.recover()
    two.wait_for_in_sync(2)
    flow.upstream.tool(ELECTION, *("--election-type", "PREFERRED", "--topic", topic, "--partition", "0"))
    two.wait_for_leader(two.leader)
    flow.copy().raise_if_incomplete()  # nothing new, and nothing wrong
    flow.write(topic, numbered(10, start=20))
    result = flow.copy()
    result.raise_if_incomplete()
    assert not result.notices
    assert flow.states()[two.partition].position == 30
    flow.assert_equal(topic)


@pytest.mark.long("six brokers")
@POLICIES
def test_failback_brings_home_what_the_source_lost_with_its_tail(
    tmp_path: Path, source: KafkaCluster, west: KafkaCluster, policy: str
) -> None:
    flow = RoundTrip(tmp_path, source, west, policy)
    two = TwoReplicas(flow)
    try:
        two.lose_the_end(numbered(10), numbered(10, start=10))
    finally:
        two.recover()
    topic, group = two.partition.topic, f"{flow.prefix}-group"
    flow.fail_over()
    every = [record.value or b"" for record in numbered(20)] + flow.write_there(topic, "there", (5,))
    flow.consume("there", group, topic, {0: 17})
    # The lost place is taken by records that nobody copied.
    every += flow.write_here(topic, "stray", (3,))
    report = flow.fail_back()
    assert report.returned == 15, "ten that the source lost, five that are the target's own"
    assert [s["runs"] for s in report.survivors] == [[{"from": 10, "to": 13}]]
    flow.assert_same_set(topic, every)
    flow.assert_not_late("here", topic)
    every += flow.write_here(topic, "again", (4,))
    assert flow.copy().record_count == 4
    flow.assert_same_set(topic, every)
    flow.fail_over(planned=True)
    flow.assert_not_late("there", topic)
    every += flow.write_there(topic, "there", (3,))
    report = flow.fail_back()
    assert (report.returned, report.survivor_count) == (3, 0)
    flow.assert_same_set(topic, every)
    flow.assert_not_late("here", topic)
    assert run_verify(flow.flow, parts=()).is_equal
