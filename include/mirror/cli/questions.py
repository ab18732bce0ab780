"""Questions at the terminal, for commands that change what cannot be changed back by itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Protocol, TypeVar

from mirror.errors import UsageRefused


class Decided(Protocol):
    """A plan that can be compared with the one that was agreed to."""

    @property
    def decision(self) -> object: ...


Plan = TypeVar("Plan", bound=Decided)


def add_question_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of a command that shows a plan and asks: --dry-run and --yes."""
    parser.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def require_somebody_to_ask(args: argparse.Namespace, command: str) -> None:
    """Refuse to begin where the question could not be asked."""
    if args.yes or args.dry_run:
        return
    if args.json or not sys.stdin.isatty():
        raise UsageRefused(
            f"{command} asks before it changes anything, and there is no terminal to ask at",
            next_step="add --yes, or --dry-run to see what it would do",
        )


def ask(question: str, answer: Callable[[str], str] = input) -> bool:
    """Whether a person says yes; anything else is no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    try:
        return answer("").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def agreed(args: argparse.Namespace, question: str) -> bool:
    """Whether the command may go on, by --yes or by a person; says so if it may not."""
    if args.yes or ask(question):
        return True
    print("nothing was changed", file=sys.stderr)
    return False


def still_agreed(shown: Plan, plan: Plan, print_plan: Callable[[Plan], None], question: str) -> bool:
    """What was agreed to still holds, or is asked again: the flow may have gone on since the plan was shown."""
    if plan.decision == shown.decision:
        return True
    print("the flow moved on meanwhile:", file=sys.stderr)
    print_plan(plan)
    return ask(question)
