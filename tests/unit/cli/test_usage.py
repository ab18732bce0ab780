"""Wrong usage of commands: exit 2, a reason and what to do, before any cluster is asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flow_files import write_file
from mirror.cli.main import COMMANDS, main


@pytest.fixture
def config(tmp_path: Path) -> str:
    return str(write_file(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cpoy", "A->B"], "'flows', 'config', 'preflight'"),
        (["copy"], "required: FLOW"),
        (["copy", "A->C"], "A->B"),
        (["copy", "B->A"], "B->A.enabled = true"),
        (["copy", "A->B", "--window", "-1"], "invalid number of seconds"),
        (["copy", "A->B", "--window", "inf"], "invalid number of seconds"),
        (["copy", "A->B", "--window", "soon"], "invalid number of seconds"),
        (["copy", "A->B", "--topics", "orders("], "orders("),
        (["copy", "A->B", "--topics", "(?<!a*)b"], "--topics"),
        (["lag", "A->C"], "A->B"),
        (["verify", "A->B", "--newest", "0"], "invalid number of offsets"),
        (["verify", "A->B", "--from", "yesterday"], "expected a time"),
        (["verify", "A->B", "--newest", "5", "--all"], "not allowed with"),
        (["verify", "A->B", "--report", "report.txt"], ".html"),
        (["legacy", "--consumer.config", "a", "--include", "x"], "--producer.config"),
        (["legacy", "--consumer.config", "/no/a", "--producer.config", "/no/b", "--include", "x"], "/no/b"),
        (["resume", "A->B", "--restart"], "--topic"),
        (["resume", "A->B", "--topic", "t"], "--skip-to --restart"),
        (["resume", "A->B", "--topic", "t", "--restart", "--skip-to", "4"], "not allowed with"),
        (["resume", "A->B", "--topic", "t", "--skip-to", "four", "--yes"], "invalid int"),
        (["resume", "A->B", "--topic", "t", "--restart"], "add --yes"),
        (["resume", "A->B", "--topic", "t", "--restart", "--json"], "add --yes"),
    ],
)
def test_wrong_usage_is_told_and_exits_2(
    config: str, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    try:
        code = main(["--config", config, *arguments])
    except SystemExit as exit_:  # argparse's own
        code = int(str(exit_.code))
    told = capsys.readouterr()
    assert code == 2
    assert words in told.err
    assert not told.out


def test_a_file_that_enables_nothing_has_no_lag_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", str(write_file(tmp_path, flows=())), "lag"]) == 2
    assert "enables no flow" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_the_command_is_for(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([command, "--help"])
    assert exit_.value.code == 0
    assert f"usage: airmirror {command}" in capsys.readouterr().out


def test_the_help_of_all_lists_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    assert re.findall(r"^    (\w+)  ", told, re.M) == list(COMMANDS)
    assert "exit codes: 0 done" in told


@pytest.mark.parametrize(
    ("command", "taught"),
    [
        ("copy", ("--window SECONDS", "--master URL", "--topics REGEX", "Ctrl-C", "airmirror topics", "examples:")),
        ("lag", ("held since", "--partitions", "examples:")),
        ("resume", ("--skip-to OFFSET", "--restart", "as a gap", "twice", "examples:")),
    ],
)
def test_help_teaches(command: str, taught: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    told = capsys.readouterr().out
    assert [word for word in taught if word not in told] == []
