"""`airmirror failback FLOW`: brings what was written on the target home, and lets the flow go forward again."""

from __future__ import annotations

import argparse
from typing import Any, get_args

from mirror.cli import copy
from mirror.cli.arguments import add_command, load_configuration
from mirror.cli.operation import SaidProgress, add_operation_arguments, keep, run_by, show
from mirror.cli.questions import agreed, require_somebody_to_ask
from mirror.operations.failback import run_failback
from mirror.operations.failback_preview import plan_failback
from mirror.operations.failback_request import FailbackRequest, SurvivorChoice
from mirror.operations.silence import SILENCE_S

HELP = "bring what was written on the target home, and go forward again"
DESCRIPTION = """After a failover of FLOW, when its source is back: what applications wrote on the target since then
returns to the topics it came from, and only that. Records on the source that were never copied (survivors) are found
and listed. Groups are set before the first record that they have not seen. Then the flow goes forward as before.

A source that was rebuilt empty, or lost the end of its logs, is seeded again from the target."""
EPILOG = """Stop the producers on the target before, and start them on the source when it is done. A target that still
gets records ends it with what is there returned; run again, it goes on. So does one that was killed.

survivors:
  copy     to the target first, so that groups meet them wherever they are (the default)
  keep     where they are; they are copied when all has returned
  ignore   never copied; on record as a gap

examples:
  airmirror failback 'east->west' --dry-run             what would return, and which survivors there are
  airmirror failback 'east->west' --report home.html
exit codes: 0 done, 1 not done or some groups failed, 2 wrong usage or configuration"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "failback", run, HELP, DESCRIPTION, EPILOG)
    parser.add_argument(
        "--survivors",
        choices=get_args(SurvivorChoice),
        default="copy",
        help="what becomes of records on the source that were never copied (default: %(default)s)",
    )
    parser.add_argument(
        "--producers-still-write",
        action="store_true",
        help="go on although the target gets records: what comes behind the last copy does not return",
    )
    parser.add_argument(
        "--silence",
        metavar="SECONDS",
        type=float,
        default=SILENCE_S,
        help="how long the target's ends must not move (default: %(default)s)",
    )
    add_operation_arguments(parser)


def run(args: argparse.Namespace) -> int:
    configuration = load_configuration(args)
    flow = configuration.flow(args.flow)
    home = configuration.opposite(flow)
    require_somebody_to_ask(args, "failback")
    request = FailbackRequest(
        survivors=args.survivors, producers_still_write=args.producers_still_write, silence_s=args.silence
    )
    if args.dry_run or not args.yes:
        show(plan_failback(flow, home, request), as_json=args.json, changed=False)
        if args.dry_run:
            return 0
        if not agreed(args, f"Bring {flow} back to {flow.source}?"):
            return 1
    with run_by("airmirror failback"), copy.make_executor(args.master, flow) as executor:
        report = run_failback(flow, home, request, SaidProgress(), executor=lambda: executor)
    show(report, as_json=args.json, changed=True)
    keep(report, args.report)
    return 1 if any(group["outcome"] == "failed" for group in report.groups) else 0
