"""One flow under fault: a growing source with two topics, copies that are struck, and the promise at the end."""

from __future__ import annotations

import os
from pathlib import Path

from faults.growth import FIRST_COUNT, GrowingSource
from faults.runs import Runs
from integration import records
from integration.copying import Mirrored
from mirror.copy.state import read_states
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.records import Record, transformation_of
from mirror.wire.history import Early, Exact
from mirror.wire.partition_state import PartitionState
from world.kafka import KafkaCluster

REPEATS = int(os.environ.get("AIRMIRROR_FAULT_REPEATS", "1"))
IS_LONG = REPEATS > 1

# Small transactions, so that many commits are struck; a dead claim is free after three seconds.
LINES = """
airmirror.copy.commit.bytes = 100000
airmirror.copy.commit.interval.ms = 150
airmirror.claim.renew.seconds = 1
airmirror.transaction.timeout.ms = 10000
"""
PARTITION_COUNTS = {"orders": 3, "audit": 2}
# Offsets behind which every translation must be exact, whatever was merged before.
NEWEST = 200


class Scenario:
    """A mirrored flow whose copies run as processes."""

    def __init__(
        self,
        directory: Path,
        upstream: KafkaCluster,
        downstream: KafkaCluster,
        *,
        lines: str = LINES,
        replication_factor: int = 1,
        newest: int = NEWEST,
    ) -> None:
        self._newest = newest
        self.mirrored = Mirrored(directory, upstream, downstream, lines)
        self.counts = {
            self.mirrored.topic(label, count, replication_factor=replication_factor): count
            for label, count in PARTITION_COUNTS.items()
        }
        self.runs = Runs(self.mirrored.config, self.mirrored.flow.id, directory)

    def growing(self, *, first_count: int = FIRST_COUNT) -> GrowingSource:
        source = GrowingSource(self.mirrored.upstream.bootstrap_servers, self.counts, first_count=first_count)
        self.mirrored.make_remote_topics()
        return source

    def wanted(self, upstream: records.Topic, topic: str) -> records.Topic:
        """What is to be on the target of these records of the source, each with its upstream offset."""
        transformation = transformation_of(self.mirrored.flow)
        if transformation is None:
            return upstream
        transformation.prepare(self.mirrored.flow.folder)
        found: records.Topic = {number: [] for number in upstream}
        for number, originals in upstream.items():
            for seen in originals:
                record = Record(topic, self.mirrored.remote(topic), number, *_in_order(seen))
                if (kept := transformation.apply(record)) is not None:
                    found[number].append(
                        records.Seen(seen.offset, kept.key, kept.value, kept.headers, kept.timestamp_ms)
                    )
        return found

    def assert_prefix(self) -> int:
        """At any time a reader of the target sees the source's records up to some point, and nothing else."""
        copied = 0
        downstream = records.read(self.mirrored.downstream.bootstrap_servers, [*map(self.mirrored.remote, self.counts)])
        upstream = records.read(self.mirrored.upstream.bootstrap_servers, [*self.counts])
        for topic in self.counts:
            wanted = self.wanted(upstream[topic], topic)
            for number, there in downstream[self.mirrored.remote(topic)].items():
                here = {number: wanted[number][: len(there)]}
                difference = records.first_difference(here, {number: there})
                assert not difference, f"{topic}: {difference}"
                copied += len(there)
        return copied

    def difference(self) -> str:
        """The first difference between source and target; empty when there is none."""
        seen = self.mirrored.read(*self.counts)
        told = {topic: records.first_difference(here, there) for topic, (here, there) in seen.items()}
        return "\n".join(f"{topic}: {what}" for topic, what in told.items() if what)

    def twice(self) -> int:
        """Records that a reader of the target sees more than once; each carries a number of its own or a null."""
        seen = self.mirrored.read(*self.counts)
        values = [r.value for _, there in seen.values() for rows in there.values() for r in rows if r.value is not None]
        return len(values) - len(set(values))

    def assert_exact(self) -> None:
        """After a last copy: every record once, in order and unchanged, and every translation right."""
        last = self.mirrored.copy(on_held="wait")
        last.raise_if_incomplete()
        seen = self.mirrored.read(*self.counts)
        # A fresh client: one that lived through a broker's death may still remember what it was told then.
        links = self.mirrored.links
        states = read_states(links, Cluster(links.target, links.target_admin)).states
        for topic, (upstream, there) in seen.items():
            here = self.wanted(upstream, topic)
            difference = records.first_difference(here, there)
            assert not difference, f"{topic}: {difference}"
            for number, originals in here.items():
                assert originals, f"{topic}-{number}: nothing was copied, so nothing was tested"
                assert_translations(states[TopicPartition(topic, number)], originals, there[number], self._newest)
        self.runs.assert_none_left()


def _in_order(seen: records.Seen) -> tuple[int, bytes | None, bytes | None, records.Headers, int]:
    return seen.offset, seen.key, seen.value, seen.headers, seen.timestamp_ms


def assert_translations(
    state: PartitionState, upstream: list[records.Seen], downstream: list[records.Seen], newest_count: int = NEWEST
) -> None:
    """No offset translates behind a record not yet seen; among the newest, each to the very next record."""
    name = f"{state.topic}-{state.partition}"
    newest = upstream[-newest_count].offset if len(upstream) > newest_count else upstream[0].offset
    index = 0
    for offset in range(upstream[0].offset, upstream[-1].offset + 1):
        if upstream[index].offset < offset:
            index += 1
        right = downstream[index].offset
        # Where the target has markers or aborted records before the next record, any of them leads to it too.
        earliest = downstream[index - 1].offset + 1 if index else 0
        found = state.translate(offset)
        assert isinstance(found, Exact | Early), f"{name}: {offset} has no translation: {found}"
        assert found.downstream <= right, f"{name}: {offset} leads to {found}, behind its record at {right}"
        if offset >= newest:
            assert isinstance(found, Exact), f"{name}: {offset} is new, but leads to {found}"
            assert earliest <= found.downstream, f"{name}: {offset} leads to {found}, before {earliest}"
