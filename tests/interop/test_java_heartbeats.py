"""Our heartbeats as Java's MirrorClient and MM2's own formatter read them."""

from __future__ import annotations

import uuid
from pathlib import Path

from integration import records
from integration.copying import Mirrored, make_topic
from mirror.config import load
from mirror.heartbeats import copy_heartbeats, emit
from world import jars, java

HERE = Path(__file__).parent


def java_calls(flow: Mirrored, *aliases: str) -> dict[str, str]:
    """What HeartbeatCalls prints about the target: a call and its arguments, and the answer."""
    command = java.command(
        str(HERE / "HeartbeatCalls.java"),  # a source file: Java compiles it as it starts
        flow.downstream.bootstrap_servers,
        *aliases,
        jars=jars.ensure(),
        logging=java.logging_file(flow.downstream.directory, "WARN", "SYSTEM_ERR"),
    )
    return dict(line.split(": ", 1) for line in java.run(command, timeout_s=120).splitlines())


def names(printed: str) -> set[str]:
    return {name.strip() for name in printed.strip("[]").split(",")}


def test_java_clients_find_upstream_clusters_and_hops_by_our_heartbeats(flow: Mirrored) -> None:
    east, west = flow.aliases
    back = load(flow.config).flow(f"{west}->{east}")
    written = emit(back)
    assert written is not None
    # As a cluster Z further up would be known on the source, had a flow brought its heartbeats there.
    further = f"further-{uuid.uuid4().hex[:6]}"
    make_topic(flow.source, f"{further}.heartbeats")
    copy_heartbeats(flow.flow).raise_if_incomplete()

    said = java_calls(flow, east, further, west, "nobody")
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
