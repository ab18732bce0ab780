"""What a drill's report says, in numbers and in words."""

from __future__ import annotations

import json
from typing import Any

from mirror.kafka.values import TopicPartition
from mirror.operations.drill.compare import Comparison
from mirror.operations.drill.page import told_report
from mirror.operations.drill.report import DrillReport, GroupFinding, PartitionFinding, PartitionPoint, RecoveryPoint
from mirror.operations.report import markdown

REMOTE = TopicPartition("A.orders", 0)
NOW_MS = 1_800_000_000_000


def point(lag: int = 0, *, newest_ms: int | None = NOW_MS - 90_000, oldest_ms: int | None = None) -> RecoveryPoint:
    partition = PartitionPoint(
        partition=TopicPartition("orders", 0),
        position=100,
        source_end=100 + lag,
        lag=lag,
        newest_ms=newest_ms,
        oldest_missing_ms=oldest_ms,
    )
    return RecoveryPoint(at_ms=NOW_MS, partitions=(partition,))


def finding(group: str, verdict: Any = "same", *, first_record_s: float | None = 0.5, **changed: Any) -> GroupFinding:
    comparison = Comparison(verdict=verdict, compared=5, read_again=2, reason="because" if verdict == "differs" else "")
    partition = PartitionFinding(
        remote=REMOTE, upstream_offset=90, offset=80, comparison=comparison, behind_checkpoint=3
    )
    facts: dict[str, Any] = {"partitions": (partition,), "joined_s": 0.2, "first_record_s": first_record_s, **changed}
    return GroupFinding(group=group, **facts)


def report(*groups: GroupFinding, lag: RecoveryPoint | None = None, **changed: Any) -> DrillReport:
    facts: dict[str, Any] = {
        "flow": "A->B",
        "run": "r1",
        "started_ms": NOW_MS,
        "ended_ms": NOW_MS + 5_000,
        "point": lag or point(),
        "moved_s": 1.0,
        "groups": groups,
        **changed,
    }
    return DrillReport(**facts)


def page(told: DrillReport) -> str:
    shown = told_report(told)
    return markdown(shown.title, shown.sections())


def test_recovery_time_is_moving_the_groups_and_the_slowest_of_them() -> None:
    # One that has nothing to read is ready when it has joined.
    told = report(finding("quick"), finding("slow", first_record_s=2.5), finding("at the end", first_record_s=None))
    assert told.recovery_s == 3.5
    assert told.to_json()["recovery_time"] == {"seconds": 3.5, "seconds_to_move_groups": 1.0}


def test_recovery_point_counts_what_is_missing_and_the_age_of_its_oldest() -> None:
    told = report(finding("billing"), lag=point(7, oldest_ms=NOW_MS - 4_000), told_missing=5)
    document = told.to_json()["recovery_point"]
    assert (document["records_missing"], document["oldest_missing_seconds"]) == (7, 4.0)
    assert (document["newest_record_age_seconds"], document["failover_would_tell_at_least"]) == (90.0, 5)
    text = page(told)
    assert "up to 7 records would have been lost, the oldest 4.0 s old" in text
    assert "| at least 5 |" in text


def test_a_quiet_source_loses_nothing_however_old_its_newest_record_is() -> None:
    told = report(finding("billing"))
    assert told.point.behind_s == 0.0
    assert "no record would have been lost" in page(told)


def test_one_group_that_differs_fails_the_drill_and_comes_first() -> None:
    told = report(finding("good"), finding("wrong", "differs"))
    failure = told.failure()
    assert failure is not None
    assert failure.about["groups"] == ["wrong"]
    text = page(told)
    assert text.startswith("# Failover drill of A-\\>B: FAILED")
    assert "| wrong | A.orders-0: because |" in text
    assert text.index("| wrong | no |") < text.index("| good | yes |")
    assert "airmirror translate 'A->B' --group 'wrong'" in text


def test_a_group_that_could_not_be_rehearsed_at_all_fails_too() -> None:
    told = report(finding("denied", partitions=(), error="could not read as a member: not authorized"))
    assert not told.passed
    assert "not authorized" in page(told)


def test_records_read_again_are_those_of_an_early_translation_and_of_an_old_checkpoint() -> None:
    assert finding("billing", "early").read_again == 5


def test_the_document_is_plain_json() -> None:
    told = report(finding("billing"), rights=({"principal": "User:x", "reason": "none"},), rights_known="")
    assert json.loads(json.dumps(told.to_json()))["rights_missing"] == [{"principal": "User:x", "reason": "none"}]
