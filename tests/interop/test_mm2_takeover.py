"""MirrorMaker 2 ran before and was stopped: airmirror goes on exactly behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.copying import Mirrored, result_of
from integration.crossing import Groups
from integration.hostile import transactional
from integration.records import numbered, send
from interop.mm2_flow import START_S, has_records, mm2_file, until
from mirror.groups.checkpoints import GroupRemote, read_checkpoints
from mirror.kafka.values import TopicPartition
from mirror.wire.history import Exact, Unknown
from world.kafka import KafkaCluster
from world.mm2 import MirrorMaker2

COMMITTED = "SOURCE.consumer.isolation.level = read_committed"
QUICK_GROUPS = "sync.group.offsets.interval.seconds = 1\nrefresh.groups.interval.seconds = 1"


@pytest.fixture
def groups(tmp_path: Path, interop_clusters: tuple[KafkaCluster, KafkaCluster]) -> Groups:
    found = Groups(tmp_path, *interop_clusters)
    found.configure(COMMITTED)
    return found


def checkpoints(flow: Mirrored) -> dict[GroupRemote, int]:
    known = read_checkpoints(flow.flow, flow.links, flow.target)
    return {place: found.checkpoint.downstream_offset for place, found in known.items()}


@pytest.mark.slow
def test_airmirror_goes_on_behind_a_stopped_mm2_without_a_record_twice_or_missing(
    groups: Groups, tmp_path: Path
) -> None:
    flow = groups.flow
    topic, markers, silent = flow.topic("orders", 3), flow.topic("markers"), flow.topic("silent", 2)
    flow.write(topic, numbered(3000, partitions=3))
    writer = transactional(flow, "writer")
    for turn in range(10):
        writer.begin_transaction()
        send(writer, markers, numbered(20, start=turn * 20))
        (writer.commit_transaction if turn % 3 else writer.abort_transaction)()
    committed = 6 * 20

    names = [groups.name(label) for label in ("behind", "ahead")]
    for name, share in zip(names, (0.3, 0.95), strict=True):
        ends = flow.source.stable_ends(groups.partitions(topic, markers))
        groups.commit(name, {partition: int(end * share) for partition, end in ends.items()})

    lines = f"{COMMITTED}\ngroups = {flow.prefix}.*\nsync.group.offsets.enabled = true\n{QUICK_GROUPS}"
    properties = mm2_file(flow, flow.flow.id, lines.replace("SOURCE", flow.aliases[0]))
    mm2 = MirrorMaker2(properties, tmp_path / "mm2")
    mm2.start()
    try:
        until(has_records(flow.downstream.bootstrap_servers, flow.remote(topic), 3000), "MM2 copies", START_S)
        until(has_records(flow.downstream.bootstrap_servers, flow.remote(markers), committed), "MM2 copies on", START_S)
        until(lambda: {group for group, _ in checkpoints(flow)} == set(names), "MM2 tells of the groups", START_S)
    finally:
        mm2.stop()
    assert "Kafka MirrorMaker stopped" in mm2.log()

    flow.write(topic, numbered(300, start=3000, partitions=3))
    flow.write(markers, numbered(10, start=1000))
    flow.write(silent, numbered(10, partitions=2))
    later = flow.topic("later")
    flow.write(later, numbered(10))
    result = flow.mirror()
    result.raise_if_incomplete()
    assert [result_of(result, topic, n).start for n in range(3)] == [1000] * 3
    assert result.record_count == 300 + 10 + 10 + 10
    flow.assert_equal(topic, markers, silent, later)

    # What MM2 copied is MM2's to translate; behind it we know.
    state = flow.states()[TopicPartition(topic, 0)]
    assert isinstance(state.translate(500), Unknown)
    assert state.translate(1000) == Exact(1000)

    # Groups of MM2's time go on at the very record; its checkpoints count, and only better ones are written.
    of_mm2 = checkpoints(flow)
    summary, _ = groups.cross()
    assert {p.answer.is_exact for p in summary.partitions} == {True}
    assert all(at >= of_mm2.get(place, 0) for place, at in checkpoints(flow).items())
    groups.assert_all_go_on_alike(names, groups.partitions(topic, markers))
    assert groups.cross()[0].written == 0

    # Nothing new: nothing is done. Something new: only that.
    before = flow.target_ends()
    flow.copy()
    assert flow.target_ends() == before
    flow.write(topic, numbered(3, start=3300, partitions=3))
    assert flow.copy().record_count == 3
    flow.assert_equal(topic)
