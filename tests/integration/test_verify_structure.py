"""What `airmirror verify` compares beside records, on clusters that check rights: each difference, and only it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from integration.command import Command
from integration.copying import Mirrored
from integration.group_reading import commit, delete_group
from integration.records import numbered
from integration.test_acls import PRUNE, acl, grant, revoke, sync
from integration.waiting import wait_until
from mirror.groups.checkpoints import Known, read_checkpoints, write_checkpoints
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.kafka.configs import SettingChange, alter_settings
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster


class Compared:
    """A flow with topics, settings, rights and groups in place, and its verification by the command."""

    def __init__(self, flow: Mirrored, command: Command) -> None:
        self.flow, self._command = flow, command
        self.flow.configure(f"groups = {flow.prefix}.*\nsync.group.offsets.enabled = true\n{PRUNE}")
        self.topic, self.other = flow.topic("orders", 2, retention_ms="86400000"), flow.topic("other")
        flow.write(self.topic, numbered(16, partitions=2))
        flow.mirror().raise_if_incomplete()
        self.reader = acl(self.topic, "reader")
        grant(flow.source, flow, self.reader)
        sync(flow)
        self.here, self.there = (
            GroupCluster(name, {"bootstrap.servers": cluster.bootstrap_servers})
            for name, cluster in (("here", flow.upstream), ("there", flow.downstream))
        )
        self.gone, self.late = f"{flow.prefix}-gone", f"{flow.prefix}-late"
        for group in (self.gone, self.late):
            commit(self.here, group, {TopicPartition(self.topic, number): Committed(7) for number in (0, 1)})
        self.sync_groups()

    def sync_groups(self) -> None:
        run_checkpoints(self.flow.flow)
        run_group_offsets(self.flow.flow)

    def set_retention(self, value: str) -> None:
        remote = self.flow.remote(self.topic)
        change = SettingChange(name="retention.ms", operation="set", value=value)
        assert alter_settings(self.flow.target, {remote: [change]}) == {remote: None}
        wait_until(
            lambda: self.flow.target.configs([remote])[remote]["retention.ms"].value, lambda found: found == value
        )

    def expect(self, *differences: tuple[str, str, str]) -> None:
        """The command ends with 1 if and only if something differs; these are named, and nothing else."""
        done = self._command("verify", "--json")
        found = [(d["part"], d["name"], d["what"]) for d in done.document["deviations"]]
        assert [each[:2] for each in found] == [each[:2] for each in differences], done.out
        for (_, _, what), (_, _, words) in zip(found, differences, strict=True):
            assert words in what
        assert (done.code, done.document["equal"]) == ((1, False) if differences else (0, True)), done.out
        assert done.document["records"] == 16
        assert all(name in done.err and words in done.err for _, name, words in differences)
        assert not any("not compared" in notice for notice in done.document["notices"]), "every part was looked at"


def test_each_setting_partition_right_and_group_that_differs_is_named_and_nothing_when_all_is_equal(
    tmp_path: Path,
    guarded: tuple[KafkaCluster, KafkaCluster],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flow = Mirrored(tmp_path, *guarded)
    compared = Compared(flow, Command(flow, capsys, monkeypatch))
    topic, remote = compared.topic, flow.remote(compared.topic)
    compared.expect()

    compared.set_retention("1000000")
    for grown in (compared.other, flow.topic("new")):
        flow.source.grow_topics({grown: 3})
        wait_until(lambda name=grown: flow.source.describe([name])[name].partition_count, lambda count: count == 3)
    lacking, too_much = acl(topic, "second"), acl(remote, "third")
    grant(flow.source, flow, lacking)
    grant(flow.target, flow, too_much)
    # One group has no offset on the target any more, another would skip a record, a third was never brought there.
    delete_group(flow.downstream.bootstrap_servers, compared.gone)
    known = read_checkpoints(flow.flow, flow.links, flow.target)[compared.late, TopicPartition(remote, 0)]
    late = Known(checkpoint=replace(known.checkpoint, downstream_offset=8), topic_id=known.topic_id)
    write_checkpoints(flow.flow, flow.links, flow.target, [late], at_ms=1)
    fresh = f"{flow.prefix}-never"
    commit(compared.here, fresh, {TopicPartition(topic, 0): Committed(3)})
    compared.expect(
        ("topics", flow.remote(f"{flow.prefix}-new"), "does not exist"),
        ("topics", flow.remote(compared.other), f"has 1 partitions, {compared.other} has 3"),
        ("settings", remote, "retention.ms"),
        ("acls", remote, "User:second"),
        ("acls", remote, "User:third"),
        ("groups", compared.gone, f"has no offset in {remote}-0"),
        ("groups", compared.gone, f"has no offset in {remote}-1"),
        ("groups", compared.late, f"its checkpoint 8 in {remote}-0 is late: offset 7 of {topic}-0 is at 7"),
        ("groups", fresh, f"has no checkpoint for {remote}-0"),
    )

    compared.set_retention("86400000")
    flow.make_remote_topics()
    revoke(flow.source, flow, lacking)
    revoke(flow.target, flow, too_much)
    write_checkpoints(flow.flow, flow.links, flow.target, [known], at_ms=2)
    compared.sync_groups()
    # A group that works on the target is further there, and that is no difference.
    commit(compared.there, compared.late, {TopicPartition(remote, 0): Committed(8)})
    compared.expect()
