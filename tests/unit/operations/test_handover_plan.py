"""Where MM2 is told to go on, and what it must not be given."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.copy.judge import judge
from mirror.copy.links import links_of
from mirror.copy.survey import Survey
from mirror.errors import FlowNotForward
from mirror.operations.failover_plan import refuse_returning
from mirror.operations.handover_plan import HandoverPart, notices_for, plan_part
from mirror.wire.connect_offset import ConnectOffset
from mirror.wire.flow_state import Direction, FlowState
from mirror.wire.history import History
from unit.copy.surveys import OTHER_ID, P0, first_position, state, survey_of

COMMITTED = "A.consumer.isolation.level = read_committed\n"
LATEST = COMMITTED + "A.consumer.auto.offset.reset = latest\n"


def part(directory: Path, survey: Survey, lines: str = "") -> HandoverPart:
    flow = flow_from(directory, lines)
    links = links_of(flow)
    return plan_part(links, survey, judge(flow, links, survey), {})


def connect_offset(offset: int | None) -> ConnectOffset:
    return ConnectOffset(connector="MirrorSourceConnector", cluster="A", topic="orders", partition=0, offset=offset)


@pytest.mark.parametrize(
    ("survey", "position", "written"),
    [
        pytest.param(survey_of(state(60)), 60, connect_offset(59), id="behind what we copied"),
        pytest.param(survey_of(state(60), mm2={P0: 40}), 60, connect_offset(59), id="MM2 was here before us"),
        pytest.param(survey_of(state(60), mm2={P0: 60}), 60, None, id="MM2's record says so already"),
        pytest.param(survey_of(state(60), mm2={P0: 90}), 90, None, id="MM2 copied on by itself"),
        pytest.param(
            survey_of(firsts=(first_position(33),), start=33), 33, connect_offset(32), id="nothing copied yet"
        ),
        pytest.param(survey_of(firsts=(first_position(0),)), 0, None, id="from the very beginning"),
        pytest.param(
            survey_of(state(0, has_record=False), firsts=(first_position(40, chosen_by="mm2"),), mm2={P0: 40}),
            0,
            connect_offset(None),
            id="restarted: MM2's old position is taken away",
        ),
    ],
)
def test_mm2_is_told_the_last_record_that_was_copied(
    tmp_path: Path, survey: Survey, position: int, written: ConnectOffset | None
) -> None:
    found = part(tmp_path, survey)
    (step,) = found.steps
    assert (step.position, step.connect_offset("A"), found.refusals) == (position, written, ())


def test_syncs_go_with_the_position(tmp_path: Path) -> None:
    copied = state(60, history=History(complete_from_start=True).append_run(0, 60, 5, 60), downstream_offset=64)
    (step,) = part(tmp_path, survey_of(copied)).steps
    assert step.syncs[-1] == copied.offset_sync()
    assert len(step.syncs) > 2


@pytest.mark.parametrize(
    ("survey", "words"),
    [
        pytest.param(survey_of(state(60), source_id=OTHER_ID), "deleted and made again", id="source made anew"),
        pytest.param(survey_of(state(60), target_id=OTHER_ID), "deleted and made again", id="remote made anew"),
        pytest.param(survey_of(state(60), remote_exists=False), "does not exist on cluster B", id="remote deleted"),
        pytest.param(survey_of(state(60), end=40), "ends at 40", id="truncated"),
        pytest.param(survey_of(state(60), start=80), "60 to 80 are gone", id="records lost since the last copy"),
    ],
)
def test_what_mm2_would_get_wrong_in_silence_is_refused_with_what_to_do(
    tmp_path: Path, survey: Survey, words: str
) -> None:
    (refusal,) = part(tmp_path, survey).refusals
    assert words in refusal.message
    assert "airmirror" in refusal.next_step


def test_a_topic_that_was_never_copied_is_left_to_mm2(tmp_path: Path) -> None:
    for survey in (survey_of(), survey_of(remote_exists=False)):
        found = part(tmp_path, survey)
        assert (found.steps, found.refusals) == ((), ())


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("", ["read_committed"]),
        (COMMITTED, []),
        (LATEST, ["latest"]),
        (COMMITTED + "airmirror.record.function = shlex:quote\n", ["record.function"]),
    ],
    ids=["uncommitted", "committed", "latest", "a function of one's own"],
)
def test_what_mm2_does_otherwise_with_the_same_file_is_said(tmp_path: Path, lines: str, words: list[str]) -> None:
    flow, found = flow_from(tmp_path, lines), part(tmp_path, survey_of(firsts=(first_position(0),)), lines)
    notices = notices_for(flow, (found,))
    assert len(notices) == len(words)
    assert all(word in notice for word, notice in zip(words, notices, strict=True))


@pytest.mark.parametrize(("state", "refused"), [("forward", False), ("failed-over", False), ("handed-over", True)])
def test_a_flow_that_is_mm2s_is_not_failed_over_and_says_how_to_take_it_back(
    tmp_path: Path, state: Direction, refused: bool
) -> None:
    flow = flow_from(tmp_path)
    turned = FlowState(flow="A->B", state=state, operation="handover-1", at_ms=5, by="a person")
    if not refused:
        refuse_returning(flow, turned)
        return
    with pytest.raises(FlowNotForward, match="handed over to MM2") as refusal:
        refuse_returning(flow, turned)
    assert refusal.value.next_step == "stop MM2, then: airmirror handover 'A->B' --back"
