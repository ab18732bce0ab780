"""Groups cross over to the very record: none skipped, none seen twice, nobody disturbed."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition as ClientTopicPartition

from integration import hostile
from integration.copying import Mirrored, admin, make_topic
from integration.group_reading import commit, committed, delete_group, member, next_values
from integration.hostile import transactional
from integration.records import DEADLINE_S, Sent, numbered, read, send
from mirror.cli.main import main
from mirror.groups.checkpoints import TOPIC_ID_HEADER, read_checkpoints, topic_of
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.groups.summaries import CheckpointSummary, OffsetSummary
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.log import read_log
from mirror.kafka.values import TopicPartition
from mirror.wire.checkpoint import Checkpoint
from world.kafka import KafkaCluster

APPLICATION = Path(__file__).parent / "reading_application.py"


class Groups:
    """A flow with its groups on both sides; group names carry the flow's mark."""

    def __init__(self, directory: Path, east: KafkaCluster, west: KafkaCluster, lines: str = "") -> None:
        self.flow = Mirrored(directory, east, west)
        self.configure(lines)
        self.source = GroupCluster("here", {"bootstrap.servers": east.bootstrap_servers})
        self.target = GroupCluster("there", {"bootstrap.servers": west.bootstrap_servers})

    def configure(self, lines: str = "") -> None:
        self.flow.configure(
            f"groups = {self.flow.prefix}.*\nsync.group.offsets.enabled = true\n"
            f"checkpoints.topic.replication.factor = 1\n{lines}"
        )

    def name(self, label: str) -> str:
        return f"{self.flow.prefix}-{label}"

    def partitions(self, *topics: str) -> list[TopicPartition]:
        described = self.flow.source.describe(topics).values()
        return sorted(TopicPartition(t.name, n) for t in described for n in range(t.partition_count))

    def remote(self, partition: TopicPartition) -> TopicPartition:
        return TopicPartition(self.flow.remote(partition.topic), partition.partition)

    def commit(self, group: str, offsets: dict[TopicPartition, int]) -> None:
        commit(self.source, group, {p: Committed(offset, "said") for p, offset in offsets.items()})

    def cross(self, **options: object) -> tuple[CheckpointSummary, OffsetSummary]:
        """Both tasks, one after the other."""
        summary, _ = run_checkpoints(self.flow.flow)
        return summary, run_group_offsets(self.flow.flow, **options)  # type: ignore[arg-type]

    def there(self, group: str, topic: str, partition: int = 0) -> int | None:
        found = committed(self.target, group).get(TopicPartition(self.flow.remote(topic), partition))
        return None if found is None else found.offset

    def assert_all_go_on_alike(self, names: list[str], partitions: list[TopicPartition]) -> None:
        with ThreadPoolExecutor(6) as threads:
            list(threads.map(lambda name: self.assert_next_is_the_same(name, partitions), names))

    def assert_next_is_the_same(self, group: str, partitions: Iterable[TopicPartition], count: int = 5) -> None:
        """Read through the group on both sides: what comes next is the same, or both are at the end."""
        asked = sorted(partitions)
        here = next_values(self.flow.upstream.bootstrap_servers, group, asked, count)
        remotes = [self.remote(p) for p in asked]
        there = next_values(self.flow.downstream.bootstrap_servers, group, remotes, count)
        for partition in asked:
            assert there[self.remote(partition)] == here[partition], f"{group} in {partition}"


@pytest.fixture
def groups(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Groups:
    return Groups(tmp_path, east, west)


def _grow(groups: Groups, topics: Iterable[str], rng: random.Random, name: str) -> None:
    """A few more transactions into each topic, so that the shift between the logs changes."""
    writer = transactional(groups.flow, name)
    for partition in groups.partitions(*topics):
        for turn in range(3):
            writer.begin_transaction()
            values = [b"%s.%d.%d" % (name.encode(), turn, n) for n in range(rng.randint(1, 8))]
            send(writer, partition.topic, [Sent(value=v, key=v, partition=partition.partition) for v in values])
            (writer.commit_transaction if rng.random() < 0.7 else writer.abort_transaction)()


def test_twelve_groups_on_a_hostile_source_go_on_at_the_very_record(groups: Groups) -> None:
    flow, rng = groups.flow, random.Random(12)
    source = hostile.build(flow)
    flow.mirror().raise_if_incomplete()
    growing = [t for t in source.topics if "transactions" in t or "wide" in t or t == source.compacted]
    for turn in range(3):
        _grow(groups, growing, rng, f"turn-{turn}")
        flow.mirror().raise_if_incomplete()
    partitions = groups.partitions(*source.topics)
    starts, ends = flow.source.log_starts(partitions), flow.source.stable_ends(partitions)
    names = [groups.name(f"group-{n}") for n in range(12)]
    for name in names:
        groups.commit(name, {p: rng.randint(starts[p], ends[p]) for p in partitions})
    summary, offsets = groups.cross()
    assert not summary.untranslated
    assert {p.answer.is_exact for p in summary.partitions} == {True}
    assert [outcome.word for outcome in offsets.outcomes] == ["moved"] * 12
    groups.assert_all_go_on_alike(names, partitions)
    again, then = groups.cross()
    assert (again.written, {o.word for o in then.outcomes}) == (0, {"in place"})


@pytest.mark.parametrize("cap", [8, 256])
def test_offsets_anywhere_behind_two_hundred_transactions_are_exact_while_the_source_lives(
    groups: Groups, cap: int
) -> None:
    """With a small cap the history is thinned, and the records themselves are looked at; equal neighbours abound."""
    groups.configure(f"airmirror.segments.max = {cap}")
    flow, rng = groups.flow, random.Random(cap)
    topic = flow.topic("orders", 2)
    writer = transactional(flow, "writer")
    for turn in range(200):
        writer.begin_transaction()
        equal = [b"%d" % (turn // 2) if rng.random() < 0.5 else b"%d.%d" % (turn, n) for n in range(rng.randint(1, 6))]
        send(
            writer,
            topic,
            [Sent(value=v, partition=p, timestamp_ms=1_700_000_000_000 + turn) for v in equal for p in (0, 1)],
        )
        (writer.commit_transaction if turn % 7 else writer.abort_transaction)()
    flow.mirror().raise_if_incomplete()
    partitions = groups.partitions(topic)
    ends = flow.source.stable_ends(partitions)
    names = [groups.name(f"group-{n:02}") for n in range(12)]
    for name in names:
        groups.commit(name, {p: rng.randint(0, ends[p]) for p in partitions})
    summary, _ = groups.cross()
    quality = Counter(p.answer.reason for p in summary.partitions)
    assert all(p.answer.is_exact for p in summary.partitions), quality
    assert ("found on both sides" in " ".join(quality)) is (cap == 8)
    groups.assert_all_go_on_alike(names, partitions)


def test_thinned_history_without_its_source_is_early_by_no_more_than_it_says(groups: Groups) -> None:
    """What the source no longer has cannot be looked at: no record is skipped, and the bound holds."""
    groups.configure("airmirror.segments.max = 8")
    flow = groups.flow
    topic = flow.topic("orders")
    writer = transactional(flow, "writer")
    for turn in range(100):
        writer.begin_transaction()
        send(writer, topic, [Sent(value=b"%d.%d" % (turn, n)) for n in range(1 + turn % 4)])
        writer.commit_transaction()
    flow.mirror().raise_if_incomplete()
    (partition,) = groups.partitions(topic)
    here, there = flow.read(topic)[topic]
    flow.delete_records(topic, before=flow.source.stable_ends([partition])[partition])
    at = {r.value: r.offset for r in there[0]}
    early = 0
    for number, record in enumerate(here[0][::9]):
        groups.commit(groups.name(f"group-{number}"), {partition: record.offset})
    summary, _ = groups.cross()
    for found in summary.partitions:
        truth = at[next(r.value for r in here[0] if r.offset >= found.committed.offset)]
        assert found.answer.downstream is not None
        assert truth - found.answer.early_by <= found.answer.downstream <= truth
        early += not found.answer.is_exact
    assert early


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
    groups.cross()
    assert groups.there(group, topic) == _checkpoint_of(groups, group, topic)[1] <= 20
    groups.assert_next_is_the_same(group, [partition])


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


def test_group_on_a_copy_from_the_target_goes_back_to_the_original(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster, groups: Groups
) -> None:
    """The group reads `west.orders` on east; on west that is `orders`, wherever the copies lie."""
    flow, back = groups.flow, tmp_path / "back"
    back.mkdir()
    opposite = Mirrored(back, west, east)
    opposite.aliases, opposite.prefix = flow.aliases[::-1], flow.prefix
    opposite.configure("")
    topic = opposite.topic("orders")
    writer = transactional(opposite, "writer")
    for turn in range(10):
        writer.begin_transaction()
        send(writer, topic, numbered(3, start=turn * 3))
        writer.commit_transaction()
    opposite.mirror().raise_if_incomplete()
    flow.configure(f"topics = .*{flow.prefix}.*\ngroups = {flow.prefix}.*\nsync.group.offsets.enabled = true")
    flow.make_remote_topics()
    group, copied = groups.name("returning"), TopicPartition(opposite.remote(topic), 0)
    groups.commit(group, {copied: 14})
    groups.cross()
    original = TopicPartition(topic, 0)
    here = next_values(east.bootstrap_servers, group, [copied], 5)[copied]
    assert next_values(west.bootstrap_servers, group, [original], 5)[original] == here


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


def test_killed_application_goes_on_at_the_target_and_misses_nothing(groups: Groups) -> None:
    flow = groups.flow
    topic, group = flow.topic("orders", 3), groups.name("application")
    writer = transactional(flow, "writer")
    for turn in range(30):
        writer.begin_transaction()
        send(writer, topic, [Sent(value=b"%d" % n, partition=n % 3) for n in range(turn * 10, turn * 10 + 10)])
        writer.commit_transaction()
    flow.mirror().raise_if_incomplete()
    everything = Counter(str(n) for n in range(300))
    first = subprocess.Popen(
        [sys.executable, str(APPLICATION), flow.upstream.bootstrap_servers, group, topic],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert first.stdout is not None
    processed = [first.stdout.readline().strip() for _ in range(120)]
    first.send_signal(signal.SIGKILL)
    processed += first.stdout.read().split()
    first.wait(DEADLINE_S)
    first.stdout.close()
    assert len(processed) < 300, "killed in mid-stream"
    uncommitted = _behind(groups, group, topic, processed)
    _, offsets = groups.cross()
    assert [o.word for o in offsets.outcomes] == ["moved"]
    second = subprocess.run(
        [sys.executable, str(APPLICATION), flow.downstream.bootstrap_servers, group, flow.remote(topic)],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=True,
    )
    union = Counter(processed) + Counter(second.stdout.split())
    assert set(union) == set(everything), "a record is missing"
    assert set(union - everything) <= uncommitted, "seen twice although it was committed"


def _behind(groups: Groups, group: str, topic: str, processed: list[str]) -> set[str]:
    """What the application had processed on the source and not committed there."""
    offsets = committed(groups.source, group)
    seen = read(groups.flow.upstream.bootstrap_servers, [topic])[topic]
    return {
        record.value.decode()
        for number, records in seen.items()
        for record in records
        if record.value is not None
        and record.value.decode() in processed
        and record.offset >= offsets.get(TopicPartition(topic, number), Committed(0)).offset
    }


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
