"""No group passes a verification because it could not be looked at."""

from __future__ import annotations

from pathlib import Path

from flow_files import flow_from
from mirror.errors import NotAuthorized
from mirror.groups.checkpoints import Known
from mirror.groups.ground import Ground
from mirror.groups.offsets import TargetGroups
from mirror.groups.run import Translated
from mirror.groups.values import Answer, GroupPartition, GroupsFound, unknown
from mirror.kafka.groups import Committed
from mirror.kafka.values import TopicPartition
from mirror.verify.group_offsets import judge_groups
from mirror.wire.checkpoint import Checkpoint
from mirror.wire.history import Exact

HERE, THERE = TopicPartition("orders", 0), TopicPartition("A.orders", 0)
REFUSED = NotAuthorized("the broker says no")
NOBODY = TargetGroups(target="B", idle={}, committed={"g": REFUSED}, topics={}, starts={}, ends={})


def translated(answer: Answer, **failures: NotAuthorized) -> Translated:
    place = GroupPartition(group="g", partition=HERE, remote=THERE, committed=Committed(3), answer=answer)
    found = GroupsFound(groups={}, filtered={}, left_out={}, failures=failures, at_ms=0)
    return Translated(found=found, partitions=(place,), ground=Ground(target="B", remotes={HERE: THERE}))


def test_groups_that_either_side_would_not_show_are_differences(tmp_path: Path) -> None:
    flow = flow_from(tmp_path, "sync.group.offsets.enabled = true\n")
    checkpoint = Checkpoint(
        group="g", topic="A.orders", partition=0, upstream_offset=3, downstream_offset=3, metadata=""
    )
    known = {("g", THERE): Known(checkpoint=checkpoint)}
    found, notices = judge_groups(flow, translated(Answer(Exact(3), "exact"), hidden=REFUSED), known, NOBODY)
    assert [(each.name, each.what) for each in found] == [
        ("hidden", "could not be compared: the broker says no"),
        ("g", "could not be compared on B: the broker says no"),
    ]
    assert notices == []


def test_what_has_no_place_on_the_target_is_told_and_what_has_one_needs_a_checkpoint(tmp_path: Path) -> None:
    flow = flow_from(tmp_path)
    found, notices = judge_groups(flow, translated(unknown("nothing was copied")), {}, NOBODY)
    assert (found, notices) == ([], ["1 partitions of groups were not compared: nothing was copied"])
    (missing,), notices = judge_groups(flow, translated(Answer(Exact(3), "exact")), {}, NOBODY)
    assert (missing.name, missing.what, notices) == ("g", "has no checkpoint for A.orders-0 on B", [])
