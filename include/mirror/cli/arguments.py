"""What commands have in common: the file they read, the flow they are about."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from mirror.config import Configuration, Flow, java_regex, load
from mirror.errors import ConfigurationRefused, UsageRefused


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    description: str,
    epilog: str | None = None,
) -> argparse.ArgumentParser:
    """The parser of one command; its texts are printed as they are written."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_flow_argument(
    parser: argparse.ArgumentParser, *, optional: bool = False, left_out: str = "every enabled flow"
) -> None:
    """The argument FLOW; with `optional` it may be left out, which means every enabled flow if nothing else is said."""
    text = 'the flow, as "A->B" or A-to-B' + (f" (default: {left_out})" if optional else "")
    parser.add_argument("flow", metavar="FLOW", nargs="?" if optional else None, help=text)


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """The flag --json: one document on stdout, and nothing else there."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_topics_argument(parser: argparse.ArgumentParser) -> None:
    """The option --topics: a part of the flow."""
    parser.add_argument(
        "--topics", metavar="REGEX", type=regex, help="only source topics whose whole name matches this Java regex"
    )


def add_take_over_argument(parser: argparse.ArgumentParser) -> None:
    """The flag --take-over, for what needs the flow's claim."""
    parser.add_argument("--take-over", action="store_true", help="take the flow from a copy that is still alive")


def regex(text: str) -> re.Pattern[str]:
    """The type of an argument that is a Java regex, as in the file."""
    try:
        return java_regex.compile_java(text)
    except java_regex.RegexRefused as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def load_configuration(args: argparse.Namespace) -> Configuration:
    """The file that --config or AIRMIRROR_CONFIG names; its warnings go to stderr, once."""
    try:
        configuration = load(args.config)
    except ConfigurationRefused as refusal:
        # Also now: a misspelt name is often the reason why something else is missing.
        _print_warnings(refusal.about.get("warnings", ()))
        raise
    _print_warnings(configuration.warnings)
    return configuration


def _print_warnings(warnings: Iterable[object]) -> None:
    for warning in warnings:
        print(f"airmirror: warning: {warning}", file=sys.stderr)


def chosen_flows(configuration: Configuration, args: argparse.Namespace) -> tuple[Flow, ...]:
    """The one flow that the command names, or all enabled ones."""
    if args.flow:
        return (configuration.flow(args.flow),)
    if not configuration.enabled_flows:
        raise UsageRefused(f"{configuration.path.name} enables no flow", next_step="write A->B.enabled = true in it")
    return configuration.enabled_flows
