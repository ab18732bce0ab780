"""Every record equal in key, value, headers, timestamp, partition and order, from a source that makes it hard."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from integration import hostile, records
from integration.copying import Mirrored, result_of
from integration.hostile import HostileSource
from integration.raw_produce import RawRecord, send_raw
from integration.records import Sent, numbered
from mirror.copy.look import look
from mirror.errors import CopyIncomplete, RecordRefused
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster

NOW_MS = int(time.time() * 1000)


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory, east: KafkaCluster, west: KafkaCluster) -> Mirrored:
    return Mirrored(tmp_path_factory.mktemp("fidelity"), east, west)


@pytest.fixture(scope="module")
def source(flow: Mirrored) -> HostileSource:
    return hostile.build(flow)


def airmirror(flow: Mirrored, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "airmirror"), "--config", str(flow.config), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)


# The four below follow each other: one hostile source is copied by the commands, again, and once more when its
# hanging transaction is decided, and verified. The last is also run alone.


def test_the_commands_copy_every_record_of_a_hostile_source_unchanged(flow: Mirrored, source: HostileSource) -> None:
    for command in (("topics", flow.flow.id), ("copy", flow.flow.id, "--master", "local[2,4]")):
        done = airmirror(flow, *command)
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    seen = flow.assert_equal(*source.topics)
    assert hostile.gaps_in(flow, source.compacted) > 50
    assert seen[source.log_starts_late][0][0].offset == hostile.LOG_START
    # The hanging transaction holds back its own partition, from its first record on, and nothing else.
    assert [len(seen[source.held][number]) for number in (0, 1)] == [20, 30]
    held = TopicPartition(source.held, 0)
    assert look(flow.flow).survey.source.ends[held] == 35
    assert flow.states()[held].position == 20


def test_a_second_copy_writes_nothing_anywhere_on_the_target(flow: Mirrored, source: HostileSource) -> None:
    before = flow.target_ends()
    result = flow.copy(_no_executor)
    assert flow.target_ends() == before
    assert result.record_count == 0
    assert result.to_json()["partitions"] == []
    result.raise_if_incomplete()


def _no_executor() -> object:
    raise AssertionError("an idle copy needs no slots, so it must not start Spark")


def test_what_a_hanging_transaction_held_back_is_copied_once_it_is_committed(
    flow: Mirrored, source: HostileSource
) -> None:
    source.hanging.commit_transaction()
    result = flow.copy()
    assert result.record_count == 15
    seen = flow.assert_equal(source.held)
    assert [record.value for record in seen[source.held][0]] == [record.value for record in numbered(35)]


@pytest.mark.long("a second Spark job over all of it")
def test_the_hostile_source_and_its_copy_are_verified_as_equal_while_more_arrives(
    flow: Mirrored, source: HostileSource
) -> None:
    flow.mirror().raise_if_incomplete()
    copied = sum(records.count(topic) for topic in flow.read_upstream(*source.topics).values())
    flow.write(source.compacted, numbered(25))
    done = airmirror(flow, "verify", flow.flow.id, "--json", "--master", "local[2,4]")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["differences"] == 0
    assert report["records"] == copied
    assert sum(p["not_copied_offsets"] for p in report["partitions"]) == 25
    assert re.search(r"compared [\d,]+ records in [\d.]+ s, [\d,]+ a second", done.stderr)


def test_records_that_the_client_cannot_write_unchanged_are_named(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    topic = flow.topic("altered", retention_ms="-1")
    stamps = (1, 0, 2, -1)
    send_raw(east.bootstrap_servers, topic, 0, [RawRecord(b"%d" % ms, b"key", ms) for ms in stamps])
    result = flow.mirror()
    result.raise_if_incomplete()
    assert flow.downstream_values(topic) == [b"1", b"0", b"2", b"-1"]
    # 0 and "none" both mean "now" to the client.
    assert result_of(result, topic).altered == (1, 3)
    assert result.to_json()["partitions"][0]["altered"] == [1, 3]


def test_a_header_name_is_cut_at_a_nul_byte_as_the_client_reads_it(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    """A known limit: librdkafka hands names out as C strings, so that nobody behind it can see the rest."""
    flow = Mirrored(tmp_path, east, west)
    topic = flow.topic("cut")
    send_raw(east.bootstrap_servers, topic, 0, [RawRecord(b"v", b"k", NOW_MS, [(b"na\0me", b"1"), (b"next", b"2")])])
    flow.mirror().raise_if_incomplete()
    raw = flow.downstream.tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--topic", flow.remote(topic), "--from-beginning", "--max-messages", "1"),
        *("--formatter-property", "print.headers=true", "--isolation-level", "read_committed"),
    )
    assert raw.split() == ["na:1,next:2", "v"]


def test_a_record_whose_header_the_client_cannot_read_stops_its_partition_alone(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west)
    topic, other = flow.topic("unreadable"), flow.topic("other")
    flow.write(topic, numbered(3))
    send_raw(east.bootstrap_servers, topic, 0, [RawRecord(b"v", b"k", NOW_MS, [(b"\xff\xfe", b"1")])])
    flow.write(other, numbered(10))
    result = flow.mirror()
    error = result_of(result, topic).error
    assert isinstance(error, RecordRefused)
    assert error.about["offset"] == 3
    assert flow.states()[TopicPartition(topic, 0)].position == 3
    assert flow.downstream_values(topic) == [b"value-0", b"value-1", b"value-2"]
    flow.assert_equal(other)
    with pytest.raises(CopyIncomplete):
        result.raise_if_incomplete()


def test_a_topic_of_many_records_is_copied_in_many_transactions_without_a_seam(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = Mirrored(tmp_path, east, west, "airmirror.copy.commit.bytes = 100000")
    topic = flow.topic("many", 3)
    flow.write(topic, numbered(30_000, partitions=3, size=60))
    result = flow.mirror()
    assert result.record_count == 30_000
    assert records.count(flow.assert_equal(topic)[topic]) == 30_000
    ends = flow.target.high_watermarks(TopicPartition(flow.remote(topic), n) for n in range(3))
    assert sum(ends.values()) > 30_000 + 3, "no markers between the records: it was one transaction"


def test_the_comparison_itself_sees_each_kind_of_difference() -> None:
    record = records.Seen(0, b"k", b"v", (("h", b"1"), ("h", None)), 5)
    whole = {0: [record, record._replace(offset=1, value=b"w")], 1: []}
    assert not records.first_difference(whole, {0: [r._replace(offset=r.offset + 9) for r in whole[0]], 1: []})
    for other in (
        record._replace(key=None),
        record._replace(key=b""),
        record._replace(value=None),
        record._replace(headers=(("h", None), ("h", b"1"))),
        record._replace(headers=(("h", b"1"), ("h", b""))),
        record._replace(timestamp_ms=6),
    ):
        assert "record 0" in records.first_difference(whole, {0: [other, whole[0][1]], 1: []})
    assert "missing: offset 1" in records.first_difference(whole, {0: [record], 1: []})
    assert "too many" in records.first_difference({0: [record], 1: []}, whole)
    assert "record 0" in records.first_difference(whole, {0: whole[0][::-1], 1: []})
    assert "partitions" in records.first_difference(whole, {0: whole[0]})
    assert Sent(b"v").timestamp_ms is None
