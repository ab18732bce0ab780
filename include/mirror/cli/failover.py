"""`airmirror failover FLOW`: lets applications go on at the target; works without Airflow and without the source."""

from __future__ import annotations

import argparse
from typing import Any

from mirror.cli import copy
from mirror.cli.arguments import add_command, load_configuration
from mirror.cli.operation import SaidProgress, add_operation_arguments, keep, run_by, show
from mirror.cli.questions import agreed, require_somebody_to_ask
from mirror.operations.failover import run_failover
from mirror.operations.failover_plan import FailoverRequest, plan_failover
from mirror.operations.silence import SILENCE_S

HELP = "let applications go on at the target"
DESCRIPTION = """Moves the work to FLOW's target: the flow is shut, consumer groups are set to where they stood, and
a report says what is there, what is missing and what to type next. Nothing is copied along the flow until failback.

--planned (the default): the source is alive and its producers are stopped. Everything is copied, the newest records
are compared, groups move exactly. A source that still gets records stops it, and nothing is changed.
--unplanned: the source is gone and is not asked anything. Groups move to their newest checkpoints; what is missing is
told per partition as "at least n, as of T", from the source as it was last seen."""
EPILOG = """Safe to run again at any point: one that was killed goes on where it was, a finished one tells its report.

examples:
  airmirror failover 'east->west' --dry-run                      what would be done now
  airmirror failover 'east->west'                                planned: producers on east are stopped
  airmirror failover 'east->west' --unplanned --report day.html  east is gone
exit codes: 0 done, 1 not done or some groups failed, 2 wrong usage or configuration"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "failover", run, HELP, DESCRIPTION, EPILOG)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--planned", action="store_true", help="the source is alive and silent (the default)")
    mode.add_argument("--unplanned", action="store_true", help="the source is gone: ask it nothing")
    parser.add_argument(
        "--producers-still-write",
        action="store_true",
        help="planned, although the source gets records: what comes behind the last copy stays there",
    )
    parser.add_argument(
        "--silence",
        metavar="SECONDS",
        type=float,
        default=SILENCE_S,
        help="how long the source's ends must not move (default: %(default)s)",
    )
    parser.add_argument(
        "--verify-newest",
        metavar="N",
        type=int,
        default=1000,
        help="newest records per partition to compare before groups move; 0: none (default: %(default)s)",
    )
    add_operation_arguments(parser)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    require_somebody_to_ask(args, "failover")
    request = FailoverRequest(
        planned=not args.unplanned,
        producers_still_write=args.producers_still_write,
        silence_s=args.silence,
        verify_newest=args.verify_newest,
    )
    if args.dry_run or not args.yes:
        plan = plan_failover(flow, request)
        show(plan, as_json=args.json, changed=False)
        if args.dry_run:
            return 0
        if not agreed(args, f"Fail {flow} over to {flow.target}?"):
            return 1
    with run_by("airmirror failover"), copy.make_executor(args.master, flow) as executor:
        report = run_failover(flow, request, SaidProgress(), executor=lambda: executor)
    show(report, as_json=args.json, changed=True)
    keep(report, args.report)
    return 1 if any(group["outcome"] == "failed" for group in report.groups) else 0
