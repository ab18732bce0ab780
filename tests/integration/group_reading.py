"""Consumer groups as applications have them: set to an offset, read through, active, killed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError
from confluent_kafka import TopicPartition as ClientTopicPartition
from confluent_kafka.admin import AdminClient

from integration.records import DEADLINE_S
from mirror.kafka.groups import Committed, GroupCluster, Offsets
from mirror.kafka.values import TopicPartition


def consumer(servers: str, group: str, **settings: Any) -> Consumer:
    options = {name.replace("_", "."): value for name, value in settings.items()}
    return Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 50,
            **options,
        }
    )


def commit(cluster: GroupCluster, group: str, offsets: Mapping[TopicPartition, Committed]) -> None:
    answer = cluster.alter({group: offsets})[group]
    assert isinstance(answer, dict), answer
    assert not any(answer.values()), answer


def committed(cluster: GroupCluster, group: str) -> Offsets:
    found = cluster.committed([group])[group]
    assert isinstance(found, dict), found
    return found


def delete_group(servers: str, group: str) -> None:
    client = AdminClient({"bootstrap.servers": servers})
    client.delete_consumer_groups([group])[group].result(DEADLINE_S)


def next_values(servers: str, group: str, partitions: list[TopicPartition], count: int) -> dict[TopicPartition, list]:
    """What the group reads next of each partition, from its own committed offsets: up to `count` values, or the end.

    A partition without an offset, or with one outside its log, is an error: nothing is reset.
    """
    client = consumer(servers, group, enable_partition_eof=True)
    found: dict[TopicPartition, list] = {p: [] for p in partitions}
    try:
        assigned = [ClientTopicPartition(*p) for p in partitions]
        offsets = client.committed(assigned, timeout=DEADLINE_S)
        for place in offsets:
            assert place.offset >= 0, f"group {group} has no offset in {place.topic}-{place.partition}"
        client.assign(offsets)
        waiting = set(partitions)
        deadline = time.monotonic() + DEADLINE_S
        while waiting:
            assert time.monotonic() < deadline, f"group {group}: no end of {sorted(waiting)}"
            for message in client.consume(100, 0.1):
                place = TopicPartition(str(message.topic()), int(message.partition() or 0))
                if (error := message.error()) is not None:
                    assert error.code() == KafkaError._PARTITION_EOF, f"group {group}: {error}"
                    waiting.discard(place)
                elif place in waiting:
                    found[place].append((message.key(), message.value(), message.timestamp()[1]))
                    if len(found[place]) >= count:
                        waiting.discard(place)
    finally:
        client.close()
    return found


@contextmanager
def member(servers: str, group: str, topic: str, **settings: Any) -> Iterator[Consumer]:
    """A consumer that is a member of the group for as long as the block lasts."""
    client = consumer(servers, group, auto_offset_reset="earliest", **settings)
    try:
        client.subscribe([topic])
        deadline = time.monotonic() + DEADLINE_S
        while not client.assignment():
            assert time.monotonic() < deadline, f"group {group} was not assigned {topic}"
            client.poll(0.1)
        yield client
    finally:
        client.close()
