"""Groups on the target are moved only where nobody uses them, and never backwards."""

from __future__ import annotations

import pytest
from confluent_kafka import TopicPartition as ClientTopicPartition

from integration.copying import admin, make_topic
from integration.crossing import Groups
from integration.group_reading import commit, committed, delete_group, member
from integration.records import DEADLINE_S, numbered
from mirror.cli.main import main
from mirror.groups.checkpoints import topic_of
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.kafka.groups import Committed
from mirror.kafka.values import TopicPartition


def test_group_in_use_on_the_target_is_untouched_and_said_so(groups: Groups) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders"), groups.name("busy")
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    groups.commit(group, {TopicPartition(topic, 0): 10})
    for protocol in ("classic", "consumer"):
        with member(flow.downstream.bootstrap_servers, group, flow.remote(topic), group_protocol=protocol) as client:
            client.commit(offsets=[ClientTopicPartition(flow.remote(topic), 0, 3)], asynchronous=False)
            _, offsets = groups.cross()
            (outcome,) = offsets.outcomes
            assert (outcome.word, outcome.moves) == ("left alone", ())
            assert "has members" in outcome.reasons[0]
            assert groups.there(group, topic) == 3
            # Also a writer that does not look first is stopped by the brokers.
            refused = groups.target.alter({group: {TopicPartition(flow.remote(topic), 0): Committed(10)}})[group]
            assert "GroupInUse" in str({type(e).__name__ for e in refused.values()})  # type: ignore[union-attr]
    _, offsets = groups.cross()
    assert [o.word for o in offsets.outcomes] == ["moved"]
    assert groups.there(group, topic) == 10


def test_group_ahead_on_the_target_is_not_moved_back_unless_a_person_says_so(groups: Groups) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders", 2), groups.name("ahead")
    flow.write(topic, numbered(40, partitions=2))
    flow.mirror().raise_if_incomplete()
    first, second = groups.partitions(topic)
    groups.commit(group, {first: 10, second: 10})
    commit(groups.target, group, {groups.remote(first): Committed(15)})
    _, offsets = groups.cross()
    (outcome,) = offsets.outcomes
    # The partition that the target's group did not know yet is new to it, and moved.
    assert [(m.partition, m.before, m.offset) for m in outcome.moves] == [(groups.remote(second), None, 10)]
    assert "ahead" in outcome.reasons[0]
    assert groups.there(group, topic) == 15
    other = groups.name("other")
    groups.commit(other, {first: 1})
    command = ["--config", str(flow.config), "groups", flow.flow.id]
    assert main([*command, "--rewind"]) == 2
    assert main([*command, "--group", group, "--rewind", "--dry-run"]) == 0
    assert groups.there(group, topic) == 15
    assert main([*command, "--group", group, "--rewind"]) == 0
    assert groups.there(group, topic) == 10
    assert groups.there(other, topic) is None


def test_groups_of_every_kind_and_state_are_moved_or_have_a_word_said_about_them(groups: Groups) -> None:
    flow = groups.flow
    topic, other = flow.topic("orders"), f"other-{flow.prefix}"
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    simple, classic, modern = (groups.name(kind) for kind in ("simple", "classic", "modern"))
    groups.commit(simple, {TopicPartition(topic, 0): 5})
    for name, protocol in ((classic, "classic"), (modern, "consumer")):
        with member(flow.upstream.bootstrap_servers, name, topic, group_protocol=protocol) as client:
            client.commit(offsets=[ClientTopicPartition(topic, 0, 9, metadata="ü")], asynchronous=False)
            summary, offsets = groups.cross()
            assert groups.there(name, topic) == 9, "a group that is active on the source is synced like any other"
    found = committed(groups.target, modern)[TopicPartition(flow.remote(topic), 0)]
    assert found == Committed(9, "ü")
    elsewhere = groups.name("elsewhere")
    make_topic(flow.source, other)
    flow.write(other, numbered(3))
    commit(groups.source, elsewhere, {TopicPartition(other, 0): Committed(2)})
    commit(groups.source, simple, {TopicPartition(other, 0): Committed(2)})
    summary, offsets = groups.cross()
    assert sorted(summary.groups) == sorted([simple, classic, modern])
    assert "not replicated" in summary.left_out[elsewhere]
    assert any("not in topics" in reason for reason in summary.untranslated)
    assert offsets.failure() is None


def test_deleted_group_stays_deleted_and_one_the_source_still_has_comes_back(groups: Groups) -> None:
    flow = groups.flow
    topic, gone, kept = flow.topic("orders"), groups.name("gone"), groups.name("kept")
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    for name in (gone, kept):
        groups.commit(name, {TopicPartition(topic, 0): 5})
    groups.cross()
    delete_group(flow.upstream.bootstrap_servers, gone)
    for name in (gone, kept):
        delete_group(flow.downstream.bootstrap_servers, name)
    groups.cross()
    assert (groups.there(gone, topic), groups.there(kept, topic)) == (None, 5)
    # In the disaster nobody can ask the source: what it last said counts.
    run_group_offsets(flow.flow, source_is_gone=True)
    assert groups.there(gone, topic) == 5


def test_switches_of_the_file_are_respected(groups: Groups) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders"), groups.name("quiet")
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    groups.commit(group, {TopicPartition(topic, 0): 5})
    flow.configure(f"groups = {flow.prefix}.*\nemit.checkpoints.enabled = false\nsync.group.offsets.enabled = true")
    summary, offsets = groups.cross()
    assert "emit.checkpoints.enabled" in summary.not_done
    assert topic_of(flow.flow).topic not in flow.target.topic_names()
    flow.configure(f"groups = {flow.prefix}.*")
    summary, offsets = groups.cross()
    assert (summary.written, "sync.group.offsets.enabled" in offsets.not_done) == (1, True)
    assert groups.there(group, topic) is None


def test_errors_of_one_group_leave_the_others_to_go_on(groups: Groups) -> None:
    """The remote topic of one group is gone: it is left alone with the reason, the other is moved."""
    flow = groups.flow
    kept, lost = flow.topic("kept"), flow.topic("lost")
    for name in (kept, lost):
        flow.write(name, numbered(5))
    flow.mirror().raise_if_incomplete()
    groups.commit(groups.name("on-kept"), {TopicPartition(kept, 0): 2})
    groups.commit(groups.name("on-lost"), {TopicPartition(lost, 0): 2})
    run_checkpoints(flow.flow)
    client = admin(flow.downstream)
    client.delete_topics([flow.remote(lost)])[flow.remote(lost)].result(DEADLINE_S)
    offsets = run_group_offsets(flow.flow)
    assert {o.group: o.word for o in offsets.outcomes} == {
        groups.name("on-kept"): "moved",
        groups.name("on-lost"): "left alone",
    }


def test_tasks_of_the_dag_tell_what_was_moved_and_skip_what_the_file_switches_off(groups: Groups) -> None:
    from airflow.sdk.exceptions import AirflowSkipException

    from mirror.airflow.group_tasks import checkpoints, sync_group_offsets

    flow = groups.flow
    topic, group = flow.topic("orders"), groups.name("scheduled")
    flow.write(topic, numbered(20))
    flow.mirror().raise_if_incomplete()
    groups.commit(group, {TopicPartition(topic, 0): 5})
    told, moved = checkpoints(flow.flow), sync_group_offsets(flow.flow)
    assert (told["groups"], told["exact"], told["checkpoints_written"]) == (1, 1, 1)
    assert (moved["moved"], moved["groups"][0]["moved"][0]["to"]) == (1, 5)
    assert sync_group_offsets(flow.flow)["in_place"] == 1
    flow.configure(f"groups = {flow.prefix}.*")
    with pytest.raises(AirflowSkipException, match=r"sync\.group\.offsets\.enabled"):
        sync_group_offsets(flow.flow)
    flow.configure("emit.checkpoints.enabled = false")
    with pytest.raises(AirflowSkipException, match=r"emit\.checkpoints\.enabled"):
        checkpoints(flow.flow)
