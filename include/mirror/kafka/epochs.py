"""Leader epochs of single records: the proof that a log is still the one that was read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, Message
from confluent_kafka import TopicPartition as ClientTopicPartition

from mirror.kafka.connection import Connection
from mirror.kafka.errors import kafka_call
from mirror.kafka.log import consumer_for
from mirror.kafka.values import TopicPartition

# Seconds for all partitions together; what is not seen by then is unproven, not wrong.
TIMEOUT_S = 20.0
# Bytes per partition and fetch: most batches are smaller. Of larger ones the broker gives one per request, the first
# partition's, so partitions that answered are paused to let the next be first.
FETCH_BYTES = 64 * 1024

Epochs = dict[TopicPartition, list[tuple[int, int]]]


def read_epochs(settings: Mapping[str, Any], alias: str, ranges: Mapping[TopicPartition, tuple[int, int]]) -> Epochs:
    """Per partition `(offset, epoch)` of the records from `start` up to the first at or behind `at`, given (start, at).

    Records of aborted and open transactions count too: they are evidence like any other.
    """
    found: Epochs = {partition: [] for partition in ranges}
    waiting = set(ranges)
    if not waiting:
        return found
    connection = Connection(alias)
    consumer = consumer_for(
        settings,
        connection,
        **{
            "isolation.level": "read_uncommitted",
            "max.partition.fetch.bytes": FETCH_BYTES,
            "queued.min.messages": 1,
            "fetch.wait.max.ms": 50,
            "fetch.queue.backoff.ms": 1,
        },
    )
    try:
        consumer.assign([ClientTopicPartition(p.topic, p.partition, ranges[p][0]) for p in sorted(ranges)])
        give_up = time.monotonic() + TIMEOUT_S
        while waiting and time.monotonic() < give_up:
            with kafka_call("look at copied records again", alias):
                messages = consumer.consume(1, 0.5)
                messages += consumer.consume(500, 0)
                if not messages:
                    connection.raise_if_refused("look at copied records again")
            before = set(waiting)
            for message in messages:
                _take(message, ranges, waiting, found)
            with kafka_call("look at copied records again", alias):
                consumer.pause([ClientTopicPartition(p.topic, p.partition) for p in before - waiting])
    finally:
        consumer.close()
    return found


def _take(
    message: Message, ranges: Mapping[TopicPartition, tuple[int, int]], waiting: set[TopicPartition], found: Epochs
) -> None:
    partition = TopicPartition(str(message.topic()), int(message.partition() or 0))
    if partition not in waiting:
        return
    error = message.error()
    if error is not None:
        if error.code() in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET):
            waiting.discard(partition)
        return
    offset, epoch = int(message.offset() or 0), message.leader_epoch()
    if epoch is not None and epoch >= 0:
        found[partition].append((offset, epoch))
    if offset >= ranges[partition][1]:
        waiting.discard(partition)
