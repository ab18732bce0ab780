"""Who is measured, with which settings: MM2, MM2 with its exactly-once on, airmirror."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from world.kafka import KafkaCluster
from world.mm2 import AS_SHIPPED, MirrorMaker2
from world.process import Process

TOPIC = "bench"
REMOTE_TOPIC = "A.bench"
# MM2's tasks and airmirror's slots: one for each of the two cores on which the numbers of docs/bench.md were taken.
TASK_COUNT = 2
MASTER = f"local[{TASK_COUNT},4]"
MM2_HEAP = "1g"

Settings = Mapping[str, str]

# Nothing but the copy: no heartbeats, no checkpoints, no settings or ACLs in the background.
COMMON: Settings = {
    "clusters": "A, B",
    "A->B.enabled": "true",
    "topics": TOPIC,
    "tasks.max": str(TASK_COUNT),
    "emit.heartbeats.enabled": "false",
    "emit.checkpoints.enabled": "false",
    "sync.topic.configs.enabled": "false",
    "sync.topic.acls.enabled": "false",
    "replication.factor": "1",
    "offset-syncs.topic.replication.factor": "1",
}

# The best of what was tried (docs/bench.md).
MM2_TUNED: Settings = {
    "B.producer.batch.size": "131072",
    "B.producer.linger.ms": "50",
    "B.producer.compression.type": "lz4",
    "B.producer.buffer.memory": "67108864",
    "A.consumer.max.poll.records": "2000",
    "A.consumer.max.partition.fetch.bytes": "8388608",
    "A.consumer.fetch.max.bytes": "33554432",
    "offset.storage.replication.factor": "1",
    "status.storage.replication.factor": "1",
    "config.storage.replication.factor": "1",
}

# Transactions as long as airmirror's: by default each poll would be one, which is far slower.
MM2_EXACTLY_ONCE: Settings = {
    "B.exactly.once.source.support": "enabled",
    "A.consumer.isolation.level": "read_committed",
    "A->B.transaction.boundary": "interval",
    "A->B.transaction.boundary.interval.ms": "2000",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A program that copies; `ends` says whether it ends by itself once everything is copied."""

    name: str
    label: str
    settings: Settings
    started_by: Callable[[str, Path], Process]
    ends: bool

    def properties(self, source: KafkaCluster, target: KafkaCluster) -> str:
        """Its mm2.properties for two clusters."""
        addresses = {
            "A.bootstrap.servers": source.bootstrap_servers,
            "B.bootstrap.servers": target.bootstrap_servers,
        }
        return "".join(f"{key} = {value}\n" for key, value in {**self.settings, **addresses}.items())


def mm2(properties: str, directory: Path) -> Process:
    """MM2 in dedicated mode, with the options of Kafka's own start script."""
    return MirrorMaker2(properties, directory, heap=MM2_HEAP, options=AS_SHIPPED)


def airmirror(properties: str, directory: Path) -> Process:
    """Both commands of a copy, as a user types them, in one shell: their CPU time counts together."""
    both = '"$0" --config "$1" topics A-to-B && "$0" --config "$1" copy A-to-B --master "$2"'
    return _in_a_shell(both, properties, directory)


def airmirror_groups(properties: str, directory: Path) -> Process:
    """The command that carries groups over."""
    return _in_a_shell('"$0" --config "$1" groups A-to-B', properties, directory)


def _in_a_shell(script: str, properties: str, directory: Path) -> Process:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "mm2.properties"
    file.write_text(properties)
    program = Path(sys.executable).with_name("airmirror")
    # A user's shell: without the settings of whoever runs the bench, and where Python keeps what it compiled.
    foreign = ("AIRMIRROR_", "SPARK_", "PYSPARK_", "PYTHON")
    own = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return Process("airmirror", ["sh", "-c", script, str(program), str(file), MASTER], directory=directory, env=own)


MM2 = Contender(name="mm2", label="MM2", settings={**COMMON, **MM2_TUNED}, started_by=mm2, ends=False)
CONTENDERS = (
    MM2,
    Contender(
        name="mm2-eos",
        label="MM2, exactly once",
        settings={**COMMON, **MM2_TUNED, **MM2_EXACTLY_ONCE},
        started_by=mm2,
        ends=False,
    ),
    Contender(name="airmirror", label="airmirror", settings=COMMON, started_by=airmirror, ends=True),
)
BY_NAME = {contender.name: contender for contender in CONTENDERS}
