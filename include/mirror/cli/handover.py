"""`airmirror handover FLOW`: lets MM2 go on behind airmirror, and takes the flow back."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from mirror.cli.arguments import (
    add_command,
    add_flow_argument,
    add_json_argument,
    add_take_over_argument,
    load_configuration,
)
from mirror.cli.failures import raise_joined
from mirror.cli.quantities import count_text, counted
from mirror.cli.questions import add_question_arguments, agreed, require_somebody_to_ask, still_agreed
from mirror.cli.tables import print_table
from mirror.config import Flow
from mirror.copy.driver import new_run_id
from mirror.operations.handover import hand_over, preview, preview_return, take_back
from mirror.operations.handover_plan import HandoverPlan
from mirror.operations.return_plan import ReturnPlan

HELP = "let MM2 go on behind airmirror, or take the flow back"
DESCRIPTION = """Writes MirrorMaker 2's own positions and offset syncs, so that an MM2 started with the same file
goes on exactly behind what airmirror copied. From then on airmirror writes nothing along the flow, until it is taken
back. Shows what it would do and asks. MM2 must not be running, here or for --back."""
EPILOG = """For MM2 in dedicated mode (connect-mirror-maker.sh). MM2 copies at least once: stopped in order, it leaves
no record twice; killed, it leaves some behind its last position, whoever goes on. docs/mm2.md has it step by step.

examples:
  airmirror handover 'east->west' --dry-run       where MM2 would go on, partition by partition
  airmirror handover 'east->west'                 hand it over; then start MM2
  airmirror handover 'east->west' --back          MM2 is stopped: airmirror goes on behind it"""
HAND_OVER, TAKE_BACK = "Hand the flow over to MM2?", "Take the flow back from MM2?"
# Rows of a table that a person still reads; --json has all.
ROWS_MAX = 200

Plan = TypeVar("Plan", HandoverPlan, ReturnPlan)


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "handover", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    parser.add_argument("--back", action="store_true", help="take the flow back from an MM2 that was stopped")
    add_question_arguments(parser)
    add_take_over_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    require_somebody_to_ask(args, "handover")
    os.environ.setdefault("AIRMIRROR_RUN_BY", "airmirror handover")
    return _take_back(flow, args) if args.back else _hand_over(flow, args)


def _hand_over(flow: Flow, args: argparse.Namespace) -> int:
    shown = preview(flow)
    _show(shown, args, _print_handover)
    raise_joined(shown.refusals)
    if args.dry_run:
        return _close(shown, args, "nothing was changed")
    if not agreed(args, HAND_OVER):
        return 1
    done = hand_over(
        flow,
        new_run_id(),
        agree=lambda plan: args.yes or still_agreed(shown, plan, _print_handover, HAND_OVER),
        say=_say,
        on_held="take-over" if args.take_over else "wait",
    )
    if done is not None:
        raise_joined(done.refusals)
    return _close(done, args, f"{flow} is MM2's now: start MM2 with this file")


def _take_back(flow: Flow, args: argparse.Namespace) -> int:
    run_id = new_run_id()
    shown = preview_return(flow, run_id)
    _show(shown, args, _print_return)
    if args.dry_run:
        return _close(shown, args, "nothing was changed")
    if not agreed(args, TAKE_BACK):
        return 1
    done = take_back(
        flow,
        run_id,
        agree=lambda plan: args.yes or still_agreed(shown, plan, _print_return, TAKE_BACK),
        say=_say,
        on_held="take-over" if args.take_over else "wait",
    )
    return _close(done, args, f"{flow} is airmirror's again; go on with: airmirror copy '{flow}'")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _show(plan: Plan, args: argparse.Namespace, print_plan: Callable[[Plan], None]) -> None:
    if not args.json:
        print_plan(plan)


def _print_handover(plan: HandoverPlan) -> None:
    headings = ("topic", "partition", "MM2 goes on at", "its position now", "offset syncs")
    rows = [
        [
            step.partition.topic,
            step.partition.partition,
            count_text(step.position),
            "none" if step.mm2_position is None else count_text(step.mm2_position),
            len(step.syncs) or "",
        ]
        for step in plan.steps
    ]
    print_table(f"{plan.flow}: handover to MM2", headings, rows[:ROWS_MAX], right=headings[1:])
    _print_rest(len(rows))
    for notice in plan.notices:
        print(f"note: {notice}")


def _print_return(plan: ReturnPlan) -> None:
    headings = ("topic", "partition", "handed over at", "airmirror goes on at", "note")
    rows = [
        [
            step.partition.topic,
            step.partition.partition,
            count_text(step.position),
            count_text(step.then),
            step.note,
        ]
        for step in plan.steps
    ]
    if rows:
        print_table(f"{plan.flow}: back from MM2", headings, rows[:ROWS_MAX], right=headings[1:4], wrapped=("note",))
        _print_rest(len(rows))
    print(f"{plan.flow}: MM2 copied nothing in {counted(plan.unchanged, 'partition')}")


def _print_rest(count: int) -> None:
    if count > ROWS_MAX:
        print(f"and {count - ROWS_MAX} more rows: --json")


def _close(plan: HandoverPlan | ReturnPlan | None, args: argparse.Namespace, words: str) -> int:
    if plan is None:
        _say("nothing was changed")
        return 1
    if args.json:
        print(json.dumps({**plan.to_json(), "changed": not args.dry_run}, indent=2))
    else:
        print(words)
    return 0
