"""Every copied record's upstream offset translates to the downstream offset where that very record stands."""

from __future__ import annotations

import random

import pytest

from integration import records
from integration.copying import Mirrored
from integration.hostile import transactional
from integration.records import Seen, Sent, numbered, send
from mirror.kafka.values import TopicPartition
from mirror.wire.history import Early, Exact, Unknown
from mirror.wire.partition_state import PartitionState


def pairs(flow: Mirrored, topic: str, *deleted: Seen) -> tuple[PartitionState, list[tuple[Seen, Seen]]]:
    """The partition's state, and each record with its copy, found by their values; also records since deleted."""
    here, there = flow.read(topic)[topic]
    copies = {record.value: record for record in there[0]}
    assert len(copies) == len(there[0]), "two copies have the same value"
    originals = [*deleted, *here[0]]
    return flow.states()[TopicPartition(topic, 0)], [(r, copies[r.value]) for r in originals if r.value in copies]


def fill_with_markers(flow: Mirrored, topic: str, turns: range) -> None:
    """Committed and aborted transactions with plain records between them: every turn leaves holes."""
    chance = random.Random(7)
    writer = transactional(flow, "writer")
    for turn in turns:
        writer.begin_transaction()
        send(writer, topic, [Sent(value=b"%d of transaction %d" % (n, turn)) for n in range(chance.randint(1, 9))])
        (writer.abort_transaction if chance.random() < 0.3 else writer.commit_transaction)()
        flow.write(topic, [Sent(value=b"%d after %d" % (n, turn)) for n in range(chance.randint(0, 5))])
    writer.begin_transaction()
    send(writer, topic, [Sent(value=b"never")])
    writer.abort_transaction()  # the end is a marker, which no reader ever gets


def test_translation_is_exact_across_markers_aborted_records_gaps_and_many_commits(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    partition = TopicPartition(topic, 0)
    flow.configure("airmirror.copy.commit.bytes = 200")
    fill_with_markers(flow, topic, range(25))
    flow.mirror().raise_if_incomplete()
    copied = records.read(flow.upstream.bootstrap_servers, [topic])[topic][0]
    end = flow.states()[partition].position
    flow.write(topic, [Sent(value=b"the gap's %d" % n) for n in range(10)])
    flow.delete_records(topic, end + 7)
    flow.copy().raise_if_incomplete()
    fill_with_markers(flow, topic, range(25, 35))
    flow.copy().raise_if_incomplete()

    state, both = pairs(flow, topic, *copied)
    assert len(state.history.segments) > 20, "no holes: nothing was proven"
    assert len(both) > len(copied) + 3 > 40
    for original, copy in both:
        assert state.translate(original.offset) == Exact(copy.offset), original
    # Inside the gap the next record is the first behind it.
    assert state.translate(end + 3) == Exact(both[len(copied)][1].offset)
    # At the position: behind the last copy, and only as far as records are known to be copied.
    assert {partition: state.position} == flow.source.high_watermarks([partition])
    newest = state.translate(state.position)
    assert isinstance(newest, Exact)
    assert newest.downstream == both[-1][1].offset + 1
    # And back again.
    for original, copy in both:
        back = state.translate_back(copy.offset)
        assert not isinstance(back, Unknown)
        assert (back.offset, back.at_most) == (original.offset, 0)


@pytest.mark.long("thousands of commits")
def test_with_few_segments_translation_is_early_within_its_bound_and_never_late(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.configure("airmirror.copy.commit.bytes = 200\nairmirror.segments.max = 16")
    fill_with_markers(flow, topic, range(60))
    flow.mirror().raise_if_incomplete()
    state, both = pairs(flow, topic)
    assert len(state.history.segments) <= 16
    early = 0
    for index, (original, copy) in enumerate(both):
        match state.translate(original.offset):
            case Exact(downstream):
                assert downstream == copy.offset, original
            case Early(downstream, at_most):
                early += 1
                assert downstream <= copy.offset, f"late: {original}"
                assert copy.offset - downstream <= at_most, f"earlier than it says: {original}"
            case unknown:
                pytest.fail(f"record {index}: {unknown}")
    assert early > 0, "nothing was thinned out: nothing was proven"


def test_a_copy_that_began_in_the_middle_knows_nothing_of_what_lies_before(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.configure(f"airmirror.start = {topic}:0:6")
    flow.write(topic, numbered(10))
    flow.mirror().raise_if_incomplete()
    state, both = pairs(flow, topic)
    assert [original.offset for original, _ in both] == [6, 7, 8, 9]
    assert isinstance(state.translate(5), Unknown)
    assert [state.translate(r.offset) for r, _ in both] == [Exact(copy.offset) for _, copy in both]


def test_a_copy_from_the_start_translates_what_lies_before_the_first_record_to_it(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(10))
    flow.delete_records(topic, 4)
    flow.mirror().raise_if_incomplete()
    state, both = pairs(flow, topic)
    assert state.translate(0) == Exact(both[0][1].offset)
