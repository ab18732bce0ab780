"""When a checkpoint is written, when a group is moved, and what is said when it is not."""

from __future__ import annotations

import pytest

from mirror.errors import ClusterBusy, GroupInUse, GroupRefused, MirrorError
from mirror.groups.checkpoints import Known, plan_checkpoints
from mirror.groups.offsets import GroupPlan, TargetGroups, _outcome, plan_group_offsets
from mirror.groups.summaries import GroupOutcome, OffsetSummary
from mirror.groups.values import Answer, GroupPartition, unknown
from mirror.kafka.groups import Committed
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.wire.checkpoint import Checkpoint
from mirror.wire.history import Early, Exact

SOURCE, REMOTE = TopicPartition("orders", 0), TopicPartition("A.orders", 0)
PLACE = ("g", REMOTE)


def known(upstream: int, downstream: int, *, topic_id: str = "now", metadata: str = "") -> Known:
    checkpoint = Checkpoint(
        group="g",
        topic=REMOTE.topic,
        partition=0,
        upstream_offset=upstream,
        downstream_offset=downstream,
        metadata=metadata,
    )
    return Known(checkpoint=checkpoint, topic_id=topic_id)


def stands(upstream: int, answer: Answer) -> GroupPartition:
    return GroupPartition(
        group="g",
        partition=SOURCE,
        remote=REMOTE,
        committed=Committed(upstream, "meta"),
        answer=answer,
        remote_topic_id="now",
    )


def exact(downstream: int) -> Answer:
    return Answer(Exact(downstream), "")


@pytest.mark.parametrize(
    ("last", "upstream", "downstream", "is_written"),
    [
        pytest.param(None, 10, 5, True, id="the first"),
        pytest.param(known(10, 5), 10, 5, False, id="nothing changed"),
        pytest.param(known(10, 5), 12, 7, True, id="further on"),
        pytest.param(known(10, 5), 10, 6, True, id="a better translation"),
        pytest.param(known(10, 5), 12, 5, False, id="further on upstream alone"),
        pytest.param(known(10, 5), 12, 4, False, id="a worse translation"),
        pytest.param(known(10, 5), 8, 3, True, id="the group went back"),
        pytest.param(known(50, 50, topic_id="before"), 60, 10, True, id="the last was of a remote topic that is gone"),
        pytest.param(known(60, 10, topic_id="before"), 60, 10, True, id="the same numbers in another topic"),
    ],
)
def test_checkpoint_is_written_by_mm2s_rule_and_never_held_back_by_a_deleted_topic(
    last: Known | None, upstream: int, downstream: int, is_written: bool
) -> None:
    planned = plan_checkpoints([stands(upstream, exact(downstream))], {PLACE: last} if last else {}, {})
    assert bool(planned) is is_written
    if planned:
        assert planned == (known(upstream, downstream, metadata="meta"),)


@pytest.mark.parametrize(
    ("past", "is_written"),
    [
        pytest.param(exact(0), True, id="what it says cannot be true of this topic"),
        pytest.param(exact(50), False, id="true"),
        pytest.param(Answer(Early(40, 20), ""), False, id="may be true"),
        pytest.param(unknown("before history"), False, id="nothing is known against it"),
    ],
)
def test_mm2s_own_checkpoint_is_believed_as_far_as_it_can_be_true(past: Answer, is_written: bool) -> None:
    last = known(50, 50, topic_id="")
    assert bool(plan_checkpoints([stands(60, exact(10))], {PLACE: last}, {PLACE: past})) is is_written


def test_offset_without_translation_has_no_checkpoint() -> None:
    assert plan_checkpoints([stands(10, unknown("nothing copied"))], {}, {}) == ()


def there(
    now: int | None, *, idle: bool | MirrorError = True, start: int = 0, end: int = 100, topic: str = "now"
) -> TargetGroups:
    described = {REMOTE.topic: TopicDescription(name=REMOTE.topic, id=topic, partition_count=1)} if topic else {}
    return TargetGroups(
        target="B",
        idle={"g": idle},
        committed={"g": {} if now is None else {REMOTE: Committed(now)}},
        topics=described,
        starts={REMOTE: start},
        ends={REMOTE: end},
    )


def plan(checkpoint: Known, target: TargetGroups, *, rewind: bool = False) -> GroupPlan:
    (only,) = plan_group_offsets([checkpoint], target, rewind=rewind)
    return only


@pytest.mark.parametrize(
    ("target", "rewind", "to"),
    [
        pytest.param(there(None), False, 50, id="the group has no offset there"),
        pytest.param(there(49), False, 50, id="behind"),
        pytest.param(there(70), True, 50, id="ahead, and a person wants it back"),
        pytest.param(there(170), False, 50, id="beyond the end: of a log that is gone"),
        pytest.param(there(None, start=60), False, 60, id="the record is deleted: the first that is left"),
    ],
)
def test_idle_group_is_moved_to_its_checkpoint(target: TargetGroups, rewind: bool, to: int) -> None:
    decided = plan(known(60, 50, metadata="m"), target, rewind=rewind)
    assert decided.writes == {REMOTE: Committed(to, "m")}
    assert decided.left == ()


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        pytest.param(there(50), "there already", id="in place"),
        pytest.param(there(51), "ahead on B, at 51", id="never backwards"),
        pytest.param(there(10, idle=False), "has members on B", id="in use"),
        pytest.param(there(10, end=40), "beyond the end", id="stale checkpoint past the end"),
        pytest.param(there(10, topic="other"), "made anew", id="checkpoint of a deleted topic"),
        pytest.param(there(10, topic=""), "does not exist", id="no remote topic"),
    ],
)
def test_group_is_left_alone_with_a_reason(target: TargetGroups, reason: str) -> None:
    decided = plan(known(60, 50), target)
    assert decided.moves == ()
    (left,) = decided.left
    assert reason in left.reason


def test_rewind_does_not_touch_a_group_in_use() -> None:
    assert plan(known(60, 50), there(70, idle=False), rewind=True).moves == ()


def test_group_that_cannot_be_looked_at_fails_alone() -> None:
    decided = plan(known(60, 50), there(10, idle=ClusterBusy("no coordinator")))
    outcome = _outcome(decided, {})
    assert (decided.moves, outcome.word) == ((), "failed")
    failure = OffsetSummary(flow="A->B", outcomes=(outcome, GroupOutcome(group="other"))).failure()
    assert isinstance(failure, ClusterBusy)
    assert "1 group failed" in failure.message


def test_consumers_that_came_back_meanwhile_are_no_failure_and_a_refusal_is() -> None:
    decided = plan(known(60, 50), there(10))
    came_back = _outcome(decided, {REMOTE: GroupInUse("UNKNOWN_MEMBER_ID")})
    refused = _outcome(decided, GroupRefused("not allowed"))
    assert (came_back.word, came_back.reasons) == ("left alone", ("its consumers came back",))
    assert refused.word == "failed"


def test_summary_counts_and_names_reasons_and_stays_small() -> None:
    moved = [_outcome(plan(known(60, 50), there(10)), {REMOTE: None})] * 60
    ahead = [_outcome(plan(known(60, 50), there(51)), {})]
    in_place = [_outcome(plan(known(60, 50), there(50)), {})]
    document = OffsetSummary(flow="A->B", outcomes=(*moved, *ahead, *in_place)).to_json()
    assert (document["moved"], document["left_alone"], document["in_place"]) == (60, 1, 1)
    assert document["reasons"] == {"it is ahead on B, at 51": 1}
    assert (len(document["groups"]), document["groups_not_listed"]) == (50, 11)
