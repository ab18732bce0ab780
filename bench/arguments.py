"""What `make bench ARGS="..."` understands."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bench.contenders import CONTENDERS
from bench.shapes import SHAPES

RECORD_COUNT = 2_000_000
# Below it a run is over before anything is warm, and its numbers say nothing.
RECORD_COUNT_MIN = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """One run of the bench."""

    record_count: int
    shapes: tuple[str, ...]
    contenders: tuple[str, ...]
    rounds: int
    json: bool
    # Which of the two tables.
    speed: bool = True
    groups: bool = True


def parse(argv: Sequence[str] | None = None) -> Arguments:
    """Read the command line; what is wrong with it ends the program with exit code 2."""
    parser = argparse.ArgumentParser(
        prog="bench",
        description="MM2 and airmirror on the same topics: rate, CPU and start-up of the copy, "
        "and how well each carries consumer groups over.",
    )
    parser.add_argument(
        "--records",
        type=_record_count,
        default=RECORD_COUNT,
        metavar="N",
        help=f"records of each topic, {RECORD_COUNT_MIN:,} or more (default: {RECORD_COUNT:,})",
    )
    shapes = [shape.name for shape in SHAPES]
    _add_choice(parser, "--shapes", shapes)
    _add_choice(parser, "--contenders", [contender.name for contender in CONTENDERS])
    parser.add_argument(
        "--rounds",
        type=_rounds,
        default=1,
        metavar="N",
        help="let the contenders take turns so often, and print medians: for a machine whose speed changes",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout instead of the table")
    tables = parser.add_mutually_exclusive_group()
    tables.add_argument("--groups", action="store_true", help="only the table of consumer groups")
    tables.add_argument("--no-groups", action="store_true", help="only the table of the copy's speed")
    args = parser.parse_args(argv)
    return Arguments(
        record_count=args.records,
        shapes=args.shapes,
        contenders=args.contenders,
        rounds=args.rounds,
        json=args.json,
        speed=not args.groups,
        groups=not args.no_groups,
    )


def _add_choice(parser: argparse.ArgumentParser, flag: str, known: Sequence[str]) -> None:
    text = ", ".join(known)
    parser.add_argument(
        flag, type=lambda value: _some_of(value, known), default=tuple(known), metavar="A,B", help=f"some of {text}"
    )


def _rounds(text: str) -> int:
    count = _whole_number(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{count} rounds measure nothing: at least 1")
    return count


def _whole_number(text: str) -> int:
    try:
        return int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def _record_count(text: str) -> int:
    count = _whole_number(text)
    if count < RECORD_COUNT_MIN:
        raise argparse.ArgumentTypeError(f"{count:,} records are too few to measure: at least {RECORD_COUNT_MIN:,}")
    return count


def _some_of(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Names in the order of the bench, however they were written."""
    wanted = {name.strip() for name in text.split(",") if name.strip()}
    unknown = sorted(wanted - set(known))
    if unknown or not wanted:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown) or 'nothing'} is not among {', '.join(known)}")
    return tuple(name for name in known if name in wanted)
