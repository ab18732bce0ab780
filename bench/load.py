"""Fills topics, and reads them: before a contender so that each meets the same page cache, after it to count."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from bench.shapes import PARTITION_COUNT, Shape, producer_settings, records
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import NewTopic
from mirror.topics.visibility import wait_until_visible

_DEADLINE_S = 300.0


def fill(bootstrap_servers: str, topic: str, shape: Shape, count: int) -> None:
    """Make a topic and write `count` records to it, packed as the shape says."""
    make_topic(bootstrap_servers, topic)
    refused: list[Any] = []

    def report(error: Any, _: Any) -> None:
        if error is not None:
            refused.append(error)

    producer = Producer({"bootstrap.servers": bootstrap_servers, **producer_settings(shape), "on_delivery": report})
    for key, value, partition in records(count):
        send(producer, topic, partition, key, value)
    left = producer.flush(_DEADLINE_S)
    if left or refused:
        raise RuntimeError(f"{topic} could not be filled: {left} records not acknowledged, {refused[:1]}")


def send(producer: Producer, topic: str, partition: int, key: bytes, value: bytes) -> None:
    """Give the producer one record, waiting for room where its queue is full."""
    while True:
        try:
            producer.produce(topic, value, key, partition)
            return
        except BufferError:
            producer.poll(0.05)


def make_topic(bootstrap_servers: str, topic: str) -> None:
    cluster = Cluster("bench", {"bootstrap.servers": bootstrap_servers})
    wish = NewTopic(name=topic, partition_count=PARTITION_COUNT, replication_factor=1, configs={"retention.ms": "-1"})
    for error in cluster.create_topics([wish]).values():
        if error is not None:
            raise error
    if wait_until_visible(cluster, {topic: PARTITION_COUNT}):
        raise RuntimeError(f"topic {topic} was made, but no broker shows it")


def count_records(bootstrap_servers: str, topic: str) -> int:
    """How many records a read_committed reader sees in the whole topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "bench",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "queued.min.messages": 200_000,
        }
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITION_COUNT)])
    count, open_partitions = 0, PARTITION_COUNT
    while open_partitions:
        messages = consumer.consume(10_000, 1.0)
        ends = sum(1 for message in messages if message.error() is not None)
        open_partitions -= ends
        count += len(messages) - ends
    consumer.close()
    return count
