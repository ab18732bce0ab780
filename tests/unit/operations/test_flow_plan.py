"""What the next runs would change, from what was read; and how that is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.cli.plan_report import print_plan
from mirror.config import Flow
from mirror.copy.links import links_of
from mirror.copy.survey import Survey
from mirror.errors import MirrorError, NotAuthorized, TopicRecreated
from mirror.groups.values import Answer, GroupPartition
from mirror.kafka.acls import TopicAcl
from mirror.kafka.cluster import Cluster
from mirror.kafka.groups import Committed
from mirror.kafka.values import NewTopic, TopicPartition
from mirror.operations import planning
from mirror.operations.flow_plan import FlowPlan, GroupsPlan, HeartbeatsPlan, RecordsPlan, Stretch
from mirror.operations.planning import after_topics, plan_records
from mirror.topics import AclPlan, Creation, Growth, Switched, TopicPlan
from mirror.wire.gaps import Gap, GapReason
from mirror.wire.history import Exact
from unit.copy.surveys import NOW_MS, P0, TOPIC, state, survey_of

REMOTE = f"A.{TOPIC}"


def topic_plan(*creations: Creation, growths: tuple[Growth, ...] = ()) -> TopicPlan:
    return TopicPlan(
        flow="A->B",
        source="A",
        target="B",
        creations=creations,
        growths=growths,
        decisions=(),
        notices=(),
        topic_count=1,
        selected_count=1,
    )


def creation(name: str, partition_count: int = 1, *, cluster: str = "B", upstream: str = TOPIC) -> Creation:
    topic = NewTopic(name=name, partition_count=partition_count, replication_factor=1)
    return Creation(cluster=cluster, topic=topic, upstream_topic=upstream)


def growth(now: int, wanted: int) -> Growth:
    return Growth(topic=REMOTE, upstream_topic=TOPIC, partition_count_now=now, partition_count=wanted)


@pytest.fixture
def flow(tmp_path: Path) -> Flow:
    return flow_from(tmp_path)


def planned(
    flow: Flow, survey: Survey, topics: TopicPlan, monkeypatch: pytest.MonkeyPatch, cores: int = 2
) -> RecordsPlan:
    """Without a source to look at copied records again."""
    monkeypatch.setattr(planning, "truncated_partitions", lambda *_: ({}, []))
    return plan_records(flow, links_of(flow), Cluster("A", {}), survey, topics, cores)


def ways(records: RecordsPlan) -> list[tuple[int, int, int]]:
    return [(s.partition.partition, s.start, s.end) for s in records.stretches]


def test_records_are_planned_as_if_the_topics_were_made_already(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = survey_of(partitions=2, remote_exists=False)
    assert ways(planned(flow, survey, topic_plan(), monkeypatch)) == []
    made = topic_plan(creation(REMOTE, 2), creation("mm2-airmirror.A.internal", upstream=""))
    records = planned(flow, survey, made, monkeypatch)
    assert ways(records) == [(0, 0, 100), (1, 0, 100)]
    assert {s.slot for s in records.stretches} == {0, 1}
    assert records.waiting == {}
    assert records.offset_count == 200


def test_partitions_that_are_to_be_added_are_planned_too(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = survey_of(state(100), partitions=2)
    narrow = replace(survey.target.topics[REMOTE], partition_count=1)
    ends = {TopicPartition(REMOTE, 0): 100}
    survey = replace(survey, target=replace(survey.target, topics={REMOTE: narrow}, ends=ends))
    assert ways(planned(flow, survey, topic_plan(growths=(growth(1, 2),)), monkeypatch)) == [(1, 0, 100)]


def test_a_remote_topic_that_is_to_be_made_again_stops_its_partitions(
    flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = survey_of(state(40), remote_exists=False)
    records = planned(flow, survey, topic_plan(creation(REMOTE)), monkeypatch)
    assert ways(records) == []
    assert {p: type(error) for p, error in records.stopped.items()} == {P0: TopicRecreated}


def test_foreign_data_is_no_stretch_but_a_stop(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    records = planned(flow, survey_of(remote_end=7), topic_plan(), monkeypatch)
    assert (ways(records), [type(e).__name__ for e in records.stopped.values()]) == ([], ["ForeignData"])


def test_what_other_clusters_get_changes_nothing_of_the_target() -> None:
    target = survey_of(remote_exists=False).target
    assert after_topics(target, topic_plan(creation("mm2-offset-syncs.B.internal", cluster="A"))) == target


def group_partition(offset: int, group: str = "billing") -> GroupPartition:
    return GroupPartition(
        group=group,
        partition=P0,
        remote=TopicPartition(REMOTE, 0),
        committed=Committed(offset),
        answer=Answer(Exact(offset), "a test's"),
    )


def test_groups_whose_next_record_is_yet_to_be_copied_are_named() -> None:
    records = RecordsPlan(stretches=(stretch(10, 20),))
    found = planning._after_copy(
        [group_partition(9, "behind"), group_partition(10, "at"), group_partition(15, "in")], records
    )
    assert found == ("at", "in")
    assert planning._after_copy([group_partition(15)], RecordsPlan()) == ()


def stretch(start: int, end: int, gap: Gap | None = None) -> Stretch:
    return Stretch(partition=P0, remote=TopicPartition(REMOTE, 0), start=start, end=end, slot=0, gap=gap)


def flow_plan(**parts: object) -> FlowPlan:
    base = FlowPlan(flow="A->B", source="A", target="B", heartbeats=HeartbeatsPlan(topic="heartbeats"))
    return replace(base, **parts)


ACL = TopicAcl(topic=REMOTE, pattern="LITERAL", principal="User:r", host="*", operation="READ", permission="ALLOW")


@pytest.mark.parametrize(
    ("plan", "count"),
    [
        (flow_plan(), 0),
        (flow_plan(heartbeats=HeartbeatsPlan(topic="heartbeats", records=RecordsPlan(stretches=(stretch(0, 5),)))), 0),
        (flow_plan(topics=topic_plan(creation(REMOTE), growths=(growth(1, 2),))), 2),
        (flow_plan(further_topics=(creation("heartbeats", upstream=""),)), 1),
        (flow_plan(records=RecordsPlan(stretches=(stretch(0, 5),))), 1),
        (flow_plan(acls=AclPlan(flow="A->B", target="B", grants=(ACL,), stale=(ACL,))), 1),
        (flow_plan(acls=AclPlan(flow="A->B", target="B", grants=(ACL,), stale=(ACL,), prunes=True)), 2),
        (flow_plan(groups=NotAuthorized("no"), settings=Switched("by the file")), 0),
    ],
)
def test_all_but_heartbeats_counts_as_a_change(plan: FlowPlan, count: int) -> None:
    assert plan.change_count == count
    assert json.loads(json.dumps(plan.to_json()))["changes"] == count


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (flow_plan(), "nothing to do but a heartbeat. Nothing was changed."),
        (flow_plan(topics=topic_plan(creation(REMOTE, 3))), "be created, 3 partitions"),
        (flow_plan(records=RecordsPlan(stretches=(stretch(5, 1205),))), "1,205"),
        (
            flow_plan(
                records=RecordsPlan(
                    stretches=(stretch(5, 9, Gap(start=2, end=5, reason=GapReason.RETENTION, at_ms=NOW_MS)),)
                )
            ),
            "gap: orders-0 [2, 5)",
        ),
        (flow_plan(groups=GroupsPlan(after_copy=("a", "b"))), "after the copy: 2 groups"),
        (flow_plan(settings=NotAuthorized("no right", next_step="grant it")), "would fail: no right\n  next: grant it"),
        (
            flow_plan(topics=topic_plan(), settings=Switched("sync.topic.configs.enabled = false (line 3)")),
            "off: settings: sync.topic.configs.enabled = false (line 3)",
        ),
    ],
)
def test_what_the_plan_says_is_printed(plan: FlowPlan, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_plan(plan)
    assert words in capsys.readouterr().out


def test_what_would_fail_is_in_the_errors() -> None:
    refused: MirrorError = NotAuthorized("no")
    assert flow_plan(acls=refused).errors == (refused,)
    assert flow_plan(records=RecordsPlan(stopped={P0: refused})).errors == (refused,)
    assert flow_plan(groups=GroupsPlan(failures={"g": refused})).errors == (refused,)
    assert flow_plan().errors == ()
