"""A source that holds everything that is hard to copy, each hardship in a topic of its own."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from confluent_kafka import Producer
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from integration import records
from integration.copying import Mirrored, admin
from integration.records import Sent, numbered, producer, send
from mirror.kafka.values import TopicPartition

LOG_START = 700
LONG_NAME_LENGTH = 201
CLEANER_DEADLINE_S = 60
# A header's name or value may hold any text; this one has four scripts and an astral character.
NON_ASCII = "größe-Ελλάδα-日本-🜨"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileSource:
    """The topics made, and the producer whose transaction hangs."""

    topics: tuple[str, ...]
    held: str
    compacted: str
    log_starts_late: str
    hanging: Producer


def build_quickly(flow: Mirrored) -> tuple[str, ...]:
    """Hardships that cost no time: transactions, odd contents and timestamps, a late log start, a held partition."""
    held, _ = _held(flow)
    topics = (_contents(flow), _timestamps(flow), _append_time(flow), _transactions(flow), _log_starts_late(flow))
    return (*topics, flow.topic("empty"), held)


def build(flow: Mirrored) -> HostileSource:
    """Fill the flow's source; one transaction stays open in partition 0 of `held`."""
    _hurry_cleaner(flow)
    compacted = _compacted(flow)
    held, hanging = _held(flow)
    late = _log_starts_late(flow)
    plain = (_contents(flow), _timestamps(flow), _append_time(flow), _transactions(flow), _wide(flow), _long_name(flow))
    sizes = (_large(flow), _compressible(flow), _compressible_in_a_roomy_topic(flow))
    empty = (flow.topic("empty"), flow.topic("empty-wide", 4))
    _wait_for_cleaner(flow, compacted)
    return HostileSource(
        topics=(*plain, *sizes, *empty, compacted, held, late),
        held=held,
        compacted=compacted,
        log_starts_late=late,
        hanging=hanging,
    )


def _contents(flow: Mirrored) -> str:
    topic = flow.topic("contents", 2)
    things = (None, b"", b"\0", b"thing", bytes(range(256)))
    headers: tuple[records.Headers, ...] = (
        (),
        (("same", b"1"), ("same", b"2"), ("same", b"1")),
        (("null", None), ("empty", b""), ("null", None)),
        ((NON_ASCII, NON_ASCII.encode()), ("", b"a name of no letters"), ("raw", bytes(range(256)))),
        tuple((f"h{n}", b"%d" % n) for n in range(100)),
    )
    flow.write(
        topic,
        [
            Sent(value=value, key=key, headers=some, partition=n % 2)
            for n, (value, key, some) in enumerate((v, k, h) for v in things for k in things for h in headers)
        ],
    )
    return topic


def _timestamps(flow: Mirrored) -> str:
    """Unordered from the first millisecond of 1970 to tomorrow; retention would delete most of them at once."""
    topic = flow.topic("timestamps", retention_ms="-1", message_timestamp_after_max_ms=str(2 * 86_400_000))
    now_ms = int(time.time() * 1000)
    stamps = [1, now_ms, 2, 1000, now_ms - 1, now_ms + 86_400_000, 1, 86_400_000, now_ms]
    flow.write(topic, [Sent(value=b"%d" % n, timestamp_ms=stamp) for n, stamp in enumerate(stamps * 20)])
    return topic


def _append_time(flow: Mirrored) -> str:
    topic = flow.topic("append-time", message_timestamp_type="LogAppendTime")
    flow.write(topic, [record._replace(timestamp_ms=1) for record in numbered(50)])
    return topic


def _transactions(flow: Mirrored) -> str:
    """Aborted and committed transactions of two writers and plain records between them, all over each other."""
    topic = flow.topic("transactions", 2)
    servers = flow.upstream.bootstrap_servers
    plain = producer(servers)
    writers = [transactional(flow, f"writer-{n}") for n in range(2)]
    for turn in range(24):
        for writer in writers:
            writer.begin_transaction()
        for step in range(3):
            for number, writer in enumerate(writers):
                send(writer, topic, [Sent(value=b"%d.%d by %d" % (turn, step, number), partition=turn % 2)])
            send(plain, topic, [Sent(value=b"%d.%d" % (turn, step), partition=turn % 2)])
        for number, writer in enumerate(writers):
            end = writer.commit_transaction if (turn + number) % 3 else writer.abort_transaction
            end()
    return topic


def transactional(flow: Mirrored, name: str, **settings: object) -> Producer:
    client = producer(flow.upstream.bootstrap_servers, transactional_id=f"{flow.prefix}-{name}", **settings)
    client.init_transactions()
    return client


def _held(flow: Mirrored) -> tuple[str, Producer]:
    """Partition 0: 20 records, an open transaction, and 10 more that nobody can read yet; partition 1 is free."""
    topic = flow.topic("held", 2)
    flow.write(topic, numbered(20))
    hanging = transactional(flow, "hanging", transaction_timeout_ms=600_000)
    hanging.begin_transaction()
    send(hanging, topic, numbered(5, start=20))
    flow.write(topic, numbered(10, start=25))
    flow.write(topic, [record._replace(partition=1) for record in numbered(30)])
    return topic, hanging


def _log_starts_late(flow: Mirrored) -> str:
    topic = flow.topic("starts-late")
    flow.write(topic, numbered(LOG_START + 100))
    flow.delete_records(topic, LOG_START)
    return topic


def _wide(flow: Mirrored) -> str:
    topic = flow.topic("wide", 32)
    flow.write(topic, numbered(32 * 25, partitions=32))
    return topic


def _long_name(flow: Mirrored) -> str:
    topic = flow.topic("n" * (LONG_NAME_LENGTH - len(flow.prefix) - 1))
    assert len(topic) == LONG_NAME_LENGTH
    flow.write(topic, numbered(10))
    return topic


def _large(flow: Mirrored) -> str:
    """Records near the default limit that no compression makes smaller, with small ones between them."""
    topic = flow.topic("large", 2)
    noise = random.Random(3)
    large = [Sent(value=noise.randbytes(950_000), key=b"large", partition=n % 2) for n in range(8)]
    small = numbered(8, partitions=2)
    mixed = [record for pair in zip(large, small, strict=True) for record in pair]
    send(producer(flow.upstream.bootstrap_servers, message_max_bytes=1_048_588), topic, mixed)
    return topic


def _compressible(flow: Mirrored) -> str:
    """5 MB that arrive as a few kilobytes, in a topic whose limit is the default of one megabyte."""
    topic = flow.topic("compressible")
    client = producer(flow.upstream.bootstrap_servers, message_max_bytes=10_000_000, compression_type="zstd")
    send(client, topic, [*numbered(5), Sent(value=b"again and " * 500_000, key=b"5 MB"), *numbered(5, start=5)])
    return topic


def _compressible_in_a_roomy_topic(flow: Mirrored) -> str:
    """5 MB that compress to something still above the default limit, where the topic allows it."""
    topic = flow.topic("roomy", max_message_bytes=str(6 * 1024 * 1024))
    noise = random.Random(4).randbytes(2_500_000)
    client = producer(flow.upstream.bootstrap_servers, message_max_bytes=10_000_000, compression_type="gzip")
    send(client, topic, [*numbered(5), Sent(value=noise + bytes(2_500_000), key=b"5 MB"), *numbered(5, start=5)])
    return topic


def _compacted(flow: Mirrored) -> str:
    """Twenty keys written over and over, a few deleted; the last record closes the segment that is to be cleaned."""
    topic = flow.topic(
        "compacted",
        cleanup_policy="compact",
        min_cleanable_dirty_ratio="0.01",
        max_compaction_lag_ms="1",
        segment_ms="50",
        delete_retention_ms="86400000",
    )
    for turn in range(10):
        flow.write(topic, [Sent(value=b"%d" % turn, key=b"key-%d" % n) for n in range(turn, 20)])
    flow.write(topic, [Sent(value=None, key=b"key-%d" % n) for n in range(15, 18)])
    time.sleep(0.1)  # past segment.ms: the next record opens a new segment
    flow.write(topic, [Sent(value=b"last", key=b"last")])
    return topic


def _hurry_cleaner(flow: Mirrored) -> None:
    """Let the only broker look for something to clean at once; every 15 s is its default."""
    entry = ConfigEntry("log.cleaner.backoff.ms", "200", incremental_operation=AlterConfigOpType.SET)
    broker = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
    client = admin(flow.upstream)
    for future in client.incremental_alter_configs([broker]).values():
        future.result(records.DEADLINE_S)


def _wait_for_cleaner(flow: Mirrored, topic: str) -> None:
    deadline = time.monotonic() + CLEANER_DEADLINE_S
    while not gaps_in(flow, topic):
        assert time.monotonic() < deadline, f"{topic} was not compacted in {CLEANER_DEADLINE_S} s"
        time.sleep(0.2)


def gaps_in(flow: Mirrored, topic: str) -> int:
    """Offsets between a topic's first and last record that hold no record any more."""
    seen = records.read(flow.upstream.bootstrap_servers, [topic])[topic][0]
    end = flow.source.high_watermarks([TopicPartition(topic, 0)])[TopicPartition(topic, 0)]
    return end - len(seen)
