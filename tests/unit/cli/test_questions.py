"""Nothing but a yes is a yes, and nobody is asked who cannot answer."""

from __future__ import annotations

import argparse
import sys

import pytest

from mirror.cli.questions import ask, require_somebody_to_ask
from mirror.errors import UsageRefused


@pytest.mark.parametrize(
    ("answer", "is_yes"), [("y", True), ("YES ", True), ("", False), ("n", False), ("yesterday", False)]
)
def test_only_yes_is_yes(answer: str, is_yes: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("Go on?", lambda _: answer) is is_yes
    assert capsys.readouterr().err == "Go on? [y/N] "


def test_no_answer_is_no() -> None:
    def nobody(_: str) -> str:
        raise EOFError

    assert ask("Go on?", nobody) is False


@pytest.mark.parametrize(
    ("given", "terminal", "refused"),
    [
        pytest.param({}, True, False, id="at a terminal"),
        pytest.param({}, False, True, id="in a script"),
        pytest.param({"json": True}, True, True, id="for a program"),
        pytest.param({"yes": True}, False, False, id="agreed beforehand"),
        pytest.param({"dry_run": True, "json": True}, False, False, id="only looking"),
    ],
)
def test_who_cannot_answer_is_told_beforehand(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, bool], terminal: bool, refused: bool
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal)
    args = argparse.Namespace(**{"yes": False, "dry_run": False, "json": False, **given})
    if refused:
        with pytest.raises(UsageRefused, match="handover asks before"):
            require_somebody_to_ask(args, "handover")
    else:
        require_somebody_to_ask(args, "handover")
