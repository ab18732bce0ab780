"""One run: a hostile source, and for each program a target of its own; both copy after every round, then the groups."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bench import contenders
from bench.groups.judge import Carried, judge
from bench.groups.reading import Read, read_all
from bench.groups.source import PARTITION_COUNTS, ROUND_COUNT, HostileSource
from bench.watch import CopyFailed
from mirror.kafka.cluster import Cluster
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster
from world.process import Process

GROUP_COUNT = 12
SEED = 20
# Seconds in which a program that goes on for ever must change no group any more, to count as done with them.
QUIET_S = 15.0
DEADLINE_S = 300.0

SETTINGS: contenders.Settings = {
    "clusters": "A, B",
    "A->B.enabled": "true",
    "topics": ", ".join(PARTITION_COUNTS),
    "groups": "bench-.*",
    "sync.group.offsets.enabled": "true",
    "A.consumer.isolation.level": "read_committed",
    "tasks.max": str(contenders.TASK_COUNT),
    "emit.heartbeats.enabled": "false",
    "sync.topic.configs.enabled": "false",
    "sync.topic.acls.enabled": "false",
    "replication.factor": "1",
    "offset-syncs.topic.replication.factor": "1",
    "checkpoints.topic.replication.factor": "1",
}
# Seconds where MM2 waits for minutes: it gets every chance to translate.
MM2_EAGER: contenders.Settings = {
    "refresh.topics.interval.seconds": "2",
    "refresh.groups.interval.seconds": "2",
    "emit.checkpoints.interval.seconds": "1",
    "sync.group.offsets.interval.seconds": "1",
    "B.offset.flush.interval.ms": "1000",
    "offset.storage.replication.factor": "1",
    "status.storage.replication.factor": "1",
    "config.storage.replication.factor": "1",
}

Say = Callable[[str], None]
Offsets = dict[str, dict[TopicPartition, int]]


def measure_groups(directory: Path, say: Say) -> list[Carried]:
    """Both programs on the same source and the same groups."""
    source = KafkaCluster("groups-source", directory, properties={"log.cleaner.backoff.ms": "200"})
    with source, KafkaCluster("groups-mm2", directory) as for_mm2, KafkaCluster("groups-airmirror", directory) as ours:
        hostile = HostileSource(source.bootstrap_servers, SEED)
        say("groups: writing transactions, aborts, a compacted topic and purged heads")
        hostile.make()
        settings = {**SETTINGS, **MM2_EAGER}
        with _running(contenders.mm2(_properties(settings, source, for_mm2), directory / "mm2")) as mm2:
            for number in range(ROUND_COUNT):
                if number:
                    hostile.grow()
                say(f"groups: round {number + 1} of {ROUND_COUNT}: both programs copy")
                _airmirror(source, ours, directory, "copy")
                _wait_for_copies(source, for_mm2, mm2)
            offsets = _commit(source, SEED)
            say(f"groups: {GROUP_COUNT} groups, {sum(map(len, offsets.values()))} offsets")
            _airmirror(source, ours, directory, "groups")
            moved = {"MM2": _settled(for_mm2, mm2), "airmirror": _committed(ours)}
        here = read_all(source.bootstrap_servers, list(PARTITION_COUNTS))
        targets = {"MM2": for_mm2, "airmirror": ours}
        return [_judged(name, here, _copies(targets[name]), offsets, found) for name, found in moved.items()]


def _judged(
    program: str,
    here: Mapping[TopicPartition, list[Read]],
    there: Mapping[TopicPartition, list[Read]],
    offsets: Offsets,
    moved: Offsets,
) -> Carried:
    landed = [
        judge(here[partition], there[_remote(partition)], offset, moved.get(group, {}).get(_remote(partition)))
        for group, wanted in offsets.items()
        for partition, offset in wanted.items()
    ]
    return Carried(program=program, landed=tuple(landed))


def _remote(partition: TopicPartition) -> TopicPartition:
    return TopicPartition(f"A.{partition.topic}", partition.partition)


def _properties(settings: contenders.Settings, source: KafkaCluster, target: KafkaCluster) -> str:
    addresses = {"A.bootstrap.servers": source.bootstrap_servers, "B.bootstrap.servers": target.bootstrap_servers}
    return "".join(f"{key} = {value}\n" for key, value in {**settings, **addresses}.items())


@contextmanager
def _running(process: Process) -> Iterator[Process]:
    process.start()
    try:
        yield process
    finally:
        process.kill()


def _airmirror(source: KafkaCluster, target: KafkaCluster, directory: Path, what: str) -> None:
    """Run airmirror to its end: both commands of a copy, or `groups`."""
    properties = _properties(SETTINGS, source, target)
    started_by = contenders.airmirror if what == "copy" else contenders.airmirror_groups
    with _running(started_by(properties, directory / "airmirror")) as process:
        _wait_until(lambda: not process.is_running(), f"airmirror {what} ends", process)
        if process.exit_code():
            raise CopyFailed(f"airmirror {what} ended with exit code {process.exit_code()}:\n{process.log()[-4000:]}")


def _copies(target: KafkaCluster) -> dict[TopicPartition, list[Read]]:
    return read_all(target.bootstrap_servers, [f"A.{topic}" for topic in PARTITION_COUNTS])


def _wait_for_copies(source: KafkaCluster, target: KafkaCluster, mm2: Process) -> None:
    wanted = {_remote(p): len(found) for p, found in read_all(source.bootstrap_servers, list(PARTITION_COUNTS)).items()}
    there = Cluster("B", {"bootstrap.servers": target.bootstrap_servers})

    def are_there() -> bool:
        if len(there.describe({p.topic for p in wanted})) < len(PARTITION_COUNTS):
            return False
        return all(there.high_watermarks(wanted).get(p, 0) >= count for p, count in wanted.items())

    _wait_until(are_there, "MM2 copies the round", mm2)


def _anywhere(rng: random.Random, start: int, end: int, *, near_head: bool) -> int:
    """A random offset of a log; `near_head` as most groups are: any order of magnitude behind the end is as likely."""
    if not near_head:
        return rng.randint(start, end)
    return end - int((end - start + 1) ** rng.random()) + 1


def _commit(source: KafkaCluster, seed: int) -> Offsets:
    """Groups in every partition: half of them anywhere, half near the head."""
    rng = random.Random(seed)
    with GroupCluster("A", {"bootstrap.servers": source.bootstrap_servers}) as cluster:
        partitions = [TopicPartition(t, n) for t, count in PARTITION_COUNTS.items() for n in range(count)]
        starts, ends = cluster.log_starts(partitions), cluster.stable_ends(partitions)
        offsets = {
            f"bench-{n:02}": {p: _anywhere(rng, starts[p], ends[p], near_head=n % 2 == 1) for p in partitions}
            for n in range(GROUP_COUNT)
        }
        cluster.alter({group: {p: Committed(o) for p, o in wanted.items()} for group, wanted in offsets.items()})
    return offsets


def _committed(target: KafkaCluster) -> Offsets:
    with GroupCluster("B", {"bootstrap.servers": target.bootstrap_servers}) as cluster:
        found = cluster.committed(f"bench-{n:02}" for n in range(GROUP_COUNT))
    return {g: {p: c.offset for p, c in offsets.items()} for g, offsets in found.items() if isinstance(offsets, dict)}


def _settled(target: KafkaCluster, mm2: Process) -> Offsets:
    """The target's groups once MM2 has changed none of them for a while."""
    seen: Offsets = {}
    changed_at = time.monotonic()

    def is_settled() -> bool:
        nonlocal seen, changed_at
        now = _committed(target)
        if now != seen:
            seen, changed_at = now, time.monotonic()
        return any(seen.values()) and time.monotonic() - changed_at > QUIET_S

    _wait_until(is_settled, "MM2 is done with the groups", mm2)
    return seen


def _wait_until(holds: Callable[[], bool], what: str, process: Process) -> None:
    give_up = time.monotonic() + DEADLINE_S
    while not holds():
        if time.monotonic() > give_up:
            raise CopyFailed(f"not in {DEADLINE_S:.0f} s: {what}:\n{process.log()[-4000:]}")
        time.sleep(0.5)
