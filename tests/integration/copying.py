"""One flow between two clusters, run in this process: its topics, its copies, and what they left behind."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from confluent_kafka import TopicPartition as ClientTopicPartition
from confluent_kafka.admin import AdminClient

from flow_files import flow_from
from integration import records
from mirror import topics
from mirror.config import Flow
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import Executor, InProcessExecutor
from mirror.copy.links import links_of
from mirror.copy.progress import Progress
from mirror.copy.result import CopyResult, PartitionResult
from mirror.copy.spec import FlowLinks
from mirror.copy.state import read_states
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import NewTopic, TopicPartition
from mirror.topics.visibility import wait_until_visible
from mirror.wire.partition_state import PartitionState
from world.kafka import KafkaCluster


class Mirrored:
    """A flow under aliases of its own: its state topics are new, so that tests on shared clusters never meet."""

    def __init__(self, directory: Path, upstream: KafkaCluster, downstream: KafkaCluster, lines: str = "") -> None:
        self._directory = directory
        mark = uuid.uuid4().hex[:6]
        self.aliases = (f"east-{mark}", f"west-{mark}")
        self.prefix = f"t-{mark}"
        self.upstream, self.downstream = upstream, downstream
        self.source = Cluster(self.aliases[0], {"bootstrap.servers": upstream.bootstrap_servers})
        self.target = Cluster(self.aliases[1], {"bootstrap.servers": downstream.bootstrap_servers})
        self.lines = lines
        self.flow = self.configure(lines)

    def configure(self, lines: str) -> Flow:
        """Change the file, as an operator would between two runs; SOURCE and TARGET stand for the aliases."""
        lines = lines.replace("SOURCE", self.aliases[0]).replace("TARGET", self.aliases[1])
        servers = (self.upstream.bootstrap_servers, self.downstream.bootstrap_servers)
        self.flow = flow_from(
            self._directory,
            f"topics = {self.prefix}.*\nreplication.factor = 1\n{lines}\n",
            clusters=dict(zip(self.aliases, servers, strict=True)),
            flow="->".join(self.aliases),
        )
        return self.flow

    @property
    def config(self) -> Path:
        return self._directory / "mm2.properties"

    @property
    def links(self) -> FlowLinks:
        return links_of(self.flow)

    def topic(self, label: str, partition_count: int = 1, *, replication_factor: int = 1, **settings: str) -> str:
        """Make a source topic that the flow selects; settings with _ for the dots."""
        name = f"{self.prefix}-{label}"
        configs = {key.replace("_", "."): value for key, value in settings.items()}
        make_topic(self.source, name, partition_count, replication_factor=replication_factor, **configs)
        return name

    def remote(self, topic: str) -> str:
        return f"{self.aliases[0]}.{topic}"

    def write(self, topic: str, sent: Iterable[records.Sent]) -> None:
        records.write(self.upstream.bootstrap_servers, topic, sent)

    def make_remote_topics(self) -> None:
        summary = topics.apply(topics.discover(self.flow, self.source, self.target), self.source, self.target)
        assert summary.failure() is None, summary.failure()

    def copy(
        self, executor: Callable[[], Executor] | None = None, progress: Progress | None = None, **request: Any
    ) -> CopyResult:
        return run_copy(self.flow, CopyRequest(**request), executor or (lambda: InProcessExecutor(2)), progress)

    def mirror(self, **request: Any) -> CopyResult:
        """Both commands, one after the other."""
        self.make_remote_topics()
        return self.copy(**request)

    def read_upstream(self, *names: str) -> dict[str, records.Topic]:
        return records.read(self.upstream.bootstrap_servers, names)

    def read(self, *names: str) -> dict[str, tuple[records.Topic, records.Topic]]:
        """What read_committed readers see of each topic upstream and downstream."""
        here = records.read(self.upstream.bootstrap_servers, names)
        there = records.read(self.downstream.bootstrap_servers, [self.remote(name) for name in names])
        return {name: (here[name], there[self.remote(name)]) for name in names}

    def assert_equal(self, *names: str) -> dict[str, records.Topic]:
        """Every record of these topics equals its copy, in number and order; gives what was read upstream."""
        seen = self.read(*names)
        for name, (here, there) in seen.items():
            difference = records.first_difference(here, there)
            assert not difference, f"{name}: {difference}"
        return {name: here for name, (here, _) in seen.items()}

    def downstream_values(self, topic: str, partition: int = 0) -> list[bytes | None]:
        seen = records.read(self.downstream.bootstrap_servers, [self.remote(topic)])
        return [record.value for record in seen[self.remote(topic)][partition]]

    def states(self) -> dict[TopicPartition, PartitionState]:
        return read_states(self.links, self.target).states

    def target_ends(self) -> dict[TopicPartition, int]:
        """Where every partition of the target ends, internal topics included, but for the brokers' own.

        Those move by themselves: an expired group of another test, a transaction that ends."""
        described = [t for t in self.target.topics().values() if not t.name.startswith("__")]
        return self.target.high_watermarks(
            TopicPartition(t.name, n) for t in described for n in range(t.partition_count)
        )

    def delete_source_topic(self, topic: str) -> None:
        delete_topic(self.source, self.upstream, topic)

    def delete_remote_topic(self, topic: str) -> None:
        delete_topic(self.target, self.downstream, self.remote(topic))

    def delete_records(self, topic: str, before: int, partition: int = 0) -> None:
        """What retention does, when we want it: the log starts at `before` afterwards."""
        delete_records(self.upstream, topic, before, partition)

    def delete_remote_records(self, topic: str, before: int, partition: int = 0) -> None:
        delete_records(self.downstream, self.remote(topic), before, partition)


def admin(cluster: KafkaCluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


def make_topic(
    cluster: Cluster, name: str, partition_count: int = 1, *, replication_factor: int = 1, **configs: str
) -> None:
    topic = NewTopic(name=name, partition_count=partition_count, replication_factor=replication_factor, configs=configs)
    assert cluster.create_topics([topic]) == {name: None}
    assert not wait_until_visible(cluster, {name: partition_count})


def delete_records(cluster: KafkaCluster, topic: str, before: int, partition: int) -> None:
    client = admin(cluster)
    for future in client.delete_records([ClientTopicPartition(topic, partition, before)]).values():
        future.result(records.DEADLINE_S)


def delete_topic(seen_as: Cluster, cluster: KafkaCluster, name: str) -> None:
    client = admin(cluster)
    client.delete_topics([name])[name].result(records.DEADLINE_S)
    while name in seen_as.describe([name]):
        pass


def result_of(result: CopyResult, topic: str, partition: int = 0) -> PartitionResult:
    return next(p for p in result.partitions if p.partition == (topic, partition))
