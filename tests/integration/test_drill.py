"""A rehearsed failover: groups go on on the target as they should or are named, and nothing of the flow is touched."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from integration import hostile
from integration.command import Command
from integration.crossing import Groups
from integration.group_reading import commit, committed, member
from integration.records import Sent, numbered
from integration.waiting import wait_until
from mirror.config import Flow
from mirror.groups.checkpoints import Known, write_checkpoints
from mirror.groups.discovery import GroupSelector
from mirror.groups.rehearsal import copy_of, is_copy
from mirror.groups.run import run_checkpoints
from mirror.kafka.groups import Committed
from mirror.kafka.values import TopicPartition
from mirror.operations.drill import DrillRequest, run_drill
from mirror.wire.checkpoint import Checkpoint


@pytest.fixture
def airmirror(groups: Groups, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(groups.flow, capsys, monkeypatch)


def copies(groups: Groups) -> list[str]:
    return [name for name in groups.target.groups().consumer if is_copy(name) and groups.flow.prefix in name]


def ready(groups: Groups, *labels: str, at: int = 10) -> str:
    """A topic of two partitions that is copied, and groups in its middle with checkpoints; gives the topic."""
    topic = groups.flow.topic("orders", 2)
    groups.flow.write(topic, numbered(60, partitions=2))
    groups.flow.mirror().raise_if_incomplete()
    for label in labels:
        groups.commit(groups.name(label), dict.fromkeys(groups.partitions(topic), at))
    run_checkpoints(groups.flow.flow)
    return topic


def test_groups_anywhere_on_a_hostile_source_pass_and_nothing_is_touched(groups: Groups) -> None:
    flow, rng = groups.flow, random.Random(5)
    *_, held = topics = hostile.build_quickly(flow)
    flow.mirror().raise_if_incomplete()
    partitions = groups.partitions(*topics)
    starts, ends = flow.source.log_starts(partitions), flow.source.stable_ends(partitions)
    names = [groups.name(f"group-{n}") for n in range(6)]
    for name in names:
        groups.commit(name, {p: rng.randint(starts[p], ends[p]) for p in partitions})
    groups.cross()
    before = flow.target_ends(), [committed(groups.target, name) for name in names]
    report = run_drill(flow.flow, DrillRequest())
    assert [(g.group, g.failures) for g in report.groups] == [(name, ()) for name in names]
    assert report.verdicts.total() == len(names) * len(partitions)
    assert report.verdicts["same"] > len(names) * len(partitions) / 3
    assert set(report.verdicts) <= {"same", "at the end", "not copied yet", "not compared"}
    assert report.compared > 100
    assert {g.joined_s is not None and g.first_record_s is not None for g in report.groups} == {True}
    # What only the hanging transaction holds back is missing.
    assert {p.partition.topic for p in report.point.partitions if p.lag} == {held}
    assert (flow.target_ends(), [committed(groups.target, name) for name in names]) == before
    assert copies(groups) == []


def test_the_recovery_point_is_what_was_not_copied_and_how_old_it_is(groups: Groups) -> None:
    topic = ready(groups, "billing")
    now_ms = int(time.time() * 1000)
    groups.flow.write(topic, [Sent(value=b"last copied", timestamp_ms=now_ms - 5_000)])
    groups.flow.copy().raise_if_incomplete()
    groups.flow.write(topic, [Sent(value=b"lost", timestamp_ms=now_ms - 4_000 + n, partition=1) for n in range(7)])
    report = run_drill(groups.flow.flow, DrillRequest())
    assert report.passed
    assert report.point.missing == 7
    assert [(p.partition, p.lag) for p in report.point.partitions if p.lag] == [(TopicPartition(topic, 1), 7)]
    assert report.point.behind_s == (report.point.at_ms - now_ms + 4_000) / 1000
    newest = {p.partition.partition: p.newest_ms for p in report.point.partitions}
    assert newest[0] == now_ms - 5_000
    assert report.point.newest_ms == max(newest.values())
    assert 0 < report.moved_s < report.recovery_s


def test_a_group_that_would_skip_a_record_fails_the_drill_and_is_named(groups: Groups, airmirror: Command) -> None:
    topic, group = ready(groups, "good", "late"), groups.name("late")
    late = Checkpoint(
        group=group,
        topic=groups.flow.remote(topic),
        partition=1,
        upstream_offset=10,
        downstream_offset=11,
        metadata="",
    )
    target, flow = groups.flow.target, groups.flow.flow
    write_checkpoints(flow, groups.flow.links, target, [Known(checkpoint=late)], at_ms=1)
    outcome = airmirror("drill", "--json")
    assert outcome.code == 1
    assert f"1 of 2 groups would not go on after a failover as they should:\n  {group}: " in outcome.err
    assert f"next: airmirror translate '{flow.id}' --group {group}" in outcome.err
    document = outcome.document
    assert (document["passed"], document["verdicts"]) == (False, {"same": 3, "differs": 1})
    (failed,) = [g for g in document["groups"] if not g["passed"]]
    assert [(p["partition"], p["reason"]) for p in failed["partitions"] if p["verdict"] == "differs"] == [
        (1, "what the group reads at offset 11 has another key, value or headers than the source's record at 10")
    ]
    assert copies(groups) == []


def test_what_a_group_reads_again_and_what_a_failover_would_leave_alone_is_told(
    groups: Groups, airmirror: Command, tmp_path: Path
) -> None:
    topic = ready(groups, "billing", "ahead", "busy")
    billing, ahead, busy = (groups.name(label) for label in ("billing", "ahead", "busy"))
    groups.commit(billing, dict.fromkeys(groups.partitions(topic), 14))  # four more each since its checkpoint
    commit(groups.target, ahead, {groups.remote(p): Committed(20) for p in groups.partitions(topic)})
    page = tmp_path / "drill.html"
    with member(groups.flow.downstream.bootstrap_servers, busy, groups.flow.remote(topic)):
        outcome = airmirror("drill", "--json", "--report", str(page))
    assert outcome.code == 0, outcome.err
    told = {g["group"]: g for g in outcome.document["groups"]}
    assert {name: g["records_read_again_at_most"] for name, g in told.items()} == {billing: 8, ahead: 0, busy: 0}
    reasons = {name: " ".join(g["failover_would_leave_alone"]) for name, g in told.items()}
    assert reasons[billing] == ""
    assert "it is ahead on" in reasons[ahead]
    assert "it has members on" in reasons[busy]
    assert "Groups that a failover would leave alone" in page.read_text()
    assert f"<td>{billing}</td>" in page.read_text()


def test_a_dry_run_shows_the_chosen_groups_and_writes_nothing(groups: Groups, airmirror: Command) -> None:
    ready(groups, "billing", "other")
    outcome = airmirror("drill", "--groups", f"{groups.flow.prefix}-bill.*", "--dry-run", "--json")
    (planned,) = outcome.document["groups"]
    assert (outcome.code, planned["group"]) == (0, groups.name("billing"))
    assert [(p["partition"], p["upstream_offset"], p["offset"]) for p in planned["partitions"]] == [
        (0, 10, 10),
        (1, 10, 10),
    ]
    assert outcome.document["groups_not_chosen"] == 1
    assert copies(groups) == []
    refused = airmirror("drill", "--groups", "nobody")
    assert refused.code == 2
    assert "no group with a checkpoint matches 'nobody'" in refused.err


def test_what_a_killed_drill_leaves_is_seen_by_no_flow_and_removed_by_the_next(groups: Groups, tmp_path: Path) -> None:
    ready(groups, *(f"group-{n}" for n in range(12)))
    flow = groups.flow.flow
    command = [Path(sys.executable).with_name("airmirror"), "--config", str(groups.flow.config), "drill", flow.id]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: copies(groups), lambda found: len(found) == 12)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert len(copies(groups)) == 12
    accepted, reason = GroupSelector(flow).judge_name(copies(groups)[0])
    assert (accepted, reason) == (False, "a drill's copy of a group")
    other = copy_of(_another(groups), "run", groups.name("group-0"))
    commit(groups.target, other, {TopicPartition(groups.flow.remote(f"{groups.flow.prefix}-orders"), 0): Committed(0)})
    said: list[str] = []
    report = run_drill(flow, DrillRequest(), said.append)
    assert (report.passed, report.leftovers_removed) == (True, 12)
    assert said[0] == "removing 12 groups that an earlier drill left behind"
    # Another flow's drill may be at work on the same cluster.
    assert copies(groups) == [other]
    assert json.dumps(report.to_json())


def _another(groups: Groups) -> Flow:
    """A flow whose name begins like that of the tested one."""
    return replace(groups.flow.flow, target=f"{groups.flow.flow.target}-2")
