"""MirrorMaker 2 runs west->east while airmirror copies east->west: neither disturbs the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration import records
from integration.copying import Mirrored, make_topic
from integration.records import Sent
from interop.mm2_flow import START_S, has_records, mm2_file, raw, until
from mirror.kafka.values import TopicPartition
from mirror.wire.connect_offset import ConnectOffset
from mirror.wire.offset_sync import OffsetSync
from mirror.wire.partition_state import PartitionState
from world.mm2 import MirrorMaker2

ROUNDS = 3
PER_ROUND = 200


def of_round(turn: int, side: str) -> list[Sent]:
    return [Sent(value=b"%s %d.%d" % (side.encode(), turn, n), partition=n % 2) for n in range(PER_ROUND)]


@pytest.mark.long("MM2 at its own pace")
@pytest.mark.slow
def test_both_directions_are_exact_and_each_keeps_its_own_state(flow: Mirrored, tmp_path: Path) -> None:
    east, west = flow.aliases
    at_east, at_west = flow.upstream.bootstrap_servers, flow.downstream.bootstrap_servers
    topic = flow.topic("orders", 2)
    make_topic(flow.target, topic, 2)  # an application on each side writes to its own
    flow.make_remote_topics()

    with MirrorMaker2(mm2_file(flow, f"{west}->{east}"), tmp_path / "mm2", arguments=("--clusters", east)):
        until(lambda: f"{west}.{topic}" in flow.source.topic_names(), "MM2 makes its copy", START_S)
        for turn in range(ROUNDS):
            records.write(at_east, topic, of_round(turn, "east"))
            records.write(at_west, topic, of_round(turn, "west"))
            flow.mirror().raise_if_incomplete()
            until(has_records(at_east, f"{west}.{topic}", (turn + 1) * PER_ROUND), "MM2 copies", START_S)
        positions_topic = f"mm2-offsets.{west}.internal"
        until(lambda: _mm2_positions(at_east, positions_topic) == {(topic, 0): 299, (topic, 1): 299}, "MM2 commits")

    # Both exact.
    flow.assert_equal(topic)
    there = records.read(at_west, [topic])[topic]
    assert records.first_difference(there, records.read(at_east, [f"{west}.{topic}"])[f"{west}.{topic}"]) == ""

    # No loop, and nobody copied the other's internal topics.
    copies = {
        name for name in (*flow.source.topic_names(), *flow.target.topic_names()) if name.startswith((east, west))
    }
    assert {name for name in copies if not name.endswith(("heartbeats", ".internal"))} == {
        f"{east}.{topic}",
        f"{west}.{topic}",
    }
    assert not [name for name in copies if ".mm2-" in name]

    # Our state speaks of our flow alone, MM2's of its own alone.
    states = [PartitionState.decode(_bytes(r.key), _bytes(r.value)) for r in raw(at_west, flow.links.syncs_topic)]
    assert {(s.topic, s.partition) for s in states if "heartbeats" not in s.topic} == {(topic, 0), (topic, 1)}
    assert not any(s.is_from_mm2 for s in states)
    assert all(flow.states()[TopicPartition(topic, n)].position == ROUNDS * PER_ROUND // 2 for n in (0, 1))
    syncs = [
        OffsetSync.decode(_bytes(r.key), _bytes(r.value)) for r in raw(at_west, f"mm2-offset-syncs.{east}.internal")
    ]
    assert syncs
    assert all(len(_bytes(r.value)) == 16 for r in raw(at_west, f"mm2-offset-syncs.{east}.internal"))


def _mm2_positions(servers: str, topic: str) -> dict[tuple[str, int], int | None]:
    found = (ConnectOffset.decode(_bytes(r.key), r.value) for r in raw(servers, topic))
    return {
        (one.topic, one.partition): one.offset
        for one in found
        if one is not None and one.connector == "MirrorSourceConnector" and not one.topic.endswith("heartbeats")
    }


def _bytes(data: bytes | None) -> bytes:
    assert data is not None
    return data
