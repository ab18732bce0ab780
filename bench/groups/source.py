"""A source on which offsets drift apart: transactions, aborts, a compacted topic, purged heads, in several rounds."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from bench.groups.reading import read_all
from bench.load import send
from mirror.kafka.cluster import Cluster
from mirror.kafka.configs import SettingChange, alter_settings
from mirror.kafka.values import NewTopic
from mirror.topics.visibility import wait_until_visible

PARTITION_COUNTS = {"payments": 4, "orders": 4, "profiles": 2, "mixed": 2}
ROUND_COUNT = 3
# Per round: transactions over all partitions of a topic, plain records of each partition.
TRANSACTION_COUNT = 100
RECORD_COUNT = 1_500
KEY_COUNT = 200

# What makes the cleaner come at once; taken away before anybody copies, so that the remote topics do not get it.
_CLEANED_NOW = {"segment.ms": "100", "min.cleanable.dirty.ratio": "0.01", "max.compaction.lag.ms": "1"}
_DEADLINE_S = 120.0

Record = tuple[str, int, bytes, bytes]  # topic, partition, key, value


class HostileSource:
    """The topics of one source cluster; every value is written once, so that a record is known by it."""

    def __init__(self, servers: str, seed: int) -> None:
        self._servers = servers
        self._rng = random.Random(seed)
        self._count = 0
        # Errors only in the client's log: that the cluster ends before its client is no news.
        settings = {"bootstrap.servers": servers, "linger.ms": 5, "log_level": 3}
        self._plain = Producer({**settings, "enable.idempotence": True})
        self._transactional = Producer({**settings, "transactional.id": "bench"})

    def make(self) -> None:
        """The topics, and their first round: heads deleted, the compacted one cleaned."""
        cluster = Cluster("A", {"bootstrap.servers": self._servers})
        compacted = {"profiles": {"cleanup.policy": "compact", **_CLEANED_NOW}}
        wishes = [
            NewTopic(name=name, partition_count=count, replication_factor=1, configs=compacted.get(name, {}))
            for name, count in PARTITION_COUNTS.items()
        ]
        for error in cluster.create_topics(wishes).values():
            if error is not None:
                raise error
        wait_until_visible(cluster, PARTITION_COUNTS)
        self._transactional.init_transactions(60)
        self.grow()
        self._purge("orders")
        self._clean(cluster, "profiles")

    def grow(self) -> None:
        """One round more of everything."""
        for _ in range(TRANSACTION_COUNT):
            self._transaction("payments", self._rng.randint(1, 30))
        for turn in range(TRANSACTION_COUNT // 2):
            self._transaction("mixed", self._rng.randint(1, 10))
            self._write_plain(self._records("mixed", self._rng.randint(0, 30)))
            if turn % 5 == 0:
                self._plain.flush(_DEADLINE_S)
        self._write_plain(self._records("orders", RECORD_COUNT))
        self._write_plain(self._records("profiles", RECORD_COUNT // 3))
        self._plain.flush(_DEADLINE_S)

    def _records(self, topic: str, count: int) -> Iterable[Record]:
        for _ in range(count):
            for partition in range(PARTITION_COUNTS[topic]):
                self._count += 1
                key = b"key-%d" % self._rng.randrange(KEY_COUNT)
                yield topic, partition, key, b"%s-%d" % (topic.encode(), self._count)

    def _transaction(self, topic: str, count: int) -> None:
        self._transactional.begin_transaction()
        _write(self._transactional, self._records(topic, count))
        if self._rng.random() < 0.25:
            self._transactional.flush(_DEADLINE_S)
            self._transactional.abort_transaction(_DEADLINE_S)
        else:
            self._transactional.commit_transaction(_DEADLINE_S)

    def _write_plain(self, records: Iterable[Record]) -> None:
        _write(self._plain, records)

    def _purge(self, topic: str) -> None:
        """Delete the head of each partition, as retention does."""
        heads = [
            TopicPartition(topic, number, self._rng.randint(1, RECORD_COUNT // 2))
            for number in range(PARTITION_COUNTS[topic])
        ]
        admin = AdminClient({"bootstrap.servers": self._servers})
        for future in admin.delete_records(heads).values():
            future.result(_DEADLINE_S)

    def _clean(self, cluster: Cluster, topic: str) -> None:
        """Wait until the cleaner was there, then let the topic be an ordinary compacted one."""

        def is_cleaned() -> bool:
            # A record more closes the segment that is to be cleaned.
            self._write_plain(self._records(topic, 1))
            self._plain.flush(_DEADLINE_S)
            found = read_all(self._servers, [topic])
            return all(records and len(records) < records[-1].offset * 0.8 for records in found.values())

        _wait_until(is_cleaned, f"{topic} is compacted")
        changes = [SettingChange(name=name, operation="delete") for name in _CLEANED_NOW]
        for error in alter_settings(cluster, {topic: changes}).values():
            if error is not None:
                raise error


def _write(producer: Producer, records: Iterable[Record]) -> None:
    for record in records:
        send(producer, *record)


def _wait_until(holds: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + _DEADLINE_S
    while not holds():
        if time.monotonic() > give_up:
            raise RuntimeError(f"not in {_DEADLINE_S:.0f} s: {what}")
        time.sleep(0.3)
