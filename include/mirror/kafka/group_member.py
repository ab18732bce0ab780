"""A real consumer in a group: joins it, goes on where the group stands, and commits nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message
from confluent_kafka import TopicPartition as ClientTopicPartition

from mirror.kafka.connection import Connection
from mirror.kafka.errors import error_of, kafka_call
from mirror.kafka.reader import Met, met
from mirror.kafka.samples import SMALL_FETCHES, Sample, sample_of
from mirror.kafka.values import TopicPartition

# Seconds after which the brokers drop a member that was killed: the least that they accept by default, so that what a
# killed reader leaves behind can be deleted soon.
SESSION_S = 6.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many records to read of a partition, and up to which offset at least before its end counts as met.

    Committed records show a moment after the commit returned: an end short of them is no end yet.
    """

    count: int
    end: int


@dataclass(slots=True, kw_only=True)
class MemberReading:
    """What the member read: per partition its first records, and how long each step took since its start."""

    records: dict[TopicPartition, list[Sample]]
    # The partition's end was met before as many records came as were asked for.
    ended: set[TopicPartition] = field(default_factory=set)
    # Partitions that cannot be read, and why.
    refused: dict[TopicPartition, str] = field(default_factory=dict)
    # Neither enough records nor an end in time.
    late: set[TopicPartition] = field(default_factory=set)
    joined_s: float | None = None
    first_record_s: float | None = None


def read_as_member(
    settings: Mapping[str, Any],
    alias: str,
    group: str,
    wanted: Mapping[TopicPartition, Wanted],
    *,
    timeout_s: float,
    stop: threading.Event,
) -> MemberReading:
    """Join the group, and read the first records of each partition from the offsets that the group has.

    Nothing is reset: a partition where the group has no offset, or one outside the log, is refused and said so. `stop`
    ends it early, whoever sets it.
    """
    connection = Connection(alias)
    consumer = Consumer(
        {
            **settings,
            **SMALL_FETCHES,
            "group.id": group,
            # Sessions are the client's to set in the classic protocol alone.
            "group.protocol": "classic",
            "session.timeout.ms": int(SESSION_S * 1000),
            "heartbeat.interval.ms": int(SESSION_S * 1000 / 3),
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "allow.auto.create.topics": False,
            **connection.settings(),
        }
    )
    try:
        return _Member(consumer, alias, group, wanted).read(timeout_s, stop)
    finally:
        consumer.close()


class _Member:
    def __init__(self, consumer: Consumer, alias: str, group: str, wanted: Mapping[TopicPartition, Wanted]) -> None:
        self._consumer = consumer
        self._alias = alias
        self._action = f"read as a member of group {group}"
        self._wanted = wanted
        self._waiting = set(wanted)
        self._started = time.monotonic()
        self._reading = MemberReading(records={partition: [] for partition in wanted})

    def read(self, timeout_s: float, stop: threading.Event) -> MemberReading:
        give_up = self._started + timeout_s
        with kafka_call(self._action, self._alias):
            self._consumer.subscribe(sorted({p.topic for p in self._wanted}), on_assign=self._on_assign)
            while self._waiting and time.monotonic() < give_up and not stop.is_set():
                messages = self._consumer.consume(1, 0.2)
                messages += self._consumer.consume(500, 0)
                done = [p for message in messages if (p := self._take(message)) is not None]
                if done:
                    self._consumer.pause([ClientTopicPartition(*p) for p in done])
        self._reading.late = set(self._waiting)
        return self._reading

    def _on_assign(self, *_: object) -> None:
        if self._reading.joined_s is None:
            self._reading.joined_s = time.monotonic() - self._started

    def _take(self, message: Message) -> TopicPartition | None:
        """Note one message; gives its partition where that is done."""
        partition = TopicPartition(str(message.topic()), int(message.partition() or 0))
        if (error := message.error()) is not None:
            self._take_error(partition, error, int(message.offset() or 0))
        elif partition in self._waiting:
            if self._reading.first_record_s is None:
                self._reading.first_record_s = time.monotonic() - self._started
            found = self._reading.records[partition]
            found.append(sample_of(message, int(message.offset() or 0))[0])
            if len(found) >= self._wanted[partition].count:
                self._waiting.discard(partition)
                return partition
        return None

    def _take_error(self, partition: TopicPartition, error: KafkaError, offset: int) -> None:
        what = met(error)
        if what is Met.DENIED and (denied := error_of(error, self._action, self._alias)) is not None:
            raise denied
        if partition not in self._waiting or what is Met.PASSING:
            return
        if what is Met.END:
            if offset < self._wanted[partition].end:
                return
            self._reading.ended.add(partition)
        else:
            self._reading.refused[partition] = str(what.value)
        self._waiting.discard(partition)
