"""airmirror hands a flow over to MirrorMaker 2, and takes it back: no record twice, none missing, no group late."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from integration import records
from integration.crossing import Groups
from integration.hostile import transactional
from integration.records import Seen, numbered, send
from interop.mm2_flow import START_S, has_records, mm2_file, until
from mirror.cli.main import main
from mirror.errors import FlowNotForward
from mirror.groups.checkpoints import read_checkpoints
from mirror.groups.run import run_checkpoints
from mirror.heartbeats import copy_heartbeats
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster
from world.mm2 import MirrorMaker2

# As much as both read in the same way.
LINES = """
SOURCE.consumer.isolation.level = read_committed
groups = PREFIX.*
sync.group.offsets.enabled = true
sync.group.offsets.interval.seconds = 1
refresh.groups.interval.seconds = 1
airmirror.copy.commit.bytes = 2000
offset-syncs.topic.location = LOCATION
"""


class Circle:
    """A flow with groups, whose file MM2 and airmirror both read."""

    def __init__(self, groups: Groups, location: str) -> None:
        self.groups, self.flow = groups, groups.flow
        source, target = self.flow.aliases
        lines = LINES.replace("PREFIX", self.flow.prefix).replace("LOCATION", location)
        groups.configure(lines)
        self.mm2_lines = lines.replace("SOURCE", source).replace("TARGET", target)
        self.busy, self.quiet = self.flow.topic("busy", 3), self.flow.topic("quiet", 2)
        self.written = 0
        self.writer = transactional(self.flow, "writer")

    def grow(self, turns: int) -> None:
        """Transactions of which some are aborted, so that the offsets of the two sides drift apart."""
        for turn in range(turns):
            self.writer.begin_transaction()
            send(self.writer, self.busy, numbered(9, start=self.written, partitions=3))
            (self.writer.abort_transaction if turn % 4 == 3 else self.writer.commit_transaction)()
            self.written += 9

    def command(self, *arguments: str) -> int:
        return main(["--config", str(self.flow.config), "handover", self.flow.flow.id, *arguments])

    def mm2(self, directory: Path) -> MirrorMaker2:
        return MirrorMaker2(mm2_file(self.flow, self.flow.flow.id, self.mm2_lines), directory)

    def committed_records(self) -> int:
        return records.count(records.read(self.flow.upstream.bootstrap_servers, [self.busy])[self.busy])

    def partitions(self) -> list[TopicPartition]:
        return self.groups.partitions(self.busy)

    def stand_behind(self, group: str, share: float) -> dict[TopicPartition, int]:
        """Commit the group at a share of each partition of the source."""
        ends = self.flow.source.stable_ends(self.partitions())
        offsets = {partition: int(end * share) for partition, end in ends.items()}
        self.groups.commit(group, offsets)
        return offsets

    def checkpoints(self, group: str) -> dict[int, tuple[int, int]]:
        known = read_checkpoints(self.flow.flow, self.flow.links, self.flow.target)
        return {
            place.partition: (found.checkpoint.upstream_offset, found.checkpoint.downstream_offset)
            for (name, place), found in known.items()
            if name == group
        }

    def assert_no_group_is_late(self, groups: list[str]) -> None:
        here, there = self.flow.read(self.busy)[self.busy]
        for group in groups:
            for number, (upstream, downstream) in self.checkpoints(group).items():
                assert downstream <= _truth(here[number], there[number], upstream), f"{group} in {number}"


def _truth(here: list[Seen], there: list[Seen], upstream: int) -> int:
    """Where the next record of a group at this offset stands on the target."""
    following = next((record.value for record in here if record.offset >= upstream), None)
    at = {record.value: record.offset for record in there}
    return at.get(following, there[-1].offset + 1)


@pytest.fixture(params=["source", "target"])
def circle(
    request: pytest.FixtureRequest, tmp_path: Path, interop_clusters: tuple[KafkaCluster, KafkaCluster]
) -> Circle:
    return Circle(Groups(tmp_path, *interop_clusters), request.param)


@pytest.mark.long("MM2 at its own pace")
def test_mm2_goes_on_behind_airmirror_and_airmirror_behind_mm2(
    circle: Circle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups, flow = circle.groups, circle.flow
    early, late = groups.name("early"), groups.name("late")
    circle.grow(40)
    flow.mirror().raise_if_incomplete()
    circle.stand_behind(early, 0.3)
    circle.stand_behind(late, 0.8)
    groups.cross()
    copy_heartbeats(flow.flow).raise_if_incomplete()
    before = circle.checkpoints(early)

    assert circle.command("--dry-run") == 0
    assert flow.copy().record_count == 0, "looking hands nothing over"
    capsys.readouterr()
    assert circle.command("--yes", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    positions = {(p["topic"], p["partition"]): p["position"] for p in told["partitions"]}
    assert {positions[circle.busy, p.partition] for p in circle.partitions()} != {0}
    assert {positions[circle.quiet, number] for number in (0, 1)} == {0}
    circle.grow(10)
    for run in (flow.copy, lambda: run_checkpoints(flow.flow), lambda: copy_heartbeats(flow.flow)):
        with pytest.raises(FlowNotForward, match="handed over to MM2"):
            run()

    with circle.mm2(tmp_path / "mm2"):
        flow.write(circle.quiet, numbered(10, partitions=2))
        wanted = circle.committed_records()
        until(has_records(flow.downstream.bootstrap_servers, flow.remote(circle.busy), wanted), "MM2 copies", START_S)
        until(has_records(flow.downstream.bootstrap_servers, flow.remote(circle.quiet), 10), "MM2 copies on", START_S)
        moved = circle.stand_behind(late, 1.0)
        until(
            lambda: (
                {n: up for n, (up, _) in circle.checkpoints(late).items()}
                == {p.partition: offset for p, offset in moved.items()}
            ),
            "MM2 translates",
            START_S,
        )
        assert circle.command("--back", "--yes") == 1
        assert "MM2 is running" in capsys.readouterr().err
    flow.assert_equal(circle.busy, circle.quiet)
    assert circle.checkpoints(early) == before, "MM2 kept the better checkpoints that it found"
    circle.assert_no_group_is_late([early, late])

    circle.grow(10)
    flow.write(circle.quiet, numbered(10, start=10, partitions=2))
    with pytest.raises(FlowNotForward):
        flow.copy()
    assert circle.command("--back", "--yes") == 0
    assert circle.command("--back", "--yes") == 2
    assert flow.copy().record_count == circle.committed_records() - wanted + 10
    flow.assert_equal(circle.busy, circle.quiet)
    copy_heartbeats(flow.flow).raise_if_incomplete()
    _assert_heartbeats_are_equal(flow.upstream, flow.downstream, flow.remote("heartbeats"))
    circle.stand_behind(late, 0.9)
    summary, _ = groups.cross()
    assert {p.answer.is_exact for p in summary.partitions} == {True}
    circle.assert_no_group_is_late([early, late])
    groups.assert_next_is_the_same(early, circle.partitions())


def _assert_heartbeats_are_equal(upstream: KafkaCluster, downstream: KafkaCluster, remote: str) -> None:
    here = records.read(upstream.bootstrap_servers, ["heartbeats"])["heartbeats"]
    there = records.read(downstream.bootstrap_servers, [remote])[remote]
    assert records.count(here)
    assert records.first_difference(here, there) == ""
