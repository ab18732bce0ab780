"""Records as a reader sees them: written with every odd detail, read back whole, compared with the first difference."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

DEADLINE_S = 60
# A time for records that are to be alike. Not long ago: retention would delete them from under a test.
RECENT_MS = int(time.time() * 1000) - 3_600_000

Headers = tuple[tuple[str, bytes | None], ...]


class Sent(NamedTuple):
    """A record to be written; a timestamp of None is the client's now."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int | None = None
    partition: int = 0


class Seen(NamedTuple):
    """A record as a reader gets it; all but the offset must survive a copy."""

    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp_ms: int

    def __str__(self) -> str:
        return (
            f"offset {self.offset}: key {_short(self.key)}, value {_short(self.value)}, "
            f"headers {self.headers[:5]!r}, timestamp {self.timestamp_ms}"
        )

    @property
    def content(self) -> tuple[Any, ...]:
        return self[1:]


Topic = dict[int, list[Seen]]


def _short(data: bytes | None) -> str:
    return repr(data) if data is None or len(data) <= 40 else f"{data[:20]!r}... of {len(data)} bytes"


def producer(servers: str, **settings: Any) -> Producer:
    # Idempotent: otherwise a batch sent again lands behind the next one, and offsets are not what a test expects.
    options = {
        "linger.ms": 5,
        "enable.idempotence": True,
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    return Producer({"bootstrap.servers": servers, **options})


def send(client: Producer, topic: str, records: Iterable[Sent]) -> None:
    """Write records in order and wait for the broker's word on each."""
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Any) -> None:
        if error is not None:
            failures.append(error)

    for record in records:
        stamp = {} if record.timestamp_ms is None else {"timestamp": record.timestamp_ms}
        while True:
            try:
                client.produce(
                    topic,
                    record.value,
                    record.key,
                    record.partition,
                    headers=list(record.headers) or None,
                    on_delivery=delivered,
                    **stamp,
                )
                break
            except BufferError:
                client.poll(0.05)
    assert client.flush(DEADLINE_S) == 0, f"{topic}: not every record was acknowledged"
    assert not failures, f"{topic}: {failures[0]}"


def numbered(count: int, *, start: int = 0, partitions: int = 1, size: int = 0) -> list[Sent]:
    """Plain records that can be told apart, spread over partitions in turn."""
    return [
        Sent(value=b"value-%d" % n + b"." * size, key=b"key-%d" % n, partition=n % partitions)
        for n in range(start, start + count)
    ]


def write(servers: str, topic: str, records: Iterable[Sent]) -> None:
    send(producer(servers), topic, records)


def read(servers: str, topics: Sequence[str], isolation_level: str = "read_committed") -> dict[str, Topic]:
    """Everything a reader of this isolation level sees in these topics, by topic and partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "tests-without-a-group",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "isolation.level": isolation_level,
            "fetch.wait.max.ms": 50,
            "receive.message.max.bytes": 200_000_000,
        }
    )
    found: dict[str, Topic] = {}
    try:
        for topic in topics:
            metadata = consumer.list_topics(topic, timeout=DEADLINE_S).topics[topic]
            assert metadata.error is None, f"{topic}: {metadata.error}"
            found[topic] = {number: [] for number in metadata.partitions}
        waiting = {(topic, number) for topic, partitions in found.items() for number in partitions}
        consumer.assign([TopicPartition(topic, number, 0) for topic, number in sorted(waiting)])
        deadline = time.monotonic() + DEADLINE_S
        while waiting:
            assert time.monotonic() < deadline, f"no end of {sorted(waiting)[:5]} in {DEADLINE_S} s"
            for message in consumer.consume(1000, 0.05):
                place = (str(message.topic()), int(message.partition() or 0))
                error = message.error()
                if error is None:
                    found[place[0]][place[1]].append(_seen(message))
                elif error.code() == KafkaError._PARTITION_EOF:
                    waiting.discard(place)
    finally:
        consumer.close()
    return found


def _seen(message: Any) -> Seen:
    headers = tuple((name, value) for name, value in message.headers() or ())
    return Seen(message.offset(), message.key(), message.value(), headers, message.timestamp()[1])


def first_difference(upstream: Topic, downstream: Topic) -> str:
    """What is the first thing that is not the same in a copy; empty when nothing is."""
    if sorted(upstream) != sorted(downstream):
        return f"partitions {sorted(upstream)} became {sorted(downstream)}"
    for number in sorted(upstream):
        here, there = upstream[number], downstream[number]
        for index, (original, copy) in enumerate(zip(here, there, strict=False)):
            if original.content != copy.content:
                return f"partition {number}, record {index}:\n  upstream   {original}\n  downstream {copy}"
        if len(here) != len(there):
            longer, name = (here, "missing") if len(here) > len(there) else (there, "too many")
            return (
                f"partition {number}: {len(here)} records became {len(there)}; "
                f"the first {name}: {longer[min(len(here), len(there))]}"
            )
    return ""


def count(topic: Topic) -> int:
    return sum(len(records) for records in topic.values())
