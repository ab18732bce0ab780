"""Groups cross over to the very record: none skipped, none seen twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from integration import hostile
from integration.copying import Mirrored, make_topic
from integration.crossing import Groups
from integration.group_reading import committed, next_values
from integration.hostile import transactional
from integration.records import DEADLINE_S, RECENT_MS, Sent, numbered, read, send, write
from mirror.kafka.groups import Committed
from mirror.kafka.values import TopicPartition
from mirror.wire.connect_offset import DEDICATED_CONNECTOR, ConnectOffset
from mirror.wire.offset_sync import OffsetSync
from world.kafka import KafkaCluster

APPLICATION = Path(__file__).parent / "reading_application.py"


def _grow(groups: Groups, topics: Iterable[str], rng: random.Random, name: str) -> None:
    """A few more transactions into each topic, so that the shift between the logs changes."""
    writer = transactional(groups.flow, name)
    for partition in groups.partitions(*topics):
        for turn in range(3):
            writer.begin_transaction()
            values = [b"%s.%d.%d" % (name.encode(), turn, n) for n in range(rng.randint(1, 8))]
            send(writer, partition.topic, [Sent(value=v, key=v, partition=partition.partition) for v in values])
            (writer.commit_transaction if rng.random() < 0.7 else writer.abort_transaction)()


@pytest.mark.long("the whole hostile source, grown three times")
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
            [Sent(value=v, partition=p, timestamp_ms=RECENT_MS + turn) for v in equal for p in (0, 1)],
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


def test_offsets_of_mm2s_time_are_answered_by_its_syncs_and_the_record_itself(groups: Groups) -> None:
    """50 of 60 records were copied by MM2, which left its position and three syncs; airmirror goes on behind it."""
    flow = groups.flow
    topic, (source, target) = flow.topic("orders"), flow.aliases
    partition, sent = TopicPartition(topic, 0), [r._replace(timestamp_ms=RECENT_MS) for r in numbered(60)]
    flow.write(topic, sent)
    make_topic(flow.target, flow.remote(topic))
    write(flow.downstream.bootstrap_servers, flow.remote(topic), sent[:50])
    position = ConnectOffset(connector=DEDICATED_CONNECTOR, cluster=source, topic=topic, partition=0, offset=49)
    make_topic(flow.target, f"mm2-offsets.{source}.internal")
    append(flow.downstream, f"mm2-offsets.{source}.internal", [(position.encode_key(), position.encode_value())])
    syncs = [OffsetSync(topic=topic, partition=0, upstream_offset=u, downstream_offset=u) for u in (0, 20, 49)]
    make_topic(flow.source, f"mm2-offset-syncs.{target}.internal")
    append(flow.upstream, f"mm2-offset-syncs.{target}.internal", [(s.encode_key(), s.encode_value()) for s in syncs])
    flow.mirror().raise_if_incomplete()
    assert flow.downstream_values(topic) == [r.value for r in sent]
    names = [groups.name(f"group-{offset:02}") for offset in (0, 5, 20, 37, 49, 50, 58)]
    for name in names:
        groups.commit(name, {partition: int(name[-2:])})
    summary, _ = groups.cross()
    assert [p.answer.downstream for p in summary.partitions] == [0, 5, 20, 37, 49, 50, 58]
    assert all(p.answer.is_exact for p in summary.partitions), [p.answer for p in summary.partitions]
    groups.assert_all_go_on_alike(names, [partition])


def append(cluster: KafkaCluster, topic: str, pairs: list[tuple[bytes, bytes | None]]) -> None:
    write(cluster.bootstrap_servers, topic, [Sent(value=value, key=key) for key, value in pairs])


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
