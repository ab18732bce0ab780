"""Both sides compared, record by record: what differs is named with its offsets, and nothing else is."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from integration import records
from integration.command import Command
from integration.copying import Mirrored
from integration.records import Sent, numbered
from integration.tampering import Copies, faithful, write_copies
from mirror.errors import VerificationFailed
from mirror.kafka.configs import SettingChange, alter_settings
from mirror.kafka.values import TopicPartition
from mirror.verify import PartitionReport, VerifyReport, run_verify
from mirror.verify.differences import Right
from mirror.wire.gaps import Gap, GapReason
from world.kafka import KafkaCluster

COUNT, AT = 3_000, 1_234
NOW_MS = int(time.time() * 1000) - COUNT


def originals() -> list[Sent]:
    return [
        Sent(b"value-%d" % n, b"key-%d" % n, (("a", b"%d" % n), ("b", None)), timestamp_ms=NOW_MS + n)
        for n in range(COUNT)
    ]


def report_of(report: VerifyReport, topic: str, partition: int = 0) -> PartitionReport:
    return next(p for p in report.partitions if p.partition == (topic, partition))


def told(report: PartitionReport) -> list[tuple[str, int | None, int | None]]:
    return [(d.kind, d.upstream, d.downstream) for d in report.first]


def _missing(copies: Copies) -> Copies:
    return copies[:AT] + copies[AT + 1 :]


def _doubled(copies: Copies) -> Copies:
    return [*copies[: AT + 1], (None, copies[AT][1]), *copies[AT + 1 :]]


def _swapped(copies: Copies) -> Copies:
    return [*copies[:AT], copies[AT + 1], copies[AT], *copies[AT + 2 :]]


def _extra(copies: Copies) -> Copies:
    return [*copies[:AT], (None, Sent(b"not", b"ours")), *copies[AT:]]


def _changed(copies: Copies, **fields: object) -> Copies:
    upstream, sent = copies[AT]
    return [*copies[:AT], (upstream, sent._replace(**fields)), *copies[AT + 1 :]]


TAMPERED = {
    "missing": (_missing, ("missing", AT, None)),
    "twice": (_doubled, ("doubled", None, AT + 1)),
    "swapped": (_swapped, ("order", AT, AT + 1)),
    "extra": (_extra, ("extra", None, AT)),
    "byte": (lambda c: _changed(c, value=b"value-1235"), ("value", AT, AT)),
    "key": (lambda c: _changed(c, key=b""), ("key", AT, AT)),
    "header": (lambda c: _changed(c, headers=(("a", b"1234"),)), ("headers", AT, AT)),
    "timestamp": (lambda c: _changed(c, timestamp_ms=NOW_MS), ("timestamp", AT, AT)),
}


def test_each_difference_is_seen_and_exactly_it(
    tmp_path: Path,
    east: KafkaCluster,
    west: KafkaCluster,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flow = Mirrored(tmp_path, east, west)
    topics = {name: flow.topic(name) for name in (*TAMPERED, "equal")}
    flow.make_remote_topics()
    for name, topic in topics.items():
        flow.write(topic, originals())
        copies = faithful(originals())
        write_copies(flow, topic, TAMPERED[name][0](copies) if name in TAMPERED else copies, position=COUNT)
    report = run_verify(flow.flow)
    for name, (_, expected) in TAMPERED.items():
        found = report_of(report, topics[name])
        assert told(found) == [expected], name
        assert found.difference_count == 1, name
    assert told(report_of(report, topics["equal"])) == []
    assert report.difference_count == len(TAMPERED)
    assert report.record_count == COUNT * len(topics) - 1
    with pytest.raises(VerificationFailed, match=f"{topics['missing']}-0: missing at upstream {AT}"):
        report.raise_if_different()
    command = Command(flow, capsys, monkeypatch)
    page = tmp_path / "report.html"
    done = command("verify", "--topics", ".*-(missing|equal)", "--newest", "2000", "--report", str(page))
    assert done.code == 1
    assert [row[1:4] for row in done.rows(f"{topics['missing']}-0")] == [["1,999", "1", "missing"]]
    assert [row[1:3] for row in done.rows(f"{topics['equal']}-0")] == [["2,000", "none"]]
    assert f"missing at upstream {AT}" in done.err
    assert "DIFFERENT" in page.read_text()
    assert f"missing at upstream {AT}" in page.read_text()
    done = command("verify", "--topics", topics["equal"], "--json")
    assert (done.code, done.document["equal"], done.document["records"]) == (0, True, COUNT)


def test_what_retention_took_on_either_side_is_right_and_counted(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    here, there = flow.topic("gone-here"), flow.topic("gone-there")
    for topic in (here, there):
        flow.write(topic, originals())
    flow.mirror().raise_if_incomplete()
    flow.delete_records(here, 1_000)
    flow.delete_remote_records(there, 700)
    report = run_verify(flow.flow)
    assert report.differences == ()
    assert report_of(report, here).right == {Right.GONE_UPSTREAM.value: 1_000}
    assert report_of(report, here).record_count == COUNT - 1_000
    assert report_of(report, there).right == {Right.GONE_DOWNSTREAM.value: 700}
    assert report_of(report, there).record_count == COUNT - 700


def test_a_compacted_topic_may_lack_what_has_a_later_record_and_nothing_else(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    cleaned, broken = (flow.topic(name, cleanup_policy="compact") for name in ("cleaned", "broken"))
    flow.make_remote_topics()
    sent = [Sent(b"%d" % n, b"key-%d" % (n % 50), timestamp_ms=NOW_MS + n) for n in range(1_000)]
    sent += [Sent(None, b"key-7", timestamp_ms=NOW_MS)]
    newest = faithful(sent)[950:1000]
    for topic in (cleaned, broken):
        flow.write(topic, sent)
    write_copies(flow, cleaned, newest, position=1_001)
    write_copies(flow, broken, [copy for copy in newest if copy[0] != 960], position=1_001)
    report = run_verify(flow.flow)
    assert told(report_of(report, cleaned)) == []
    assert report_of(report, cleaned).right == {Right.COMPACTED.value: 951}
    assert report_of(report, broken).kinds == {"missing": 20}
    assert told(report_of(report, broken)) == [("missing", 10, None)]


def test_a_gap_is_reported_as_a_gap_and_foreign_records_before_ours_are_not_compared(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    topic = flow.topic("gap")
    flow.write(topic, originals())
    flow.make_remote_topics()
    records.write(west.bootstrap_servers, flow.remote(topic), numbered(40))
    gap = Gap(start=100, end=130, reason=GapReason.SKIPPED, at_ms=NOW_MS)
    copies = [copy for copy in faithful(originals()) if not gap.start <= (copy[0] or 0) < gap.end]
    write_copies(flow, topic, copies, position=COUNT, gaps=(gap,))
    report = report_of(run_verify(flow.flow), topic)
    assert told(report) == []
    assert report.right == {Right.IN_GAP.value: 30}
    assert report.gaps == (gap,)
    assert report.foreign == 40
    assert report.record_count == COUNT - 30


def test_what_the_flow_leaves_out_or_changes_is_expected_so(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    filters = (
        "SOURCE->TARGET.transforms = noTests\n"
        "SOURCE->TARGET.transforms.noTests.type = org.apache.kafka.connect.transforms.Filter\n"
        "SOURCE->TARGET.transforms.noTests.predicate = isTest\n"
        "SOURCE->TARGET.predicates = isTest\n"
        "SOURCE->TARGET.predicates.isTest.type = org.apache.kafka.connect.transforms.predicates.HasHeaderKey\n"
        "SOURCE->TARGET.predicates.isTest.name = test\n"
    )
    flow = Mirrored(tmp_path, east, west, filters)
    topic = flow.topic("filtered")
    test = (("test", b""),)
    flow.write(topic, [s._replace(headers=test) if n % 3 == 0 else s for n, s in enumerate(originals())])
    flow.mirror().raise_if_incomplete()
    report = report_of(run_verify(flow.flow), topic)
    assert told(report) == []
    assert report.right == {Right.LEFT_OUT.value: COUNT // 3}
    assert report.record_count == COUNT - COUNT // 3
    # Without the filter in the file, the same records are missing.
    flow.configure("")
    assert report_of(run_verify(flow.flow), topic).kinds == {"missing": COUNT // 3}


def test_what_another_producer_writes_behind_the_copies_is_extra(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    topic = flow.topic("shared")
    flow.write(topic, originals())
    flow.mirror().raise_if_incomplete()
    records.write(west.bootstrap_servers, flow.remote(topic), [Sent(b"x"), Sent(b"y")])
    report = report_of(run_verify(flow.flow), topic)
    assert report.kinds == {"extra": 2}


def test_the_newest_part_and_a_part_by_time_are_compared_alone(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    topic, other = flow.topic("asked"), flow.topic("other")
    flow.write(other, originals())
    flow.write(topic, originals())
    flow.make_remote_topics()
    write_copies(flow, topic, _missing(faithful(originals())), position=COUNT)
    write_copies(flow, other, faithful(originals()), position=COUNT)
    only = re.compile(re.escape(topic))
    late = run_verify(flow.flow, newest=COUNT - AT - 1, topics=only)
    assert (late.difference_count, late.record_count) == (0, COUNT - AT - 1)
    assert [p.partition.topic for p in late.partitions] == [topic]
    early = run_verify(flow.flow, newest=COUNT - AT, topics=only)
    assert told(early.partitions[0]) == [("missing", AT, None)]
    by_time = run_verify(flow.flow, since_ms=NOW_MS + AT + 1)
    assert (by_time.difference_count, by_time.record_count) == (0, 2 * (COUNT - AT - 1))


def test_a_topic_made_anew_cannot_be_compared_and_says_so(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    topic = flow.topic("anew")
    flow.write(topic, numbered(10))
    flow.mirror().raise_if_incomplete()
    flow.delete_source_topic(topic)
    flow.topic("anew")
    report = run_verify(flow.flow)
    assert not report.is_equal
    assert "made anew" in str(report.failed[0].error)
    with pytest.raises(VerificationFailed, match="made anew"):
        report.raise_if_different()


def test_topics_settings_and_groups_are_compared_too(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> None:
    flow = Mirrored(tmp_path, east, west, "sync.topic.acls.enabled = false")
    topic = flow.topic("structure", retention_ms="86400000")
    flow.write(topic, numbered(10))
    flow.mirror().raise_if_incomplete()
    assert run_verify(flow.flow).differences == ()
    flow.topic("new")
    assert flow.source.grow_topics({topic: 3}) == {topic: None}
    while flow.source.describe([topic])[topic].partition_count < 3:
        pass
    change = SettingChange(name="retention.ms", operation="set", value="1000000")
    alter_settings(flow.target, {flow.remote(topic): [change]})
    report = run_verify(flow.flow)
    assert {(d.part, d.name) for d in report.deviations} == {
        ("topics", flow.remote(f"{flow.prefix}-new")),
        ("topics", flow.remote(topic)),
        ("settings", flow.remote(topic)),
    }
    assert report.difference_count == 3
    assert TopicPartition(topic, 2) in report.nothing
