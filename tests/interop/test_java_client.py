"""Our heartbeats and checkpoints as Java's MirrorClient and MM2's own formatter read them."""

from __future__ import annotations

import random
import uuid
from pathlib import Path

from integration import records
from integration.copying import Mirrored, make_topic
from integration.group_reading import commit
from integration.hostile import transactional
from integration.records import numbered, send
from mirror.config import load
from mirror.groups.run import run_checkpoints
from mirror.heartbeats import copy_heartbeats, emit
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition
from world import jars, java

HERE = Path(__file__).parent


def java_calls(flow: Mirrored, groups: str, *aliases: str) -> dict[str, str]:
    """What MirrorClientCalls prints about the target: a call and its arguments, and the answer."""
    command = java.command(
        str(HERE / "MirrorClientCalls.java"),  # a source file: Java compiles it as it starts
        flow.downstream.bootstrap_servers,
        flow.aliases[0],
        groups,
        *aliases,
        jars=jars.ensure(),
        logging=java.logging_file(flow.downstream.directory, "WARN", "SYSTEM_ERR"),
    )
    return dict(line.split(": ", 1) for line in java.run(command, timeout_s=240).splitlines())


def names(printed: str) -> set[str]:
    return {name.strip() for name in printed.strip("[]").split(",")}


def commit_anywhere(flow: Mirrored, topic: str, names: list[str]) -> dict[str, dict[TopicPartition, int]]:
    """Groups with offsets all over a topic whose logs differ between the sides."""
    writer, chance = transactional(flow, "writer"), random.Random(9)
    for turn in range(15):
        writer.begin_transaction()
        send(writer, topic, numbered(6, start=6 * turn, partitions=2))
        (writer.commit_transaction if turn % 4 else writer.abort_transaction)()
    flow.mirror().raise_if_incomplete()
    partitions = [TopicPartition(topic, number) for number in (0, 1)]
    ends = flow.source.stable_ends(partitions)
    wanted = {name: {p: chance.randint(0, ends[p]) for p in partitions} for name in names}
    with GroupCluster("here", {"bootstrap.servers": flow.upstream.bootstrap_servers}) as source:
        for name, offsets in wanted.items():
            commit(source, name, {p: Committed(offset, "said") for p, offset in offsets.items()})
    return wanted


def test_java_clients_find_upstream_clusters_hops_and_translated_offsets_in_what_we_wrote(flow: Mirrored) -> None:
    east, west = flow.aliases
    topic, groups = flow.topic("orders", 2), [f"{flow.prefix}-group-{n}" for n in range(4)]
    flow.configure(f"groups = {flow.prefix}.*")
    upstream = commit_anywhere(flow, topic, groups)
    summary, _ = run_checkpoints(flow.flow)
    back = load(flow.config).flow(f"{west}->{east}")
    written = emit(back)
    assert written is not None
    # As a cluster Z further up would be known on the source, had a flow brought its heartbeats there.
    further = f"further-{uuid.uuid4().hex[:6]}"
    make_topic(flow.source, f"{further}.heartbeats")
    copy_heartbeats(flow.flow).raise_if_incomplete()

    said = java_calls(flow, flow.prefix, east, further, west, "nobody")
    assert f"{east}.checkpoints.internal" in names(said["checkpointTopics"])
    translated = {(p.group, p.remote): p.answer.downstream for p in summary.partitions}
    assert translated.keys() == {
        (g, TopicPartition(flow.remote(p.topic), p.partition)) for g in groups for p in upstream[g]
    }
    for group in groups:
        expected = {str(remote): f"{at}/said" for (name, remote), at in translated.items() if name == group}
        for call in ("translateOffsets", "translateOffsets all", "remoteConsumerOffsets"):
            assert names(said[f"{call} {group}"].strip("{}")) == {f"{p}={at}" for p, at in expected.items()}
    assert any(at != upstream[g][TopicPartition(topic, r.partition)] for (g, r), at in translated.items()), "no shift"
    assert {east, further} <= names(said["upstreamClusters"])
    assert {f"{east}.heartbeats", f"{east}.{further}.heartbeats"} <= names(said["heartbeatTopics"])
    hops = {alias: int(said[f"replicationHops {alias}"]) for alias in (east, further, west, "nobody")}
    assert hops == {east: 1, further: 2, west: -1, "nobody": -1}

    remote = f"{east}.heartbeats"
    count = records.count(records.read(flow.downstream.bootstrap_servers, [remote])[remote])
    printed = flow.downstream.tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--topic", remote, "--from-beginning", "--max-messages", str(count), "--isolation-level", "read_committed"),
        *("--timeout-ms", "30000", "--formatter", "org.apache.kafka.connect.mirror.formatters.HeartbeatFormatter"),
    )
    expected = f"sourceClusterAlias={west}, targetClusterAlias={east}, timestamp={written.timestamp_ms}"
    assert f"Heartbeat{{{expected}}}" in printed.splitlines()
