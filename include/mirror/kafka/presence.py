"""Which offsets of a stretch hold records, without keeping any record."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError
from confluent_kafka import TopicPartition as ClientTopicPartition

from mirror.errors import ClusterBusy
from mirror.kafka.errors import kafka_call
from mirror.kafka.log import consumer_for
from mirror.kafka.values import TopicPartition

# Seconds without any message after which a cluster is not waited for any longer.
PATIENCE_S = 60.0

Runs = list[tuple[int, int]]


def record_runs(
    settings: Mapping[str, Any], alias: str, ranges: Mapping[TopicPartition, tuple[int, int]], *, isolation_level: str
) -> dict[TopicPartition, Runs]:
    """Per partition the runs `[start, end)` of consecutive offsets that hold records, within `[start, end)` each."""
    found: dict[TopicPartition, Runs] = {partition: [] for partition in ranges}
    waiting = {partition for partition, (start, end) in ranges.items() if start < end}
    if not waiting:
        return found
    consumer = consumer_for(settings, **{"isolation.level": isolation_level})
    try:
        consumer.assign([ClientTopicPartition(p.topic, p.partition, ranges[p][0]) for p in sorted(waiting)])
        heard = time.monotonic()
        while waiting:
            with kafka_call("look for records", alias):
                messages = consumer.consume(2000, 0.2)
            for found_here in messages:
                partition = TopicPartition(str(found_here.topic()), int(found_here.partition() or 0))
                if partition in waiting:
                    heard = time.monotonic()
                    _take(found_here, ranges[partition][1], found[partition], waiting, partition)
            if time.monotonic() - heard > PATIENCE_S:
                raise ClusterBusy(
                    f"cluster {alias} sent nothing of {min(waiting)} for {PATIENCE_S:.0f} s", cluster=alias
                )
    finally:
        consumer.close()
    return found


def _take(message: Any, end: int, runs: Runs, waiting: set[TopicPartition], partition: TopicPartition) -> None:
    error, offset = message.error(), int(message.offset() or 0)
    if error is not None:
        if error.code() in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET):
            waiting.discard(partition)
        return
    if offset < end:
        if runs and runs[-1][1] == offset:
            runs[-1] = (runs[-1][0], offset + 1)
        else:
            runs.append((offset, offset + 1))
    if offset >= end - 1:
        waiting.discard(partition)
