"""Checkpoints: MM2's to the byte, and never of a remote topic that is gone."""

from __future__ import annotations

import json

import pytest

from integration.crossing import Groups
from integration.records import numbered
from mirror.cli.main import main
from mirror.groups.checkpoints import TOPIC_ID_HEADER, read_checkpoints, topic_of
from mirror.groups.run import run_checkpoints
from mirror.kafka.log import read_log
from mirror.kafka.values import TopicPartition
from mirror.wire.checkpoint import Checkpoint


def _checkpoint_of(groups: Groups, group: str, topic: str) -> tuple[int, int]:
    known = read_checkpoints(groups.flow.flow, groups.flow.links, groups.flow.target)
    checkpoint = known[group, TopicPartition(groups.flow.remote(topic), 0)].checkpoint
    return checkpoint.upstream_offset, checkpoint.downstream_offset


def test_checkpoints_are_mm2s_to_the_byte_with_the_time_the_group_was_asked(groups: Groups) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders"), groups.name("told")
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    groups.commit(group, {TopicPartition(topic, 0): 7})
    summary, _ = run_checkpoints(flow.flow)
    log = topic_of(flow.flow)
    assert log == (f"{flow.aliases[0]}.checkpoints.internal", 0)
    assert flow.target.configs([log.topic])[log.topic]["cleanup.policy"].value == "compact"
    end = flow.target.high_watermarks([log])[log]
    (record,) = read_log(flow.links.target_consumer, "there", {log: (0, end)}, committed=True)
    expected = Checkpoint(
        group=group, topic=flow.remote(topic), partition=0, upstream_offset=7, downstream_offset=7, metadata="said"
    )
    assert (record.key, record.value) == (expected.encode_key(), expected.encode_value())
    assert [name for name, _ in record.headers] == [TOPIC_ID_HEADER]
    assert summary.written == 1


def test_before_the_first_copy_groups_wait_and_are_told_so(groups: Groups) -> None:
    topic, group = groups.flow.topic("orders"), groups.name("early")
    groups.flow.write(topic, numbered(5))
    groups.commit(group, {TopicPartition(topic, 0): 3})
    summary, offsets = groups.cross()
    assert summary.written == 0
    assert list(summary.untranslated) == [f"{groups.flow.remote(topic)}-0 does not exist on {groups.flow.aliases[1]}"]
    assert offsets.outcomes == ()


def test_source_group_that_goes_back_takes_its_checkpoint_along_and_leaves_the_target(groups: Groups) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders"), groups.name("rewinder")
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    partition = TopicPartition(topic, 0)
    groups.commit(group, {partition: 15})
    groups.cross()
    groups.commit(group, {partition: 4})
    summary, offsets = groups.cross()
    assert summary.written == 1
    assert _checkpoint_of(groups, group, topic) == (4, 4)
    assert ([o.word for o in offsets.outcomes], groups.there(group, topic)) == (["left alone"], 15)


def test_remote_topic_made_anew_neither_holds_checkpoints_back_nor_sends_groups_past_its_end(groups: Groups) -> None:
    """MM2 wrote the old 50 into a log that ended at 10, and suppressed 60 -> 10 because it is smaller."""
    groups.configure("airmirror.on.recreated = restart")
    flow = groups.flow
    topic, group = flow.topic("orders"), groups.name("survivor")
    partition = TopicPartition(topic, 0)
    flow.write(topic, numbered(50))
    flow.mirror().raise_if_incomplete()
    groups.commit(group, {partition: 50})
    groups.cross()
    assert groups.there(group, topic) == 50
    flow.delete_records(topic, before=45)
    flow.delete_remote_topic(topic)
    summary, offsets = groups.cross()
    assert "does not exist" in " ".join(summary.untranslated)
    assert [o.word for o in offsets.outcomes] == ["left alone"]
    flow.make_remote_topics()
    summary, offsets = groups.cross()
    assert "made anew" in " ".join(summary.untranslated)
    assert ("made anew" in offsets.outcomes[0].reasons[0], groups.there(group, topic)) == (True, None)
    flow.write(topic, numbered(10, start=50))
    flow.mirror().raise_if_incomplete()
    summary, offsets = groups.cross()
    assert ([o.word for o in offsets.outcomes], summary.untranslated) == (["moved"], {})
    assert groups.there(group, topic) == _checkpoint_of(groups, group, topic)[1] <= 20
    groups.assert_next_is_the_same(group, [partition])


def test_translate_shows_both_sides_and_writes_nothing(groups: Groups, capsys: pytest.CaptureFixture[str]) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders", 2), groups.name("asked")
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    first, second = groups.partitions(topic)
    groups.commit(group, {first: 5, second: 0})
    command = ["--config", str(flow.config), "translate", flow.flow.id, "--group"]
    assert main([*command, group, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(p["upstream_offset"], p["downstream_offset"], p["exact"]) for p in document["partitions"]] == [
        (5, 5, True),
        (0, 0, True),
    ]
    assert [p["target_offset"] for p in document["partitions"]] == [None, None]
    groups.cross()
    assert main([*command, group]) == 0
    assert "exact" in capsys.readouterr().out
    assert main([*command, groups.name("nobody")]) == 2
    assert "no such group" in capsys.readouterr().err
