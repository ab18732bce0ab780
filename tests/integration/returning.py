"""A flow that fails over and comes back: who wrote what, who has seen what, and whether both sides agree in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from integration import records
from integration.copying import Mirrored, make_topic
from integration.group_reading import commit, committed
from integration.records import Sent
from mirror.config import Flow, load
from mirror.groups.run import run_checkpoints
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition
from mirror.operations.failback import run_failback
from mirror.operations.failback_report import FailbackReport
from mirror.operations.failback_request import FailbackRequest
from mirror.operations.failover import run_failover
from mirror.operations.failover_plan import FailoverRequest
from mirror.operations.failover_report import FailoverReport
from world.kafka import KafkaCluster

IDENTITY = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
DEFAULT = "replication.policy.class = org.apache.kafka.connect.mirror.DefaultReplicationPolicy"
SILENCE_S = 0.3
POLICIES = pytest.mark.parametrize(
    "policy",
    [
        pytest.param(DEFAULT, id="prefixes", marks=pytest.mark.long("the same way with the other names")),
        pytest.param(IDENTITY, id="identity"),
    ],
)


class RoundTrip(Mirrored):
    """Both directions of one flow; records have values of their own, so that none can be taken for another."""

    def __init__(self, directory: Path, here: KafkaCluster, there: KafkaCluster, policy: str = DEFAULT) -> None:
        self._keeps_names = policy == IDENTITY
        super().__init__(directory, here, there)
        self.lines = (
            f"{policy}\ngroups = {self.prefix}.*\ncheckpoints.topic.replication.factor = 1\n"
            "offset-syncs.topic.replication.factor = 1\nairmirror.claim.renew.seconds = 1\n"
            "airmirror.transaction.timeout.ms = 10000"
        )
        self.configure(self.lines)
        self.here = GroupCluster("here", {"bootstrap.servers": here.bootstrap_servers})
        self.there = GroupCluster("there", {"bootstrap.servers": there.bootstrap_servers})
        self._numbers: Counter[str] = Counter()
        # What each group has seen, on either side.
        self.seen: dict[str, set[bytes]] = {}

    @property
    def home(self) -> Flow:
        configuration = load(self.config)
        return configuration.opposite(configuration.flow(self.flow.id))

    def remote(self, topic: str) -> str:
        return topic if self._keeps_names else super().remote(topic)

    def topic_there(self, label: str, partition_count: int = 1, **settings: str) -> str:
        """Make a topic on the target alone, called as a copy is; gives the name that it would have on the source."""
        name = f"{self.prefix}-{label}"
        configs = {key.replace("_", "."): value for key, value in settings.items()}
        make_topic(self.target, self.remote(name), partition_count, **configs)
        return name

    def written(self, label: str, count: int, partition: int) -> list[Sent]:
        start = self._numbers[label]
        self._numbers[label] += count
        return [Sent(value=f"{label}-{n}".encode(), key=b"k", partition=partition) for n in range(start, start + count)]

    def write_here(self, topic: str, label: str, counts: Sequence[int]) -> list[bytes]:
        """So many records into each partition of the topic on the source."""
        return self._write(self.upstream, topic, label, counts)

    def write_there(self, topic: str, label: str, counts: Sequence[int]) -> list[bytes]:
        """The same on the target, into the topic that copies go to."""
        return self._write(self.downstream, self.remote(topic), label, counts)

    def _write(self, cluster: KafkaCluster, name: str, label: str, counts: Sequence[int]) -> list[bytes]:
        sent = [record for number, count in enumerate(counts) for record in self.written(label, count, number)]
        records.write(cluster.bootstrap_servers, name, sent)
        return [record.value or b"" for record in sent]

    def fail_over(self, *, planned: bool = False) -> FailoverReport:
        if not planned:
            run_checkpoints(self.flow)
        return run_failover(self.flow, FailoverRequest(planned=planned, silence_s=SILENCE_S))

    def fail_back(self, **request: Any) -> FailbackReport:
        return run_failback(self.flow, self.home, FailbackRequest(silence_s=SILENCE_S, **request))

    def contents(self, topic: str) -> tuple[records.Topic, records.Topic]:
        return self.read(topic)[topic]

    def assert_same_set(self, topic: str, expected: Sequence[bytes] | None = None) -> None:
        """Both sides hold the same records, partition by partition, and none twice."""
        here, there = self.contents(topic)
        for number in sorted(here):
            ours, theirs = (Counter(r.content for r in side[number]) for side in (here, there))
            twice = [content for content, count in (ours + theirs).items() if count > 2]
            assert not twice, f"{topic}-{number}: twice: {twice[:5]}"
            assert ours == theirs, (
                f"{topic}-{number}: only here {list(ours - theirs)[:5]}, only there {list(theirs - ours)[:5]}"
            )
            assert max(ours.values(), default=1) == 1, f"{topic}-{number}: a record stands twice on both sides"
        if expected is not None:
            found = sorted(r.value or b"" for rows in here.values() for r in rows)
            assert found == sorted(expected)

    def consume(self, side: str, group: str, topic: str, upto: dict[int, int | None]) -> None:
        """Let a group read each partition up to so many of its records (None: all), and commit behind them."""
        cluster, name = (self.here, topic) if side == "here" else (self.there, self.remote(topic))
        servers = (self.upstream if side == "here" else self.downstream).bootstrap_servers
        found = records.read(servers, [name])[name]
        before = committed(cluster, group) if group in self.seen else {}
        offsets: dict[TopicPartition, Committed] = {}
        for number, count in upto.items():
            rows = found[number] if count is None else found[number][:count]
            start = before.get(TopicPartition(name, number), Committed(0)).offset
            self.seen.setdefault(group, set()).update(r.value or b"" for r in rows if r.offset >= start)
            end = rows[-1].offset + 1 if rows else 0
            offsets[TopicPartition(name, number)] = Committed(max(end, start))
        commit(cluster, group, offsets)

    def assert_not_late(self, side: str, topic: str) -> dict[str, int]:
        """No group skips a record that it has not seen; gives how many each would read again."""
        cluster, name = (self.here, topic) if side == "here" else (self.there, self.remote(topic))
        servers = (self.upstream if side == "here" else self.downstream).bootstrap_servers
        found = records.read(servers, [name])[name]
        again: dict[str, int] = {}
        for group, seen in self.seen.items():
            places = committed(cluster, group)
            for number, rows in found.items():
                at = places.get(TopicPartition(name, number))
                assert at is not None, f"{group} has no offset in {name}-{number}"
                skipped = [r.value for r in rows if r.offset < at.offset and r.value not in seen]
                assert not skipped, f"{group} on {side} would skip {skipped[:5]} of {name}-{number}"
                again[group] = again.get(group, 0) + sum(r.offset >= at.offset and r.value in seen for r in rows)
        return again
