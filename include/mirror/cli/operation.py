"""What commands that turn a flow have in common: their arguments, the plan or report shown, the report kept."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from mirror.cli.arguments import add_flow_argument, add_json_argument
from mirror.cli.questions import add_question_arguments
from mirror.cli.report_file import add_report_argument, write_report
from mirror.cli.spark_start import add_master_argument
from mirror.cli.tables import print_table
from mirror.copy.progress import SilentProgress
from mirror.operations.pages import ROWS_MAX
from mirror.operations.report import Section, Tells, markdown


class Report(Tells, Protocol):
    """What is left of an operation."""

    @property
    def title(self) -> str: ...


class SaidProgress(SilentProgress):
    """The steps, one line each, on stderr."""

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def add_operation_arguments(parser: argparse.ArgumentParser) -> None:
    add_flow_argument(parser)
    add_question_arguments(parser)
    add_report_argument(parser)
    add_master_argument(parser)
    add_json_argument(parser)


def show(told: Tells, *, as_json: bool, **more: Any) -> None:
    """One document, or the sections as tables."""
    if as_json:
        print(json.dumps({**told.to_json(), **more}, indent=2))
        return
    for section in told.sections():
        _print(section)


def _print(section: Section) -> None:
    if section.rows:
        print_table(section.heading, section.headings, section.rows[:ROWS_MAX], wrapped=section.headings)
        if len(section.rows) > ROWS_MAX:
            print(f"  and {len(section.rows) - ROWS_MAX:,} more: --json")
    else:
        print(section.heading)
    for text in section.text:
        print(f"  {text}")
    for command in section.commands:
        print(f"    {command}")
    print()


def keep(report: Report, path: str | None) -> None:
    """Write the report where it was asked for."""
    if path is not None:
        write_report(Path(path), report.to_json(), markdown(report.title, report.sections()))
        print(f"report: {path}", file=sys.stderr)


@contextmanager
def run_by(name: str) -> Iterator[None]:
    """Say in the claim and in the flow's state which command it was."""
    before = os.environ.get("AIRMIRROR_RUN_BY")
    os.environ["AIRMIRROR_RUN_BY"] = before or name
    try:
        yield
    finally:
        if before is None:
            del os.environ["AIRMIRROR_RUN_BY"]
