"""What was replicated, counted: every record that a read_committed reader meets, on both sides."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, TopicPartition

from mirror.config import Configuration, Flow
from mirror.selection import Selector
from mirror.status import measure_lag

TIMEOUT_S = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicated:
    """One topic of one flow, on both sides."""

    flow: str
    topic: str
    remote_topic: str
    partition_count: int
    source_records: int
    target_records: int
    lag: int

    @property
    def is_equal(self) -> bool:
        return self.source_records == self.target_records and not self.lag


def replicated(configuration: Configuration) -> list[Replicated]:
    """Count every selected topic of every enabled flow."""
    return [row for flow in configuration.enabled_flows for row in _of_flow(flow)]


def _of_flow(flow: Flow) -> list[Replicated]:
    source, target = _servers(flow, "source"), _servers(flow, "target")
    lags = {topic.topic: topic for topic in measure_lag(flow).topics}
    remote = {topic: Selector(flow).decide(topic).remote_topic for topic in lags}
    upstream = count_records(source, remote)
    downstream = count_records(target, remote.values())
    return [
        Replicated(
            flow=flow.id,
            topic=topic,
            remote_topic=remote[topic],
            partition_count=len(lag.partitions),
            source_records=upstream[topic],
            target_records=downstream[remote[topic]],
            lag=lag.lag,
        )
        for topic, lag in sorted(lags.items())
    ]


def _servers(flow: Flow, side: str) -> Mapping[str, str | int | bool]:
    return flow.consumer_settings("source") if side == "source" else flow.consumer_settings("target")


def count_records(settings: Mapping[str, str | int | bool], topics: Iterable[str]) -> dict[str, int]:
    """Read topics from their beginning to their end, as a read_committed reader, and count.

    Offsets do not tell it: transaction markers and aborted records have offsets too.
    """
    consumer = Consumer(
        {
            **settings,
            "group.id": "airmirror-demo-count",
            "client.id": "airmirror-demo-count",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 50,
        }
    )
    counts = dict.fromkeys(topics, 0)
    try:
        known = consumer.list_topics(timeout=TIMEOUT_S).topics
        waiting = {(topic, number) for topic in counts if topic in known for number in known[topic].partitions}
        consumer.assign([TopicPartition(topic, number, 0) for topic, number in sorted(waiting)])
        give_up = time.monotonic() + TIMEOUT_S
        while waiting:
            if time.monotonic() > give_up:
                raise TimeoutError(f"{len(waiting)} partitions could not be read to their end in {TIMEOUT_S:.0f} s")
            for message in consumer.consume(5000, 0.1):
                error, topic = message.error(), str(message.topic())
                if error is None:
                    counts[topic] += 1
                elif error.code() == KafkaError._PARTITION_EOF:
                    waiting.discard((topic, int(message.partition() or 0)))
    finally:
        consumer.close()
    return counts
