"""The shop's applications: they make their topics, write into them and read from them as groups.

They speak to Kafka as anybody's applications would, with a client of their own and nothing of the library.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from world.demo.shop import Record, ShopGroup, ShopTopic, Site, records_of

TIMEOUT_S = 60.0
# Nothing but emergencies: that a coordinator is still loading is no news to whoever watches a demo.
QUIET: dict[str, str | int | float | bool] = {"log_level": 2}

_NOT_YET = (KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.NOT_COORDINATOR)


class NotWritten(RuntimeError):
    """The demo's data could not be written."""


def open_site(site: Site, servers: str) -> None:
    """Make the topics of a site; those that are there stay as they are."""
    admin = AdminClient({**QUIET, "bootstrap.servers": servers})
    wanted = [NewTopic(t.name, t.partition_count, 1, config=dict(t.configs)) for t in site.topics]
    for future in admin.create_topics(wanted, operation_timeout=TIMEOUT_S).values():
        try:
            future.result(TIMEOUT_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def write_wave(site: Site, servers: str, wave: int) -> int:
    """Write a wave into every topic of a site, and let its groups read on; how many records stand afterwards."""
    written = sum(_write(topic, servers, wave) for topic in site.topics)
    for group in site.groups:
        _commit(group, servers)
    return written


def _write(topic: ShopTopic, servers: str, wave: int) -> int:
    failures: list[str] = []
    settings: dict[str, str | int | float | bool] = {
        **QUIET,
        "bootstrap.servers": servers,
        "linger.ms": 20,
        "enable.idempotence": "true",
    }
    if topic.records_per_transaction:
        settings["transactional.id"] = f"shop-{topic.name}"
    producer = Producer(settings)

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None and error.code() != KafkaError._PURGE_QUEUE:
            failures.append(str(error))

    if topic.records_per_transaction:
        written = _in_transactions(topic, producer, wave)
    else:
        written = _plain(topic, producer, wave, delivered)
    if producer.flush(TIMEOUT_S) or failures:
        raise NotWritten(f"topic {topic.name}: {failures[:1] or 'not every record was acknowledged'}")
    return written


def _plain(topic: ShopTopic, producer: Producer, wave: int, delivered: Callable[..., None]) -> int:
    now_ms = int(time.time() * 1000)
    count = 0
    for record, age_ms in records_of(topic, wave):
        _produce(producer, topic.name, record, now_ms - age_ms, delivered)
        count += 1
    return count


def _in_transactions(topic: ShopTopic, producer: Producer, wave: int) -> int:
    """Write batches in transactions, some of which are given up: their records are there, and nobody may see them."""
    now_ms = int(time.time() * 1000)
    records = list(records_of(topic, wave))
    size = topic.records_per_transaction
    producer.init_transactions(TIMEOUT_S)
    committed = 0
    for number, start in enumerate(range(0, len(records), size), 1):
        batch = records[start : start + size]
        producer.begin_transaction()
        for record, age_ms in batch:
            _produce(producer, topic.name, record, now_ms - age_ms, None)
        if topic.abort_every and number % topic.abort_every == 0:
            producer.flush(TIMEOUT_S)  # what was never sent would leave nothing to abort
            producer.abort_transaction(TIMEOUT_S)
        else:
            producer.commit_transaction(TIMEOUT_S)
            committed += len(batch)
    return committed


def _produce(
    producer: Producer, topic: str, record: Record, timestamp_ms: int, delivered: Callable[..., None] | None
) -> None:
    value = None if record.value is None else json.dumps(record.value)
    headers = list(record.headers) or None
    while True:
        try:
            producer.produce(topic, value, record.key, timestamp=timestamp_ms, headers=headers, on_delivery=delivered)
        except BufferError:
            producer.poll(0.05)
        else:
            return


def _commit(group: ShopGroup, servers: str) -> None:
    """Leave the group's offsets where it would stand after a part of each partition."""
    consumer = Consumer({**QUIET, "bootstrap.servers": servers, "group.id": group.name, "enable.auto.commit": False})
    try:
        partitions = consumer.list_topics(group.topic, timeout=TIMEOUT_S).topics[group.topic].partitions
        offsets = []
        for number in partitions:
            start, end = consumer.get_watermark_offsets(TopicPartition(group.topic, number), timeout=TIMEOUT_S)
            offsets.append(TopicPartition(group.topic, number, start + int((end - start) * group.fraction_read)))
        _commit_when_ready(consumer, offsets)
    finally:
        consumer.close()


def _commit_when_ready(consumer: Consumer, offsets: list[TopicPartition]) -> None:
    """A cluster that has just started may still be loading its groups."""
    give_up = time.monotonic() + TIMEOUT_S
    while True:
        try:
            consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            if not error.args[0].retriable() and error.args[0].code() not in _NOT_YET:
                raise
            if time.monotonic() > give_up:
                raise
            time.sleep(0.2)
        else:
            return
