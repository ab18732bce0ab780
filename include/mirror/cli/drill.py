"""`airmirror drill FLOW`: rehearses a failover, and tells what it would have lost and how long it would have taken."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, load_configuration, regex
from mirror.cli.ending import exit_code, terminated_like_interrupted
from mirror.cli.operation import keep, show
from mirror.cli.report_file import add_report_argument
from mirror.operations.drill import DrillRequest, plan_drill, run_drill
from mirror.operations.drill.page import told_plan, told_report

HELP = "rehearse a failover, without touching the flow or its groups"
DESCRIPTION = """Rehearses a failover of FLOW while all is well. Each group gets a copy under another name on the
target, with the offsets that a failover would give it now, from what is stored on the target alone; a real consumer
joins the copy and reads its first records, which are compared with the source's. Tells what would have been lost
(recovery point) and how long it would have taken (recovery time), and deletes the copies. The flow, its groups and its
topics stay as they are. If a group would not go on as it should, the command ends with exit code 1."""
EPILOG = """examples:
  airmirror drill 'east->west' --dry-run                 which groups, and where they would stand
  airmirror drill 'east->west'                           every group that has a checkpoint
  airmirror drill 'east->west' --groups 'billing.*'      only these
  airmirror drill 'east->west' --report drill.html       and a page to keep, for whoever asks

on a schedule, in Airflow: airmirror.drill.schedule in the file"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "drill", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    parser.add_argument(
        "--groups", metavar="REGEX", type=regex, help="only groups whose whole name matches this Java regex"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the plan and write nothing")
    add_report_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    request = DrillRequest(groups=args.groups)
    if args.dry_run:
        show(told_plan(plan_drill(flow, request)), as_json=args.json, dry_run=True)
        return 0
    try:
        with terminated_like_interrupted():
            report = run_drill(flow, request, lambda text: print(text, file=sys.stderr))
    except KeyboardInterrupt as interrupt:
        print("airmirror: the drill was interrupted; its groups are removed", file=sys.stderr)
        return exit_code(interrupt)
    told = told_report(report)
    show(told, as_json=args.json)
    keep(told, args.report)
    if (failure := report.failure()) is not None:
        raise failure
    return 0
