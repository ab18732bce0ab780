"""A flow whose groups cross over: set on one side, moved, read through on both."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from integration.copying import Mirrored
from integration.group_reading import commit, committed, next_values
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.groups.summaries import CheckpointSummary, OffsetSummary
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster


class Groups:
    """A flow with its groups on both sides; group names carry the flow's mark."""

    def __init__(self, directory: Path, east: KafkaCluster, west: KafkaCluster, lines: str = "") -> None:
        self.flow = Mirrored(directory, east, west)
        self.configure(lines)
        self.source = GroupCluster("here", {"bootstrap.servers": east.bootstrap_servers})
        self.target = GroupCluster("there", {"bootstrap.servers": west.bootstrap_servers})

    def configure(self, lines: str = "") -> None:
        self.flow.configure(
            f"groups = {self.flow.prefix}.*\nsync.group.offsets.enabled = true\n"
            f"checkpoints.topic.replication.factor = 1\n{lines}"
        )

    def name(self, label: str) -> str:
        return f"{self.flow.prefix}-{label}"

    def partitions(self, *topics: str) -> list[TopicPartition]:
        described = self.flow.source.describe(topics).values()
        return sorted(TopicPartition(t.name, n) for t in described for n in range(t.partition_count))

    def remote(self, partition: TopicPartition) -> TopicPartition:
        return TopicPartition(self.flow.remote(partition.topic), partition.partition)

    def commit(self, group: str, offsets: dict[TopicPartition, int]) -> None:
        commit(self.source, group, {p: Committed(offset, "said") for p, offset in offsets.items()})

    def cross(self, **options: object) -> tuple[CheckpointSummary, OffsetSummary]:
        """Both tasks, one after the other."""
        summary, _ = run_checkpoints(self.flow.flow)
        return summary, run_group_offsets(self.flow.flow, **options)  # type: ignore[arg-type]

    def there(self, group: str, topic: str, partition: int = 0) -> int | None:
        found = committed(self.target, group).get(TopicPartition(self.flow.remote(topic), partition))
        return None if found is None else found.offset

    def assert_all_go_on_alike(self, names: list[str], partitions: list[TopicPartition]) -> None:
        with ThreadPoolExecutor(6) as threads:
            list(threads.map(lambda name: self.assert_next_is_the_same(name, partitions), names))

    def assert_next_is_the_same(self, group: str, partitions: Iterable[TopicPartition], count: int = 5) -> None:
        """Read through the group on both sides: what comes next is the same, or both are at the end."""
        asked = sorted(partitions)
        here = next_values(self.flow.upstream.bootstrap_servers, group, asked, count)
        remotes = [self.remote(p) for p in asked]
        there = next_values(self.flow.downstream.bootstrap_servers, group, remotes, count)
        for partition in asked:
            assert there[self.remote(partition)] == here[partition], f"{group} in {partition}"
