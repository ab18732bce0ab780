"""Topics as a read_committed reader gets them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as ClientTopicPartition

from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition


class Read(NamedTuple):
    """A record by its place and the value that tells it from all others."""

    offset: int
    value: bytes


def read_all(servers: str, topics: Sequence[str]) -> dict[TopicPartition, list[Read]]:
    """Every record of these topics, in order, by partition."""
    described = Cluster("bench", {"bootstrap.servers": servers}).describe(topics).values()
    found: dict[TopicPartition, list[Read]] = {
        TopicPartition(topic.name, number): [] for topic in described for number in range(topic.partition_count)
    }
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "bench",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([ClientTopicPartition(*partition, 0) for partition in found])
    open_count = len(found)
    while open_count:
        for message in consumer.consume(5_000, 0.5):
            if message.error() is not None:
                open_count -= 1
            else:
                partition = TopicPartition(str(message.topic()), int(message.partition() or 0))
                found[partition].append(Read(int(message.offset() or 0), message.value() or b""))
    consumer.close()
    return found
