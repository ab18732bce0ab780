"""A thousand groups over a hundred topics within a minute: they are due every minute."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from integration.copying import Mirrored
from integration.records import numbered, producer, send
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.groups.summaries import CheckpointSummary, OffsetSummary
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import NewTopic, TopicPartition
from mirror.topics.visibility import wait_until_visible
from world.kafka import KafkaCluster

GROUP_COUNT, TOPIC_COUNT, TOPICS_OF_A_GROUP, RECORD_COUNT = 1000, 100, 5, 20
WITHIN_S = 60


@pytest.mark.long("a thousand groups")
@pytest.mark.slow
def test_a_thousand_groups_over_a_hundred_topics_cross_within_a_minute(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    flow.configure(f"groups = {flow.prefix}.*\nsync.group.offsets.enabled = true")
    topics = [f"{flow.prefix}-{n:03}" for n in range(TOPIC_COUNT)]
    flow.source.create_topics([NewTopic(name=t, partition_count=1, replication_factor=1) for t in topics])
    assert not wait_until_visible(flow.source, dict.fromkeys(topics, 1))
    client = producer(east.bootstrap_servers)
    for topic in topics:
        send(client, topic, numbered(RECORD_COUNT))
    flow.mirror().raise_if_incomplete()
    rng = random.Random(1)
    wanted = {
        f"{flow.prefix}-g{n:04}": {
            TopicPartition(topic, 0): Committed(rng.randint(0, RECORD_COUNT))
            for topic in rng.sample(topics, TOPICS_OF_A_GROUP)
        }
        for n in range(GROUP_COUNT)
    }
    with GroupCluster("east", {"bootstrap.servers": east.bootstrap_servers}) as source:
        answers = source.alter(wanted).values()
    assert all(isinstance(answer, dict) and not any(answer.values()) for answer in answers)

    def cross() -> tuple[CheckpointSummary, OffsetSummary]:
        return run_checkpoints(flow.flow)[0], run_group_offsets(flow.flow)

    started = time.monotonic()
    with ThreadPoolExecutor(1) as threads:
        checkpoints, offsets = threads.submit(cross).result(timeout=WITHIN_S)
    print(f"{GROUP_COUNT} groups, {checkpoints.written} checkpoints: {time.monotonic() - started:.1f} s")
    assert checkpoints.written == GROUP_COUNT * TOPICS_OF_A_GROUP
    assert len(offsets.of("moved")) == GROUP_COUNT
    with GroupCluster("west", {"bootstrap.servers": west.bootstrap_servers}) as target:
        there = target.committed(wanted)
    remote = {p: TopicPartition(flow.remote(p.topic), 0) for offsets in wanted.values() for p in offsets}
    assert there == {group: {remote[p]: c for p, c in offsets.items()} for group, offsets in wanted.items()}
