"""What commands that turn a flow have in common: the plan shown, the question asked, the report told and kept."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from mirror.cli.arguments import add_flow_argument, add_json_argument
from mirror.cli.tables import print_table
from mirror.copy.progress import SilentProgress
from mirror.errors import UsageRefused
from mirror.operations.report import Section, page
from mirror.spark import LOCAL_MASTER


class Told(Protocol):
    """A plan or a report."""

    def sections(self) -> Sequence[Section]: ...

    def to_json(self) -> dict[str, Any]: ...


class Report(Told, Protocol):
    """What is left of an operation."""

    @property
    def title(self) -> str: ...


class SaidProgress(SilentProgress):
    """The steps, one line each, on stderr."""

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def add_operation_arguments(parser: argparse.ArgumentParser) -> None:
    add_flow_argument(parser)
    parser.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--report", metavar="FILE", type=Path, help="keep the report: FILE.html for people, FILE.json for programs"
    )
    parser.add_argument("--master", metavar="URL", default=LOCAL_MASTER, help="Spark's master (default: %(default)s)")
    add_json_argument(parser)


def require_somebody_to_ask(args: argparse.Namespace, name: str) -> None:
    """Before anything is looked at: without a terminal nobody could agree."""
    if args.report is not None and args.report.suffix not in (".html", ".json"):
        raise UsageRefused(f"--report {args.report}: expected a name that ends in .html or .json")
    if args.yes or args.dry_run:
        return
    if args.json or not sys.stdin.isatty():
        raise UsageRefused(
            f"{name} asks before it changes anything, and there is no terminal to ask at",
            next_step="add --yes, or --dry-run to see what it would do",
        )


def agreed(question: str, ask: Callable[[str], str] = input) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        return ask("").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def show(told: Told, *, as_json: bool, **more: Any) -> None:
    """One document, or the sections as tables."""
    if as_json:
        print(json.dumps({**told.to_json(), **more}, indent=2))
        return
    for section in told.sections():
        _print(section)


def _print(section: Section) -> None:
    if section.rows:
        print_table(section.heading, section.headings, section.rows, wrapped=section.headings)
    else:
        print(section.heading)
    for text in section.text:
        print(f"  {text}")
    for command in section.commands:
        print(f"    {command}")
    print()


def keep(report: Report, path: Path | None) -> None:
    """Write the report where it was asked for."""
    if path is None:
        return
    text = json.dumps(report.to_json(), indent=2) if path.suffix == ".json" else page(report.title, report.sections())
    path.write_text(text, encoding="utf-8")
    print(f"report: {path}", file=sys.stderr)


@contextmanager
def run_by(name: str) -> Iterator[None]:
    """Say in the claim and in the flow's state which command it was."""
    import os

    before = os.environ.get("AIRMIRROR_RUN_BY")
    os.environ["AIRMIRROR_RUN_BY"] = before or name
    try:
        yield
    finally:
        if before is None:
            del os.environ["AIRMIRROR_RUN_BY"]
