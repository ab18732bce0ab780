"""One run: a source cluster with a topic per shape, and for each contender a target cluster of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench import batches, contenders, load
from bench.contenders import Contender
from bench.results import Measured
from bench.shapes import Shape
from bench.watch import Watch, Watched
from mirror.kafka.cluster import Cluster
from world.kafka import KafkaCluster
from world.mm2 import AS_SHIPPED

Say = Callable[[str], None]

BROKER_HEAP = "512m"
# Records written to a fresh target before it is measured: a cold JVM would slow down whoever comes.
WARM_UP_COUNT = 100_000


def measure_all(
    directory: Path, shapes: Sequence[Shape], chosen: Sequence[Contender], rounds: int, record_count: int, say: Say
) -> Iterator[Measured]:
    """Every contender on every shape, in turn, so many rounds; results as they come."""
    for shape in shapes:
        # A cluster per shape too, so that no contender meets the other shapes' data or their deletion.
        with _cluster("source", directory / shape.name) as source:
            say(f"{shape.label}: writing {record_count:,} records")
            load.fill(source.bootstrap_servers, contenders.TOPIC, shape, record_count)
            found = batches.sizes_on_disk(source.brokers[0].node.data, contenders.TOPIC)
            say(f"{shape.label}: the mean batch on the log has {found}")
            for contender in [*chosen] * rounds:
                yield _measure(directory / shape.name, source, shape, contender, record_count, say)
        shutil.rmtree(directory / shape.name)


def _measure(
    directory: Path, source: KafkaCluster, shape: Shape, contender: Contender, record_count: int, say: Say
) -> Measured:
    with _cluster(f"target-{contender.name}", directory) as target:
        load.fill(target.bootstrap_servers, "warm-up", shape, min(WARM_UP_COUNT, record_count))
        # So that the topic is in the page cache and the source's JVM warm for whoever is first, too.
        load.count_records(source.bootstrap_servers, contenders.TOPIC)
        say(f"{shape.label}: {contender.label} copies")
        watched = _copy(directory / contender.name, source, target, contender, record_count)
        copied_count = load.count_records(target.bootstrap_servers, contenders.REMOTE_TOPIC)
    shutil.rmtree(target.directory)
    return Measured(
        shape=shape.name,
        contender=contender.name,
        record_count=record_count,
        copied_count=copied_count,
        start_up_s=watched.first.at - watched.start.at,
        seconds=watched.last.at - watched.first.at,
        cpu_s=watched.cpu_s,
        copying_cpu_s=watched.cpu_s - watched.first.cpu_s,
        broker_cpu_s=watched.last.broker_cpu_s - watched.start.broker_cpu_s,
    )


def _copy(
    directory: Path, source: KafkaCluster, target: KafkaCluster, contender: Contender, record_count: int
) -> Watched:
    brokers = [*source.brokers, *target.brokers]
    process = contender.started_by(contender.properties(source, target), directory)
    try:
        process.start()
        watch = Watch(
            Cluster("B", {"bootstrap.servers": target.bootstrap_servers}),
            contenders.REMOTE_TOPIC,
            process,
            lambda: sum(broker.cpu_seconds() for broker in brokers),
        )
        return watch.follow(record_count, ends=contender.ends)
    finally:
        process.kill()


def _cluster(name: str, directory: Path) -> KafkaCluster:
    return KafkaCluster(name, directory, heap=BROKER_HEAP, options=AS_SHIPPED)
