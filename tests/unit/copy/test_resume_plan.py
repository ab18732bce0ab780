"""What a person's decision makes of a partition's state, for every way in which it may have stopped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flow_files import flow_from
from mirror.copy.judge import judge
from mirror.copy.links import links_of
from mirror.copy.resume_plan import Logs, ResumePlan, ResumeRequest, plan_resume
from mirror.copy.spec import FlowLinks
from mirror.copy.survey import Survey
from mirror.errors import ClusterBusy, TopicNotFound, UsageRefused
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap, GapReason
from mirror.wire.history import EMPTY, History
from mirror.wire.partition_state import PartitionState
from unit.copy.surveys import NOW_MS, OTHER_ID, P0, SOURCE_ID, TARGET_ID, TOPIC, first_position, state, survey_of

RUN = "20240102T000000-bbbbbb"
COPIED = History().append_run(0, 60, 0, 60)
SKIPPED = GapReason.SKIPPED


@pytest.fixture
def links(tmp_path: Path) -> FlowLinks:
    return links_of(flow_from(tmp_path))


def plan(
    links: FlowLinks, survey: Survey, truncated: frozenset[TopicPartition] = frozenset(), **ask: Any
) -> ResumePlan:
    return plan_resume(links, survey, ResumeRequest(topic=TOPIC, **ask), run=RUN, truncated=truncated)


def gap(start: int, end: int, reason: GapReason = SKIPPED) -> Gap:
    return Gap(start=start, end=end, reason=reason, at_ms=NOW_MS)


def test_a_skip_moves_the_position_and_remembers_the_gap_and_the_history(links: FlowLinks) -> None:
    (step,) = plan(links, survey_of(state(60, history=COPIED)), skip_to=61).steps
    assert (step.position, step.then, step.gap, step.repeated) == (60, 61, gap(60, 61), 0)
    assert step.state == replace(state(60, history=COPIED), position=61, run=RUN, gaps=(gap(60, 61),))


def test_a_skip_to_the_position_itself_leaves_no_gap(links: FlowLinks) -> None:
    (step,) = plan(links, survey_of(state(60)), skip_to=60).steps
    assert (step.gap, step.state.gaps, step.state.position) == (None, (), 60)


@pytest.mark.parametrize(
    ("offset", "survey", "words"),
    [
        pytest.param(59, survey_of(state(60)), "copied twice", id="below the position"),
        pytest.param(101, survey_of(state(60)), "ends at 100", id="beyond the end"),
        pytest.param(5, survey_of(state(4), start=10), "begins at 10", id="before the log's start"),
        pytest.param(39, survey_of(mm2={P0: 40}), "copied twice", id="below what MM2 copied"),
        pytest.param(39, survey_of(state(10), mm2={P0: 40}), "copied twice", id="below what MM2 copied after us"),
    ],
)
def test_a_skip_that_makes_no_sense_is_refused_with_what_would(
    links: FlowLinks, offset: int, survey: Survey, words: str
) -> None:
    with pytest.raises(UsageRefused, match=words) as refusal:
        plan(links, survey, skip_to=offset)
    assert "airmirror resume 'A->B' --topic orders --partition 0 --" in refusal.value.next_step


def test_a_held_stretch_may_be_skipped_up_to_the_high_watermark(links: FlowLinks) -> None:
    (step,) = plan(links, survey_of(state(60), stable=60, end=100), skip_to=100).steps
    assert step.gap == gap(60, 100)


def test_a_restart_begins_at_the_log_start_with_a_new_history_and_says_what_will_stand_twice(links: FlowLinks) -> None:
    known = state(60, history=History(complete_from_start=True).append_run(0, 60, 0, 60))
    (step,) = plan(links, survey_of(known, remote_end=77)).steps
    assert (step.position, step.then, step.repeated, step.gap) == (60, 0, 60, None)
    assert step.state == replace(
        known,
        position=0,
        upstream_offset=0,
        downstream_offset=77,
        has_record=False,
        leader_epoch=None,
        # Not complete from the start: what expires before it is copied again has only its older copy.
        history=EMPTY,
        run=RUN,
    )


def test_a_restart_keeps_of_the_gaps_what_it_cannot_copy_now_either(links: FlowLinks) -> None:
    known = state(60, history=COPIED, gaps=(gap(2, 5), gap(8, 12), gap(20, 21)))
    (step,) = plan(links, survey_of(known, start=10)).steps
    assert (step.then, step.repeated, step.state.gaps) == (10, 50, (gap(2, 5), gap(8, 10)))


def test_a_restart_behind_lost_records_puts_them_on_record(links: FlowLinks) -> None:
    (step,) = plan(links, survey_of(state(4), start=10)).steps
    assert (step.then, step.gap) == (10, gap(4, 10, GapReason.RETENTION))
    assert step.state.gaps == (step.gap,)


@pytest.mark.parametrize(
    ("survey", "truncated", "offset", "logs", "expected_gap"),
    [
        pytest.param(survey_of(state(60), source_id=OTHER_ID), False, 5, Logs.SOURCE_RECREATED, gap(0, 5), id="source"),
        pytest.param(
            survey_of(state(60), target_id=OTHER_ID), False, 60, Logs.TARGET_RECREATED, gap(0, 60), id="target"
        ),
        pytest.param(survey_of(state(60), end=40), False, 40, Logs.TRUNCATED, None, id="cut off"),
        pytest.param(survey_of(state(60)), True, 70, Logs.TRUNCATED, gap(59, 70), id="overwritten"),
        pytest.param(survey_of(state(60)), True, 30, Logs.TRUNCATED, None, id="overwritten, going back"),
    ],
)
def test_a_skip_in_another_log_forgets_what_was_known_of_the_old_one(
    links: FlowLinks, survey: Survey, truncated: bool, offset: int, logs: Logs, expected_gap: Gap | None
) -> None:
    old = replace(state(60), history=COPIED, gaps=(gap(1, 2),))
    survey.states.states[P0] = old
    (step,) = plan(links, survey, frozenset({P0} if truncated else ()), skip_to=offset).steps
    assert (step.logs, step.then, step.gap) == (logs, offset, expected_gap)
    now = step.state
    assert (now.history, now.has_record, now.leader_epoch) == (EMPTY, False, None)
    assert (now.source_topic_id, now.target_topic_id) == (
        survey.source.topics[TOPIC].id,
        survey.target.topics["A.orders"].id,
    )
    kept = (gap(1, 2),) if logs is Logs.TRUNCATED else ()
    assert now.gaps == (*kept, *((expected_gap,) if expected_gap else ()))


def test_a_restart_in_a_new_remote_topic_copies_nothing_twice(links: FlowLinks) -> None:
    (step,) = plan(links, survey_of(state(60), target_id=OTHER_ID)).steps
    assert (step.then, step.repeated, step.gap) == (0, 0, None)
    assert step.state.history == History(complete_from_start=True)


def test_a_partition_that_was_never_copied_goes_on_from_its_first_position(links: FlowLinks) -> None:
    (step,) = plan(links, survey_of(firsts=(first_position(30, chosen_by="latest"),)), skip_to=40).steps
    assert (step.logs, step.position, step.gap) == (Logs.NEW, 30, gap(30, 40))
    assert (step.state.source_topic_id, step.state.target_topic_id) == (SOURCE_ID, TARGET_ID)
    (back,) = plan(links, survey_of(firsts=(first_position(30, chosen_by="latest"),)), skip_to=10).steps
    assert (back.then, back.gap, back.repeated) == (10, None, 0)


def test_a_remote_topic_with_foreign_data_may_be_appended_to(links: FlowLinks) -> None:
    (step,) = plan(links, survey_of(start=7, remote_end=50)).steps
    assert (step.logs, step.then, step.repeated, step.state.downstream_offset) == (Logs.NEW, 7, 0, 50)


def test_a_restart_also_repeats_what_mm2_copied_and_lets_its_position_be_old_news(tmp_path: Path) -> None:
    flow = flow_from(tmp_path)
    made = plan(links_of(flow), survey_of(mm2={P0: 40}))
    assert (made.steps[0].repeated, made.mm2_positions) == (40, {P0: 40})
    after = survey_of(made.steps[0].state, firsts=(first_position(40, chosen_by="mm2"),), mm2={P0: 40})
    (spec,) = judge(flow, links_of(flow), after).ready
    assert spec.position == 0


def test_a_restart_without_a_partition_means_all_of_them(links: FlowLinks) -> None:
    made = plan(links, survey_of(state(60), state(20, 1), partitions=3))
    assert [(s.partition.partition, s.position, s.then) for s in made.steps] == [(0, 60, 0), (1, 20, 0), (2, 0, 0)]


@pytest.mark.parametrize(
    ("survey", "ask", "error", "words"),
    [
        pytest.param(survey_of(partitions=3), {"skip_to": 5}, UsageRefused, "has 3 partitions", id="which partition?"),
        pytest.param(survey_of(), {"partition": 1, "skip_to": 5}, UsageRefused, "partitions 0 to 0", id="no such"),
        pytest.param(survey_of(remote_exists=False), {}, TopicNotFound, "does not exist on cluster B", id="no remote"),
    ],
)
def test_a_wrong_question_is_refused(
    links: FlowLinks, survey: Survey, ask: dict[str, int], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        plan(links, survey, **ask)


def test_a_topic_that_the_flow_does_not_copy_is_refused(links: FlowLinks) -> None:
    with pytest.raises(UsageRefused, match="copies no topic payments"):
        plan_resume(links, survey_of(), ResumeRequest(topic="payments"), run=RUN)


def test_a_partition_without_a_leader_is_not_guessed_at(links: FlowLinks) -> None:
    survey = survey_of(state(60))
    del survey.source.ends[P0]
    with pytest.raises(ClusterBusy, match="no leader"):
        plan(links, survey, skip_to=61)


def test_the_new_state_travels_over_the_wire(links: FlowLinks) -> None:
    (step,) = plan(links, survey_of(state(60, history=COPIED)), skip_to=61).steps
    assert PartitionState.decode(step.state.encode_key(), step.state.encode_value()) == step.state
