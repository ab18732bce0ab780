"""Reads records from the source at given positions, and tells what it met besides records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from confluent_kafka import KafkaError, Message
from confluent_kafka import TopicPartition as ClientTopicPartition

from mirror.kafka.connection import Connection
from mirror.kafka.errors import DENIED, MISSING, kafka_call
from mirror.kafka.log import consumer_for
from mirror.kafka.values import TopicPartition


class Met(Enum):
    """What a message without a record stands for."""

    END = "the partition's end"
    OUT_OF_RANGE = "the position is not in the log"
    TRUNCATED = "the log was truncated below the position"
    MISSING = "the topic or partition does not exist"
    DENIED = "not authorized"
    PASSING = "a passing fault that the client itself handles"


class SourceReader:
    """A consumer without a group: positions are given, never stored, never reset."""

    def __init__(self, alias: str, settings: Mapping[str, Any], *, isolation_level: str) -> None:
        self.alias = alias
        defaults: dict[str, Any] = {
            "fetch.wait.max.ms": 100,
            "fetch.max.bytes": 32 * 1024 * 1024,
            "max.partition.fetch.bytes": 8 * 1024 * 1024,
            "queued.max.messages.kbytes": 64 * 1024,
            "queued.min.messages": 200_000,
            "receive.message.max.bytes": 1_000_000_000,
        }
        self._paused: set[TopicPartition] = set()
        self._connection = Connection(alias)
        self._consumer = consumer_for(
            {**defaults, **settings}, self._connection, **{"isolation.level": isolation_level}
        )

    def close(self) -> None:
        self._consumer.close()

    def assign(self, positions: Mapping[TopicPartition, int]) -> None:
        """Read these partitions from these positions, and forget what was fetched before."""
        with kafka_call("assign partitions", self.alias):
            # A partition that was paused stays so through a new assignment, and would never give a record again.
            # Resumed behind the assignment instead, it was seen to throw away what it had fetched: records lost.
            self._consumer.resume([ClientTopicPartition(p.topic, p.partition) for p in self._paused])
            self._paused.clear()
            self._consumer.assign([ClientTopicPartition(p.topic, p.partition, at) for p, at in positions.items()])

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these no further until they are assigned again."""
        pausing = set(partitions)
        with kafka_call("pause partitions", self.alias):
            self._consumer.pause([ClientTopicPartition(p.topic, p.partition) for p in pausing])
        self._paused |= pausing

    def read(self, count: int, wait_s: float) -> list[Message]:
        """Up to `count` messages; returns as soon as there is one, at the latest after `wait_s`."""
        with kafka_call("read records", self.alias):
            # consume(n, t) waits the whole t for the n-th message: one first, then what is there.
            first = self._consumer.consume(1, wait_s)
            if not first:
                self._connection.raise_if_refused("read records")
                return first
            self._connection.answered()
            return first + self._consumer.consume(count - 1, 0)


def met(error: KafkaError) -> Met:
    """What the error of a consumed message means for its partition."""
    code = error.code()
    if code == KafkaError._PARTITION_EOF:
        return Met.END
    if code in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
        return Met.OUT_OF_RANGE
    if code == KafkaError._LOG_TRUNCATION:
        return Met.TRUNCATED
    if code in MISSING:
        return Met.MISSING
    if code in DENIED:
        return Met.DENIED
    return Met.PASSING
