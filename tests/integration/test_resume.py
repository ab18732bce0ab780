"""What a person must decide: a refused record, a topic made anew, foreign data; and what resume then leaves behind."""

from __future__ import annotations

import os
import time

import pytest

from integration.command import Command
from integration.copying import Mirrored, make_topic
from integration.raw_produce import RawRecord, send_raw
from integration.records import Sent, numbered, write
from mirror.copy.claim import ClaimPolicy, take_claim
from mirror.copy.control import Control
from mirror.copy.resume import resume
from mirror.copy.resume_plan import ResumeRequest
from mirror.errors import ClaimHeld
from mirror.kafka.values import TopicPartition
from mirror.topics import ensure_internal
from mirror.wire.gaps import GapReason

A_DAY_MS = 86_400_000


def too_large() -> Sent:
    return Sent(value=os.urandom(8000), key=b"large", partition=1)  # random: compression must not save it


def too_old() -> Sent:
    return Sent(value=b"old", key=b"old", partition=1, timestamp_ms=int(time.time() * 1000) - A_DAY_MS)


@pytest.mark.parametrize(
    ("setting", "value", "refused", "code"),
    [
        ("max.message.bytes", "3000", too_large, "MSG_SIZE_TOO_LARGE"),
        ("message.timestamp.before.max.ms", "3600000", too_old, "INVALID_TIMESTAMP"),
    ],
    ids=["too large", "timestamp out of bounds"],
)
def test_a_refused_record_stops_its_partition_and_is_skipped_by_resume_with_a_gap_on_record(
    flow: Mirrored, airmirror: Command, setting: str, value: str, refused: object, code: str
) -> None:
    orders, payments = flow.topic("orders", 3), flow.topic("payments")
    make_topic(flow.target, flow.remote(orders), 3, **{setting: value})
    bad = refused()  # type: ignore[operator]
    flow.write(orders, [*numbered(30, partitions=3), bad, *numbered(30, start=30, partitions=3)])
    flow.write(payments, numbered(10))
    flow.make_remote_topics()

    copied = airmirror("copy")
    assert copied.code == 1
    skip = f"airmirror resume '{flow.flow}' --topic {orders} --partition 1 --skip-to 11"
    assert f"{orders}-1: cluster {flow.aliases[1]} refuses the record at offset 10" in copied.out
    assert code in copied.out
    assert skip in copied.err
    flow.assert_equal(payments)
    upstream, downstream = flow.read(orders)[orders]
    assert [r.content for r in downstream[1]] == [r.content for r in upstream[1][:10]]
    assert [[r.content for r in downstream[n]] for n in (0, 2)] == [[r.content for r in upstream[n]] for n in (0, 2)]

    before = airmirror.lag()[orders, 1]
    assert (before["state"], before["position"], before["lag_records"]) == ("stopped", 10, 11)
    assert before["stopped"]["offset"] == 10
    assert skip in before["stopped"]["next_step"]
    assert airmirror("copy").code == 1  # and again, as long as nobody decides

    resumed = airmirror("resume", "--topic", orders, "--partition", "1", "--skip-to", "11", "--yes")
    assert resumed.code == 0, resumed.err
    state = flow.states()[TopicPartition(orders, 1)]
    assert [(g.start, g.end, g.reason) for g in state.gaps] == [(10, 11, GapReason.SKIPPED)]
    after = airmirror.lag()[orders, 1]
    assert (after["state"], after["position"], after["stopped"]) == ("behind", 11, None)
    assert [(g["from"], g["to"], g["reason"]) for g in after["gaps"]] == [(10, 11, "skipped")]

    assert airmirror("copy").code == 0
    downstream = flow.read(orders)[orders][1]
    rest = [*upstream[1][:10], *upstream[1][11:]]
    assert [r.content for r in downstream[1]] == [r.content for r in rest]
    state = flow.states()[TopicPartition(orders, 1)]
    assert [(g.start, g.end) for g in state.gaps] == [(10, 11)]
    assert state.translate(10) == state.translate(11)
    ends = flow.target_ends()
    assert airmirror("copy").code == 0
    assert flow.target_ends() == ends


def test_a_topic_made_anew_goes_on_after_a_restart(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders", 2)
    flow.write(topic, numbered(20, partitions=2))
    flow.make_remote_topics()
    assert airmirror("copy").code == 0
    flow.delete_source_topic(topic)
    assert flow.topic("orders", 2) == topic
    flow.write(topic, numbered(6, start=100, partitions=2))

    stopped = airmirror("copy")
    assert stopped.code == 1
    assert f"airmirror resume '{flow.flow}' --topic {topic} --restart" in stopped.err
    assert {p["state"] for p in airmirror.lag().values()} == {"stopped"}

    shown = airmirror("resume", "--topic", topic, "--restart", "--yes")
    assert shown.code == 0, shown.err
    assert "the source topic was made anew" in shown.out
    assert "twice" not in shown.out.partition("\n")[2].replace("copied twice", "")
    assert airmirror("copy").code == 0
    upstream, downstream = flow.read(topic)[topic]
    for number in (0, 1):
        assert [r.content for r in downstream[number][10:]] == [r.content for r in upstream[number]]
        state = flow.states()[TopicPartition(topic, number)]
        assert state.source_topic_id == flow.source.describe([topic])[topic].id
        assert state.history.complete_from_start
    assert airmirror("copy").code == 0


def test_a_restart_copies_again_and_says_that_records_will_stand_twice(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(5))
    flow.make_remote_topics()
    assert airmirror("copy").code == 0
    restarted = airmirror("resume", "--topic", topic, "--restart", "--yes", "--json")
    assert restarted.document["changed"] is True
    assert [(p["position"], p["position_then"], p["copied_twice"]) for p in restarted.document["partitions"]] == [
        (5, 0, 5)
    ]
    assert airmirror("copy").code == 0
    assert flow.downstream_values(topic) == [r.value for r in numbered(5)] * 2
    assert "twice" in airmirror("resume", "--topic", topic, "--restart", "--dry-run").out


def test_foreign_data_may_stay_if_a_person_says_so(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(4))
    flow.make_remote_topics()
    write(flow.downstream.bootstrap_servers, flow.remote(topic), [Sent(value=b"somebody else's")])
    assert airmirror("copy").code == 1
    assert airmirror.lag()[topic, 0]["stopped"]["error"] == "ForeignData"
    assert airmirror("resume", "--topic", topic, "--restart", "--yes").code == 0
    assert airmirror("copy").code == 0
    assert flow.downstream_values(topic) == [b"somebody else's", *(r.value for r in numbered(4))]


def test_a_dry_run_writes_nothing_not_even_internal_topics(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(4))
    make_topic(flow.target, flow.remote(topic))
    before = flow.target_ends()
    shown = airmirror("resume", "--topic", topic, "--skip-to", "3", "--dry-run", "--json")
    assert shown.code == 0
    assert shown.document["changed"] is False
    assert shown.document["partitions"][0]["skipped"] == {"from": 0, "to": 3}
    assert flow.target_ends() == before


def test_wrong_offsets_exit_2_and_change_nothing(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(4))
    flow.make_remote_topics()
    assert airmirror("copy").code == 0
    before = flow.target_ends()
    for offset, words in (("3", "--restart"), ("5", "ends at 4")):
        refused = airmirror("resume", "--topic", topic, "--skip-to", offset, "--yes")
        assert (refused.code, words in refused.err) == (2, True), refused.err
    assert airmirror("resume", "--topic", "no-such-topic", "--restart", "--yes").code == 2
    assert flow.target_ends() == before


def test_resume_respects_a_living_copy_and_locks_out_a_dead_one(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(4))
    flow.make_remote_topics()
    ensure_internal(flow.flow, flow.target)
    control = Control(flow.links, flow.target)
    living = take_claim(flow.links, control, "living", 1, ClaimPolicy(), print)
    request = ResumeRequest(topic=topic, skip_to=2)
    with pytest.raises(ClaimHeld):
        resume(flow.flow, request, "mine", agree=lambda _: True, say=print, on_held="skip")
    living.release()
    assert resume(flow.flow, request, "mine", agree=lambda _: False, say=print) is None
    assert flow.states() == {}
    assert resume(flow.flow, request, "mine-2", agree=lambda _: True, say=print) is not None
    assert flow.states()[TopicPartition(topic, 0)].run == "mine-2"
    assert flow.copy().record_count == 2


@pytest.mark.long("a search for each")
def test_each_of_several_refused_records_is_named_exactly_in_the_midst_of_many(
    flow: Mirrored, airmirror: Command
) -> None:
    topic = flow.topic("orders", 3)
    make_topic(flow.target, flow.remote(topic), 3, **{"max.message.bytes": "3000"})
    refused = {(0, 0), (1, 1500), (1, 1501), (1, 2999), (2, 2999)}
    sent = [
        Sent(value=os.urandom(8000) if (p, n) in refused else b"%d" % n, key=b"%d" % n, partition=p)
        for n in range(3000)
        for p in range(3)
    ]
    flow.write(topic, sent)
    met: set[tuple[int, int]] = set()
    for _ in range(4):
        copied = airmirror("copy", "--json")
        stopped = {(p["partition"], p["error"]["offset"]) for p in copied.document["partitions"] if "error" in p}
        assert copied.code == (1 if stopped else 0)
        met |= stopped
        for partition, offset in stopped:
            skip = ("--partition", str(partition), "--skip-to", str(offset + 1), "--yes")
            assert airmirror("resume", "--topic", topic, *skip).code == 0
    assert met == refused
    upstream, downstream = flow.read(topic)[topic]
    for partition in range(3):
        wanted = [r.content for r in upstream[partition] if (partition, r.offset) not in refused]
        assert [r.content for r in downstream[partition]] == wanted
        gaps = flow.states()[TopicPartition(topic, partition)].gaps
        skipped = {(partition, offset) for gap in gaps for offset in range(gap.start, gap.end)}
        assert skipped == {(p, offset) for p, offset in refused if p == partition}


def test_records_before_one_that_the_client_cannot_write_are_copied_once(flow: Mirrored, airmirror: Command) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(5))
    odd = RawRecord(value=b"odd", key=b"odd", timestamp_ms=int(time.time() * 1000), headers=[(b"\xff", b"x")])
    send_raw(flow.upstream.bootstrap_servers, topic, 0, [odd])
    flow.write(topic, numbered(5, start=5))
    flow.make_remote_topics()
    stopped = airmirror("copy", "--json")
    assert (stopped.code, stopped.document["partitions"][0]["error"]["offset"]) == (1, 5)
    assert flow.downstream_values(topic) == [r.value for r in numbered(5)]
    assert airmirror("resume", "--topic", topic, "--skip-to", "6", "--yes").code == 0
    assert airmirror("copy").code == 0
    assert flow.downstream_values(topic) == [r.value for r in numbered(10)]
