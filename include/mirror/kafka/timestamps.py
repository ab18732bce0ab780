"""When the record at a position was written: how old is what was not copied yet."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, Message
from confluent_kafka import TopicPartition as ClientTopicPartition

from mirror.kafka.connection import Connection
from mirror.kafka.errors import kafka_call
from mirror.kafka.log import consumer_for
from mirror.kafka.values import TopicPartition

# Seconds for all partitions together; the age of what is not seen by then is unknown.
TIMEOUT_S = 20.0
# Bytes per partition and fetch: most batches are smaller. Of larger ones the broker gives one per request, the first
# partition's, so partitions that answered are paused to let the next be first.
FETCH_BYTES = 64 * 1024


def read_timestamps(
    settings: Mapping[str, Any], alias: str, positions: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | None]:
    """Per partition the milliseconds of the first record at or behind its position; None where there is no record.

    Records of open transactions count: they are what a held partition waits for. A partition that did not answer in
    time is left out.
    """
    found: dict[TopicPartition, int | None] = {}
    if not positions:
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
        consumer.assign([ClientTopicPartition(p.topic, p.partition, at) for p, at in sorted(positions.items())])
        give_up = time.monotonic() + TIMEOUT_S
        while len(found) < len(positions) and time.monotonic() < give_up:
            with kafka_call("look at the first records not yet copied", alias):
                messages = consumer.consume(1, 0.5)
                messages += consumer.consume(500, 0)
                if not messages:
                    connection.raise_if_refused("look at the first records not yet copied")
                _take(messages, consumer, positions, found)
    finally:
        consumer.close()
    return found


def _take(
    messages: list[Message],
    consumer: Consumer,
    positions: Mapping[TopicPartition, int],
    found: dict[TopicPartition, int | None],
) -> None:
    answered: list[TopicPartition] = []
    for message in messages:
        partition = TopicPartition(str(message.topic()), int(message.partition() or 0))
        if partition not in positions or partition in found:
            continue
        error = message.error()
        if error is None:
            kind, at_ms = message.timestamp()
            found[partition] = None if kind == TIMESTAMP_NOT_AVAILABLE else int(at_ms)
        elif error.code() in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET):
            found[partition] = None
        else:
            continue
        answered.append(partition)
    if answered:
        consumer.pause([ClientTopicPartition(p.topic, p.partition) for p in answered])
