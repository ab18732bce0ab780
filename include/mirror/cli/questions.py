"""Questions at the terminal, for commands that change what cannot be changed back by itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from mirror.errors import UsageRefused


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
