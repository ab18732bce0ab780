"""MM2's own offset-syncs topic, where the file asks for it: MM2's formatter reads what we publish."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flow_files import write_file
from integration.copying import Mirrored
from integration.hostile import transactional
from integration.records import numbered, send
from interop.mm2_flow import raw
from mirror.config import load
from mirror.errors import ConfigurationRefused
from mirror.wire.offset_sync import OffsetSync

FORMATTER = "org.apache.kafka.connect.mirror.formatters.OffsetSyncFormatter"
LINE = re.compile(r"OffsetSync\{topicPartition=(.+)-(\d+), upstreamOffset=(\d+), downstreamOffset=(\d+)\}")


@pytest.mark.parametrize("location", ["source", "target"])
def test_mm2s_formatter_reads_our_syncs_and_they_name_the_same_record_on_both_sides(
    flow: Mirrored, location: str
) -> None:
    topic = flow.topic("orders", 2)
    flow.configure(f"offset-syncs.topic.location = {location}\nairmirror.copy.commit.bytes = 100000")
    flow.write(topic, numbered(50, partitions=2))
    writer = transactional(flow, "writer")  # its markers move the offsets of the two sides apart
    for start in range(50, 60, 2):
        writer.begin_transaction()
        send(writer, topic, numbered(2, start=start, partitions=2))
        writer.commit_transaction()
    flow.write(topic, numbered(20, start=60, partitions=2))
    flow.mirror().raise_if_incomplete()
    flow.write(topic, numbered(10, start=80, partitions=2))
    flow.copy().raise_if_incomplete()

    cluster, other = (flow.upstream, flow.aliases[1]) if location == "source" else (flow.downstream, flow.aliases[0])
    published = f"mm2-offset-syncs.{other}.internal"
    ours = [OffsetSync.decode(r.key or b"", r.value or b"") for r in raw(cluster.bootstrap_servers, published)]
    shown = cluster.tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--topic", published, "--from-beginning", "--max-messages", str(len(ours)), "--formatter", FORMATTER),
        *("--isolation-level", "read_committed"),
    )
    theirs = [(t, int(p), int(up), int(down)) for t, p, up, down in LINE.findall(shown)]
    assert theirs == [(s.topic, s.partition, s.upstream_offset, s.downstream_offset) for s in ours]

    here, there = flow.read(topic)[topic]
    for name, number, upstream, downstream in theirs:
        assert name == topic
        original = next(r for r in here[number] if r.offset == upstream)
        copy = next(r for r in there[number] if r.offset == downstream)
        assert original.content == copy.content
    newest = {number: (upstream, downstream) for _, number, upstream, downstream in theirs}
    assert newest == {n: (here[n][-1].offset, there[n][-1].offset) for n in (0, 1)}
    assert any(upstream != downstream for upstream, downstream in newest.values()), "no marker moved them apart"


def test_nothing_is_published_where_the_file_does_not_ask_for_it(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(5))
    flow.mirror().raise_if_incomplete()
    named = [n for n in (*flow.source.topic_names(), *flow.target.topic_names()) if n.startswith("mm2-offset-syncs.")]
    assert not [name for name in named if any(alias in name for alias in flow.aliases)]


def test_a_file_in_which_two_flows_would_share_the_topic_is_refused(tmp_path: Path) -> None:
    lines = "A->B.offset-syncs.topic.location = target\nB->A.offset-syncs.topic.location = source\n"
    path = write_file(tmp_path, lines, flows=("A->B", "B->A"))
    with pytest.raises(
        ConfigurationRefused, match=r"A->B and B->A would both write mm2-offset-syncs\.A\.internal on B"
    ):
        load(path)
    for same in ("source", "target"):
        lines = f"A->B.offset-syncs.topic.location = {same}\nB->A.offset-syncs.topic.location = {same}\n"
        load(write_file(tmp_path, lines, flows=("A->B", "B->A")))
