"""MirrorMaker 2 beside airmirror: the same clusters, the same aliases, and a file that both could read."""

from __future__ import annotations

import time
from collections.abc import Callable

from integration import records
from integration.copying import Mirrored
from integration.records import DEADLINE_S

# One broker each, and intervals of seconds where MM2 waits minutes by default.
SMALL_AND_QUICK = """
replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
offset-syncs.topic.replication.factor = 1
offset.storage.replication.factor = 1
status.storage.replication.factor = 1
config.storage.replication.factor = 1
offset.flush.interval.ms = 500
refresh.topics.interval.seconds = 2
emit.heartbeats.interval.seconds = 1
emit.checkpoints.interval.seconds = 1
sync.topic.configs.enabled = false
sync.topic.acls.enabled = false
"""
START_S = 120


def mm2_file(flow: Mirrored, enabled: str, lines: str = "") -> str:
    """An mm2.properties for MM2 with the flow's aliases and one enabled direction."""
    east, west = flow.aliases
    return (
        f"clusters = {east}, {west}\n"
        f"{east}.bootstrap.servers = {flow.upstream.bootstrap_servers}\n"
        f"{west}.bootstrap.servers = {flow.downstream.bootstrap_servers}\n"
        f"{enabled}.enabled = true\ntopics = {flow.prefix}.*\n{SMALL_AND_QUICK}{lines}\n"
    )


def until(holds: Callable[[], bool], what: str, within_s: float = DEADLINE_S) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"not in {within_s} s: {what}"
        time.sleep(0.2)


def has_records(servers: str, topic: str, count: int) -> Callable[[], bool]:
    """Whether a topic has this many records for a read_committed reader; a missing topic has none."""

    def holds() -> bool:
        try:
            return records.count(records.read(servers, [topic])[topic]) >= count
        except AssertionError:
            return False  # not made yet

    return holds


def raw(servers: str, topic: str) -> list[records.Seen]:
    """All records of a topic in the order of partitions and offsets."""
    seen = records.read(servers, [topic])[topic]
    return [record for number in sorted(seen) for record in seen[number]]
