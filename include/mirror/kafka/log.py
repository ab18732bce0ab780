"""Small logs that hold state: read them to a known end, append to them and know that it stands."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from confluent_kafka import Consumer, KafkaError, Message, Producer
from confluent_kafka import TopicPartition as ClientTopicPartition

from mirror.errors import ClusterBusy, ClusterUnreachable
from mirror.kafka.connection import Connection, making_a_client
from mirror.kafka.errors import error_of, kafka_call
from mirror.kafka.values import TopicPartition

# Seconds to wait for the end of a log. The stable offset may be held back by a frozen slot's open transaction until the
# broker aborts it (transaction.timeout.ms, a minute by default): less than that, and its successor gives up too soon.
READ_TIMEOUT_S = 150.0
APPEND_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One record of a state log; `timestamp_ms` is the broker's where the topic says so."""

    partition: TopicPartition
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A record about to be appended; without a timestamp it gets the client's now."""

    partition: TopicPartition
    key: bytes | None
    value: bytes | None
    timestamp_ms: int | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def consumer_for(settings: Mapping[str, Any], connection: Connection | None = None, /, **more: Any) -> Consumer:
    """A consumer that never commits, never resets and tells where each partition ends."""
    connection = connection or Connection(str(settings.get("client.id", "")))
    with making_a_client(connection.alias, settings):
        return Consumer(
            {
                **settings,
                "group.id": "airmirror-without-a-group",
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "enable.partition.eof": True,
                **connection.settings(),
                **more,
            }
        )


def read_log(
    settings: Mapping[str, Any],
    alias: str,
    ranges: Mapping[TopicPartition, tuple[int, int]],
    *,
    committed: bool,
    timeout_s: float = READ_TIMEOUT_S,
) -> list[LogRecord]:
    """All records of each partition's `[start, end)`, waiting while open transactions hide them.

    The end is to be a high watermark: the stable offset would hide a record that was committed behind another
    writer's open transaction, and its reader would go on too early.
    """
    waiting = {partition: end for partition, (start, end) in ranges.items() if start < end}
    if not waiting:
        return []
    level = "read_committed" if committed else "read_uncommitted"
    connection = Connection(alias)
    consumer = consumer_for(settings, connection, **{"isolation.level": level, "fetch.wait.max.ms": 50})
    records: list[LogRecord] = []
    try:
        consumer.assign([ClientTopicPartition(p.topic, p.partition, ranges[p][0]) for p in sorted(waiting)])
        give_up = time.monotonic() + timeout_s
        while waiting:
            if time.monotonic() > give_up:
                raise ClusterBusy(_held_back(alias, waiting), cluster=alias, next_step="run this again")
            with kafka_call("read a state log", alias):
                messages = consumer.consume(500, 0.02) or consumer.consume(1, 0.5)
            if not messages:
                connection.raise_if_refused("read a state log")
            _take(messages, waiting, records, alias)
    finally:
        consumer.close()
    return records


def _take(
    messages: Iterable[Message], waiting: dict[TopicPartition, int], records: list[LogRecord], alias: str
) -> None:
    for message in messages:
        error = message.error()
        partition = TopicPartition(str(message.topic()), int(message.partition() or 0))
        offset = int(message.offset() or 0)
        if error is None:
            if offset < waiting.get(partition, 0):
                records.append(_record(message, partition, offset))
            reached = offset + 1
        elif error.code() == KafkaError._PARTITION_EOF:
            reached = offset
        elif error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            continue  # the client asks for the coordinator of every group id; nothing is ever committed for this one
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise ClusterBusy(f"the state log {partition} on {alias} starts later than {offset}", cluster=alias)
        else:
            known = error_of(error, f"read {message.topic()}", alias)
            if known is None or not isinstance(known, (ClusterBusy, ClusterUnreachable)):
                raise known or ClusterBusy(f"could not read {message.topic()} on {alias}: {error.str()}", cluster=alias)
            continue  # the client itself tries again what is only late
        if reached >= waiting.get(partition, reached + 1):
            del waiting[partition]


def _record(message: Message, partition: TopicPartition, offset: int) -> LogRecord:
    return LogRecord(
        partition=partition,
        offset=offset,
        key=message.key(),
        value=message.value(),
        timestamp_ms=message.timestamp()[1],
        headers=tuple(cast("list[tuple[str, bytes | None]]", message.headers() or [])),
    )


def _held_back(alias: str, waiting: Mapping[TopicPartition, int]) -> str:
    names = ", ".join(f"{partition} up to {end}" for partition, end in sorted(waiting.items()))
    return f"an open transaction on cluster {alias} holds back {names}"


class Appender:
    """Appends records to topics, each acknowledged by all replicas before the call returns."""

    def __init__(self, alias: str, settings: Mapping[str, Any]) -> None:
        self.alias = alias
        self._connection = Connection(alias)
        own = {"enable.idempotence": True, "acks": "all", "linger.ms": 0, **self._connection.settings()}
        with making_a_client(alias, settings):
            self._producer = Producer({**settings, **own})

    def append(self, records: Iterable[tuple[TopicPartition, bytes | None, bytes | None]]) -> list[int]:
        """Write all records in order; the broker's timestamp of each, or the first error."""
        return self.append_records(NewRecord(partition=p, key=key, value=value) for p, key, value in records)

    def append_records(self, records: Iterable[NewRecord]) -> list[int]:
        """The same for records with headers or a timestamp of their own."""
        stamps: list[int] = []
        errors: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                errors.append(error)
            else:
                stamps.append(message.timestamp()[1])

        count = 0
        with kafka_call("write state", self.alias):
            for record in records:
                self._produce(record, delivered)
                count += 1
            left = self._flush()
        if errors:
            known = error_of(errors[0], "write state", self.alias)
            raise known or ClusterBusy(f"could not write state on {self.alias}: {errors[0].str()}", cluster=self.alias)
        if left or len(stamps) != count:
            raise ClusterUnreachable(f"cluster {self.alias} did not confirm {count - len(stamps)} state records")
        return stamps

    def _flush(self) -> int:
        """Wait for the reports; how many are missing when the time is over."""
        give_up = time.monotonic() + APPEND_TIMEOUT_S
        while (left := self._producer.flush(1.0)) and time.monotonic() < give_up:
            self._connection.raise_if_refused("write state")
        if not left:
            self._connection.answered()
        return left

    def _produce(self, record: NewRecord, delivered: Any) -> None:
        more: dict[str, Any] = {} if record.timestamp_ms is None else {"timestamp": record.timestamp_ms}
        if record.headers:
            more["headers"] = list(record.headers)
        while True:
            try:
                self._producer.produce(
                    record.partition.topic,
                    record.value,
                    record.key,
                    partition=record.partition.partition,
                    on_delivery=delivered,
                    **more,
                )
                return
            except BufferError:
                self._producer.poll(0.05)
