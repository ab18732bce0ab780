"""`airmirror resume FLOW --topic T`: lets a stopped partition go on where a person says."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from mirror.cli.arguments import (
    add_command,
    add_flow_argument,
    add_json_argument,
    add_take_over_argument,
    load_configuration,
)
from mirror.cli.quantities import count_text
from mirror.cli.questions import add_question_arguments, agreed, require_somebody_to_ask, still_agreed
from mirror.cli.tables import print_table
from mirror.copy.driver import new_run_id
from mirror.copy.resume import preview, resume
from mirror.copy.resume_plan import Logs, ResumePlan, ResumeRequest, ResumeStep

HELP = "let a stopped partition go on where you say"
DESCRIPTION = """Sets where the copy of a topic goes on, for what a person must decide: a record that the target
refuses, a source topic that was deleted and made again, a truncated log, records that are gone.
Shows what it would do and asks; the next copy goes on from there."""
EPILOG = """--skip-to leaves out what lies before OFFSET and records it as a gap; `airmirror lag` shows gaps.
--restart copies from the first record that the source still has; what was copied before stands on the target twice.

examples:
  airmirror resume 'east->west' --topic orders --partition 3 --skip-to 1042    leave out the record at 1041
  airmirror resume 'east->west' --topic orders --restart                       from the beginning, all partitions
  airmirror resume 'east->west' --topic orders --restart --dry-run             only show what would change"""

QUESTION = "Change these positions?"


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "resume", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    parser.add_argument("--topic", metavar="T", required=True, help="the topic, by its name on the source")
    parser.add_argument("--partition", metavar="P", type=int, help="one partition (default with --restart: all)")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--skip-to", metavar="OFFSET", type=int, help="go on at this upstream offset")
    where.add_argument("--restart", action="store_true", help="go on from the log's start")
    add_question_arguments(parser)
    add_take_over_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    require_somebody_to_ask(args, "resume")
    os.environ.setdefault("AIRMIRROR_RUN_BY", "airmirror resume")
    request = ResumeRequest(topic=args.topic, partition=args.partition, skip_to=args.skip_to)
    run_id = new_run_id()
    shown = preview(flow, request, run_id)
    if not args.json:
        _print_plan(shown)
    if args.dry_run:
        _close(shown, args, changed=False)
        return 0
    if not agreed(args, QUESTION):
        return 1
    done = resume(
        flow,
        request,
        run_id,
        agree=lambda plan: args.yes or still_agreed(shown, plan, _print_plan, QUESTION),
        say=lambda text: print(text, file=sys.stderr),
        on_held="take-over" if args.take_over else "wait",
    )
    if done is None:
        print("nothing was changed", file=sys.stderr)
        return 1
    _close(done, args, changed=True)
    return 0


def _print_plan(plan: ResumePlan) -> None:
    headings = ("topic", "partition", "position now → then", "skipped", "copied twice", "because")
    rows = [
        [
            step.partition.topic,
            step.partition.partition,
            f"{count_text(step.position)} → {count_text(step.then)}",
            count_text(step.gap.end - step.gap.start) if step.gap else "",
            count_text(step.repeated) if step.repeated else "",
            step.logs.value if step.logs is not Logs.SAME else "",
        ]
        for step in plan.steps
    ]
    print_table(f"{plan.flow}: resume", headings, rows, right=("partition", "skipped", "copied twice"))
    for warning in warnings(plan.steps):
        print(warning)


def warnings(steps: tuple[ResumeStep, ...]) -> list[str]:
    """What a person should know before agreeing."""
    told = []
    if any(step.repeated for step in steps):
        told.append("warning: records that were copied before will stand on the target twice")
    if any(step.gap for step in steps):
        told.append("warning: what is skipped is not copied any more; it is recorded as a gap")
    if any(step.logs is Logs.TRUNCATED and not step.repeated for step in steps):
        told.append(
            "note: records that the truncated log lost stay on the target; those that replaced them are left out"
        )
    return told


def _close(plan: ResumePlan, args: argparse.Namespace, *, changed: bool) -> None:
    if args.json:
        print(json.dumps({**plan.to_json(), "changed": changed}, indent=2))
    elif changed:
        print(f"{plan.flow}: positions are set; go on with: airmirror copy '{plan.flow}'")
    else:
        print("nothing was changed")
