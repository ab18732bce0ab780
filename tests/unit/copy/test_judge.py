"""What is decided about a partition from what was seen of both sides, case by case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.copy.judge import Judgement, foreign_data, judge
from mirror.copy.links import links_of
from mirror.copy.survey import Survey
from mirror.errors import (
    ClusterBusy,
    ForeignData,
    LogTruncated,
    MirrorError,
    PositionUnknown,
    RecordsLost,
    TopicRecreated,
)
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.wire.gaps import Gap, GapReason
from mirror.wire.history import Exact
from unit.copy.surveys import NOW_MS, OTHER_ID, P0, TARGET_ID, TOPIC, first_position, state, survey_of

REMOTE = TopicPartition(f"A.{TOPIC}", 0)


def judged(tmp_path: Path, survey: Survey, lines: str = "") -> Judgement:
    flow = flow_from(tmp_path, lines)
    return judge(flow, links_of(flow), survey)


@pytest.mark.parametrize(
    ("survey", "position", "end"),
    [
        pytest.param(survey_of(state(40)), 40, 100, id="goes on"),
        pytest.param(survey_of(state(100)), 100, 100, id="nothing new"),
        pytest.param(survey_of(state(40), stable=70), 40, 70, id="an open transaction holds back the rest"),
        pytest.param(survey_of(state(80), stable=70), 80, 80, id="the stable end is behind us: nothing, and not back"),
        pytest.param(survey_of(state(40), start=40), 40, 100, id="the log starts at the position"),
        pytest.param(survey_of(firsts=(first_position(0),)), 0, 100, id="first copy from the beginning"),
        pytest.param(
            survey_of(firsts=(first_position(100, chosen_by="latest"),)), 100, 100, id="first copy from the end"
        ),
    ],
)
def test_a_partition_goes_on_at_its_position_up_to_the_stable_end(
    tmp_path: Path, survey: Survey, position: int, end: int
) -> None:
    (spec,) = judged(tmp_path, survey).ready
    assert (spec.position, spec.end, spec.gap) == (position, end, None)
    assert (spec.partition, spec.remote, spec.remote_end) == (P0, REMOTE, 50)


@pytest.mark.parametrize(
    ("survey", "lines", "kind", "about"),
    [
        pytest.param(survey_of(state(101)), "", LogTruncated, {"position": 101}, id="beyond the end"),
        pytest.param(
            survey_of(state(10), start=30), "airmirror.on.gap = fail", RecordsLost, {"start": 10, "end": 30}, id="gap"
        ),
        pytest.param(
            survey_of(firsts=(first_position(10),), start=30),
            "airmirror.on.gap = fail",
            RecordsLost,
            {"start": 10, "end": 30},
            id="gap before the first copy",
        ),
        pytest.param(survey_of(state(10), source_id=OTHER_ID), "", TopicRecreated, {"cluster": "A"}, id="source anew"),
        pytest.param(survey_of(state(10), target_id=OTHER_ID), "", TopicRecreated, {"cluster": "B"}, id="target anew"),
        pytest.param(survey_of(), "", PositionUnknown, {}, id="nothing says where to begin"),
    ],
)
def test_what_a_person_must_decide_stops_the_partition_with_its_offsets(
    tmp_path: Path, survey: Survey, lines: str, kind: type[MirrorError], about: dict[str, object]
) -> None:
    found = judged(tmp_path, survey, lines)
    assert not found.ready
    error = found.stopped[P0]
    assert type(error) is kind
    assert error.next_step
    assert error.about.items() >= {"topic": TOPIC, "partition": 0, **about}.items()


def test_a_gap_is_passed_and_remembered_where_the_file_says_continue(tmp_path: Path) -> None:
    (spec,) = judged(tmp_path, survey_of(state(10), start=30)).ready
    assert spec.position == 30
    assert spec.gap == Gap(start=10, end=30, reason=GapReason.RETENTION, at_ms=NOW_MS)


def test_a_gap_up_to_the_end_is_due_although_there_is_no_record_to_copy(tmp_path: Path) -> None:
    found = judged(tmp_path, survey_of(state(10), start=100))
    assert [spec.partition for spec in found.due] == [P0]
    assert not judged(tmp_path, survey_of(state(100))).due


@pytest.mark.parametrize("side", ["source_id", "target_id"])
def test_a_topic_made_anew_starts_over_where_the_file_says_restart(tmp_path: Path, side: str) -> None:
    survey = survey_of(state(60), start=5, remote_end=60, **{side: OTHER_ID})  # type: ignore[arg-type]
    (spec,) = judged(tmp_path, survey, "airmirror.on.recreated = restart").ready
    assert spec.position == 5
    assert spec.gap is None
    assert spec.state is not None
    # What was known of the old log must not speak for the new one: neither as a witness nor as a translation.
    assert (spec.state.has_record, spec.state.leader_epoch, spec.state.history.segments) == (False, None, ())
    assert spec.state.translate(5) == Exact(60)


def test_an_old_state_without_topic_ids_cannot_tell_and_goes_on(tmp_path: Path) -> None:
    survey = survey_of(state(60, source_topic_id="", target_topic_id=""), source_id=OTHER_ID, target_id=OTHER_ID)
    (spec,) = judged(tmp_path, survey).ready
    assert spec.position == 60


@pytest.mark.parametrize(
    ("partition_count", "words"), [(0, "does not exist on B"), (1, "too few partitions")], ids=["missing", "too narrow"]
)
def test_a_remote_topic_that_is_not_ready_is_waited_for_with_the_command_that_makes_it(
    tmp_path: Path, partition_count: int, words: str
) -> None:
    survey = survey_of(state(10), state(10, 1), partitions=2)
    described = TopicDescription(name=REMOTE.topic, id=TARGET_ID, partition_count=partition_count)
    target = replace(survey.target, topics={REMOTE.topic: described} if partition_count else {})
    found = judged(tmp_path, replace(survey, target=target))
    assert not found.stopped
    assert words in found.waiting[TOPIC]
    assert "airmirror topics 'A->B'" in found.waiting[TOPIC]


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_partition_without_a_leader_stops_alone_and_for_another_try(tmp_path: Path, side: str) -> None:
    survey = survey_of(state(10), state(10, 1), partitions=2)
    if side == "source":
        del survey.source.stable_ends[P0]
    else:
        del survey.target.ends[REMOTE]
    found = judged(tmp_path, survey)
    assert [spec.partition.partition for spec in found.ready] == [1]
    assert isinstance(found.stopped[P0], ClusterBusy)


def test_the_same_survey_is_judged_the_same_twice(tmp_path: Path) -> None:
    survey = survey_of(state(10), state(101, 1), state(20, 2), partitions=3, start=15)
    first, second = judged(tmp_path, survey), judged(tmp_path, survey)
    assert first.ready == second.ready
    assert [str(e) for e in first.stopped.values()] == [str(e) for e in second.stopped.values()]


def test_only_a_remote_partition_with_records_that_nobody_claims_is_foreign(tmp_path: Path) -> None:
    links = links_of(flow_from(tmp_path))
    survey = survey_of(partitions=3, mm2={TopicPartition(TOPIC, 1): 7})
    survey.target.ends[TopicPartition(REMOTE.topic, 2)] = 0
    errors = foreign_data(links, survey, survey.source.partitions)
    assert list(errors) == [P0]
    assert isinstance(errors[P0], ForeignData)
    assert errors[P0].about["end"] == 50


def test_with_provenance_and_one_name_the_targets_records_are_its_own_and_only_unmarked_copies_stop(
    tmp_path: Path,
) -> None:
    links = links_of(flow_from(tmp_path))
    survey = survey_of(partitions=3)
    decisions = {TOPIC: replace(survey.source.decisions[TOPIC], remote_topic=TOPIC)}
    survey = replace(survey, source=replace(survey.source, decisions=decisions), unmarked={P0: "A->B"})
    for number in range(3):
        survey.target.ends[TopicPartition(TOPIC, number)] = 50
    errors = foreign_data(links, survey, survey.source.partitions)
    assert list(errors) == [P0]
    assert "A->B copied without a header" in errors[P0].message
    assert f"--topic {TOPIC} --partition 0 --skip-to {survey.source.ends[P0]}" in errors[P0].next_step
    plain = replace(survey, unmarked=None)
    assert len(foreign_data(links, plain, plain.source.partitions)) == 3
