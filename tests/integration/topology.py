"""Several clusters under one file: rounds of all flows, what each cluster then holds, and whether it still moves."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flow_files import write_file
from integration import records
from integration.copying import make_topic
from mirror import topics
from mirror.config import Flow, load
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.errors import TryAgain
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.heartbeats import copy_heartbeats, emit
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition
from mirror.naming import is_own
from world.kafka import KafkaCluster

# Rounds after which every record must have made its way, one hop a round at worst; more is a loop.
ROUNDS_TO_SETTLE = 5

SMALL = """replication.factor = 1
offset-syncs.topic.replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
sync.group.offsets.enabled = true
sync.topic.acls.enabled = false
"""

Ends = dict[tuple[str, TopicPartition], int]


def _tried_again(task: Callable[[], None]) -> None:
    """As Airflow does with what another try can help: a new broker loads its coordinators for a while."""
    deadline = time.monotonic() + records.DEADLINE_S
    while True:
        try:
            return task()
        except TryAgain:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


class Topology:
    """Clusters by their aliases and the flows between them; its topics and groups have a prefix that no other has.

    PREFIX in the lines stands for it. Remote topics match `topics` too: that none comes back is the doing of cycle
    prevention alone.
    """

    def __init__(
        self,
        directory: Path,
        clusters: Mapping[str, KafkaCluster],
        flows: Iterable[str],
        lines: str = "",
        *,
        prefix: str = "",
    ) -> None:
        self.prefix = prefix or f"t{uuid.uuid4().hex[:6]}"
        self.clusters = clusters
        self.sides = {
            alias: GroupCluster(alias, {"bootstrap.servers": cluster.bootstrap_servers})
            for alias, cluster in clusters.items()
        }
        self.config = write_file(
            directory,
            f"topics = .*PREFIX.*\ngroups = PREFIX.*\n{SMALL}{lines}\n".replace("PREFIX", self.prefix),
            clusters={alias: cluster.bootstrap_servers for alias, cluster in clusters.items()},
            flows=tuple(flows),
        )
        self.flows = load(self.config).flows

    def topic(self, name: str) -> str:
        """A name as tests write it, `orders` or `A.orders`, with the prefix at the original name."""
        hops, _, original = name.rpartition(".")
        return f"{hops}.{self.prefix}-{original}" if hops else f"{self.prefix}-{original}"

    def create(self, alias: str, name: str, partition_count: int = 2) -> None:
        make_topic(self.sides[alias], self.topic(name), partition_count)

    def write(self, alias: str, name: str, values: Iterable[str], partition_count: int = 2) -> None:
        """Records whose values tell where they come from, in turn to the partitions."""
        sent = [
            records.Sent(value=value.encode(), key=value.encode(), partition=n % partition_count)
            for n, value in enumerate(values)
        ]
        records.write(self.clusters[alias].bootstrap_servers, self.topic(name), sent)

    def commit(self, alias: str, name: str, offset: int, partition_count: int = 2) -> None:
        """Let the topic's one group stand at this offset of every partition."""
        self.commit_at(alias, name, dict.fromkeys(range(partition_count), offset))

    def commit_at(self, alias: str, name: str, places: Mapping[int, int]) -> None:
        """The same with an offset for each partition."""
        offsets = {TopicPartition(self.topic(name), n): Committed(offset) for n, offset in places.items()}
        answer = self.sides[alias].alter({self.topic(name): offsets})[self.topic(name)]
        assert isinstance(answer, dict), answer
        assert not any(answer.values()), answer

    def next_values(self, alias: str, name: str) -> dict[TopicPartition, str]:
        """The record at which a topic's group goes on, in each partition that it has an offset in."""
        group = self.topic(name)
        offsets = self.sides[alias].committed([group])[group]
        assert isinstance(offsets, dict), offsets
        seen = records.read(self.clusters[alias].bootstrap_servers, sorted({p.topic for p in offsets}))
        return {
            p: next((r.value or b"").decode() for r in seen[p.topic][p.partition] if r.offset >= committed.offset)
            for p, committed in offsets.items()
        }

    def run_round(self) -> None:
        """Every Dag of every flow once, flows side by side as Airflow runs them."""
        with ThreadPoolExecutor(len(self.flows)) as threads:
            for done in [threads.submit(_tried_again, lambda flow=flow: self._run(flow)) for flow in self.flows]:
                done.result()

    def _run(self, flow: Flow) -> None:
        emit(flow)
        if not flow.enabled:
            return
        source, target = self.sides[flow.source], self.sides[flow.target]
        made = topics.apply(topics.discover(flow, source, target), source, target)
        settings = topics.apply_settings(topics.compare_settings(flow, source, target), target)
        for failure in (made.failure(), settings.failure()):
            assert failure is None, failure
        run_copy(flow, CopyRequest(), lambda: InProcessExecutor(1)).raise_if_incomplete()
        summary, _ = run_checkpoints(flow)
        assert not summary.failures, summary.failures
        run_group_offsets(flow)
        copy_heartbeats(flow).raise_if_incomplete()

    def settle(self) -> None:
        """Rounds until two in a row write nothing but heartbeats; what is settled stays so."""
        for _ in range(ROUNDS_TO_SETTLE):
            if not (moved := self._moved_by_a_round()):
                break
        else:
            raise AssertionError(f"still moving after {ROUNDS_TO_SETTLE} rounds: {moved}")
        assert self._moved_by_a_round() == {}

    def _moved_by_a_round(self) -> dict[str, tuple[int, int]]:
        """What a round wrote besides heartbeats and the state of their copies: each end before and after."""
        before = self.ends()
        self.run_round()
        after = self.ends()
        return {
            f"{alias}: {partition}": (before.get((alias, partition), 0), end)
            for (alias, partition), end in after.items()
            if before.get((alias, partition), 0) != end
            and not (is_own(partition.topic) and self._is_about_heartbeats(alias, partition, before))
        }

    def ends(self) -> Ends:
        """Where every partition of every cluster ends, but for heartbeats and the brokers' own."""
        found: Ends = {}
        for alias, side in self.sides.items():
            counted = [
                TopicPartition(t.name, n)
                for t in side.topics().values()
                for n in range(t.partition_count)
                if not t.name.startswith("__") and not t.name.endswith("heartbeats")
            ]
            found |= {(alias, partition): end for partition, end in side.high_watermarks(counted).items()}
        return found

    def _is_about_heartbeats(self, alias: str, partition: TopicPartition, before: Ends) -> bool:
        """Whether all that was added to a state topic is about copies of heartbeats, which have states too."""
        seen = records.read(self.clusters[alias].bootstrap_servers, [partition.topic])[partition.topic]
        start = before.get((alias, partition), 0)
        return all(b"heartbeats" in (record.key or b"") for record in seen[0] if record.offset >= start)

    def held(self) -> dict[str, dict[str, list[str]]]:
        """By cluster, every topic without its prefix and the values that read_committed readers see there, sorted."""
        held: dict[str, dict[str, list[str]]] = {}
        for alias, side in self.sides.items():
            names = [name for name in side.topic_names() if self.prefix in name]
            seen = records.read(self.clusters[alias].bootstrap_servers, names)
            held[alias] = {
                name.replace(f"{self.prefix}-", ""): sorted(
                    (record.value or b"").decode() for found in topic.values() for record in found
                )
                for name, topic in seen.items()
            }
        return held
