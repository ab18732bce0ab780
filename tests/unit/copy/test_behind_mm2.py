"""MM2's position is followed when it is news, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.copy.judge import judge
from mirror.copy.links import links_of
from mirror.copy.survey import Survey
from unit.copy.surveys import OTHER_ID, P0, first_position, state, survey_of


def position(tmp_path: Path, survey: Survey, lines: str = "") -> int:
    flow = flow_from(tmp_path, lines)
    (spec,) = judge(flow, links_of(flow), survey).ready
    return spec.position


@pytest.mark.parametrize(
    ("survey", "expected"),
    [
        pytest.param(survey_of(state(70), mm2={P0: 40}), 70, id="MM2 is behind us"),
        pytest.param(survey_of(state(70), mm2={P0: 90}), 90, id="MM2 copied on while we stood still"),
        pytest.param(survey_of(firsts=(first_position(40, chosen_by="mm2"),), mm2={P0: 40}), 40, id="taken over"),
        pytest.param(
            survey_of(state(10), firsts=(first_position(40, chosen_by="mm2"),), mm2={P0: 40}), 10, id="restarted since"
        ),
        pytest.param(
            survey_of(state(10), firsts=(first_position(40, chosen_by="mm2"),), mm2={P0: 60}),
            60,
            id="MM2 moved after the take-over",
        ),
    ],
)
def test_a_position_of_mm2_is_followed_once(tmp_path: Path, survey: Survey, expected: int) -> None:
    assert position(tmp_path, survey) == expected


def test_a_topic_made_anew_is_copied_from_its_beginning_although_mm2_copied_the_old_one(tmp_path: Path) -> None:
    taken_over = first_position(40, chosen_by="mm2")
    survey = survey_of(state(70), source_id=OTHER_ID, firsts=(taken_over,), mm2={P0: 40})
    assert position(tmp_path, survey, "airmirror.on.recreated = restart\n") == 0
