"""Resume asks before it changes anything, and again when what was agreed to no longer holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.cli import questions, resume
from mirror.copy.links import links_of
from mirror.copy.resume_plan import ResumePlan, ResumeRequest, plan_resume
from unit.copy.surveys import TOPIC, state, survey_of


def plan(directory: Path, position: int, skip_to: int | None) -> ResumePlan:
    links = links_of(flow_from(directory))
    return plan_resume(links, survey_of(state(position)), ResumeRequest(topic=TOPIC, skip_to=skip_to), run="r")


def test_the_same_decision_is_not_asked_again_and_another_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []
    monkeypatch.setattr(questions, "ask", lambda question: asked.append(question) or True)
    shown = plan(tmp_path, 60, 61)
    assert questions.still_agreed(shown, plan(tmp_path, 60, 61), resume._print_plan, resume.QUESTION)
    assert not asked
    assert questions.still_agreed(shown, plan(tmp_path, 59, 61), resume._print_plan, resume.QUESTION)
    assert asked == [resume.QUESTION]
    assert "59 → 61" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("position", "skip_to", "words"),
    [(60, None, "will stand on the target twice"), (60, 61, "recorded as a gap")],
    ids=["restart", "skip"],
)
def test_the_plan_warns_of_what_cannot_be_undone(
    tmp_path: Path, position: int, skip_to: int | None, words: str
) -> None:
    (warning,) = resume.warnings(plan(tmp_path, position, skip_to).steps)
    assert words in warning
