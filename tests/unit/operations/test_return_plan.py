"""Back from MM2: whatever stands elsewhere than we left it is MM2's doing, and is followed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.copy.control import ControlState
from mirror.copy.judge import judge
from mirror.copy.links import links_of
from mirror.copy.survey import Survey
from mirror.operations.return_plan import ReturnPart, plan_return
from mirror.wire.history import EMPTY, Exact, History, Unknown
from unit.copy.surveys import OTHER_ID, P0, SOURCE_ID, first_position, state, survey_of

HISTORY = History(complete_from_start=True).append_run(0, 60, 0, 60)


def back(directory: Path, survey: Survey) -> ReturnPart:
    return plan_return(links_of(flow_from(directory)), survey, run="back")


def after(survey: Survey, part: ReturnPart) -> Survey:
    """The survey that the next copy makes, when the plan was carried out."""
    states, firsts = dict(survey.states.states), dict(survey.control.first_positions)
    for step in part.steps:
        if step.state is not None:
            states[step.partition] = step.state
        if step.first is not None:
            firsts[step.partition] = step.first
    control = replace(survey.control, first_positions=firsts)
    return replace(survey, states=replace(survey.states, states=states), control=control)


@pytest.mark.parametrize(
    ("survey", "expected"),
    [
        pytest.param(survey_of(state(60), mm2={P0: 90}), 90, id="MM2 copied on"),
        pytest.param(survey_of(state(60), mm2={P0: 60}), 60, id="MM2 copied nothing"),
        pytest.param(survey_of(state(60), mm2={P0: 20}), 20, id="MM2 went back and copied again"),
        pytest.param(survey_of(firsts=(first_position(0),), mm2={P0: 70}), 70, id="nothing of ours was copied"),
        pytest.param(survey_of(state(60)), 60, id="MM2 never wrote a position"),
        pytest.param(
            survey_of(state(60), firsts=(first_position(90, chosen_by="mm2"),), mm2={P0: 90}),
            90,
            id="MM2 stands again where it was once followed",
        ),
    ],
)
def test_the_next_copy_goes_on_where_mm2_stands(tmp_path: Path, survey: Survey, expected: int) -> None:
    flow = flow_from(tmp_path)
    seen = after(survey, back(tmp_path, survey))
    (spec,) = judge(flow, links_of(flow), seen).ready
    assert spec.position == expected
    again = back(tmp_path, seen)
    assert (again.steps, again.unchanged) == ((), 1), "taken back twice, nothing is done the second time"


def test_what_mm2_copied_is_mm2s_to_translate_and_the_next_record_lands_at_the_end(tmp_path: Path) -> None:
    survey = survey_of(state(60, history=HISTORY), mm2={P0: 90}, remote_end=95)
    (step,) = back(tmp_path, survey).steps
    assert step.state is not None
    assert step.state.history == EMPTY
    assert step.state.translate(90) == Exact(95)
    assert isinstance(step.state.translate(70), Unknown)
    assert step.first is not None
    assert (step.first.position, step.first.chosen_by, step.first.source_topic_id) == (90, "mm2", SOURCE_ID)


@pytest.mark.parametrize("made_anew", [{"source_id": OTHER_ID}, {"target_id": OTHER_ID}, {"remote_exists": False}])
def test_a_topic_made_anew_meanwhile_is_left_to_a_person(tmp_path: Path, made_anew: dict[str, object]) -> None:
    survey = survey_of(state(60), mm2={P0: 90}, **made_anew)  # type: ignore[arg-type]
    (step,) = back(tmp_path, survey).steps
    assert (step.state, step.first, step.then) == (None, None, 60)
    assert "made anew" in step.note


@pytest.mark.parametrize(
    ("mm2", "position"), [(60, 0), (75, None)], ids=["as we gave it: old news", "moved: of which topic, nobody knows"]
)
def test_a_topic_made_anew_is_not_set_behind_a_position_that_we_gave_mm2(
    tmp_path: Path, mm2: int, position: int | None
) -> None:
    flow = flow_from(tmp_path, "airmirror.on.recreated = restart\n")
    survey = survey_of(state(60), source_id=OTHER_ID, mm2={P0: mm2})
    control: ControlState = replace(survey.control, given_to_mm2={P0: 60})
    judgement = judge(flow, links_of(flow), replace(survey, control=control))
    assert [spec.position for spec in judgement.ready] == ([] if position is None else [position])
    assert len(judgement.stopped) == (position is None)
