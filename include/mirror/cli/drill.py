"""`airmirror drill FLOW`: rehearses a failover, and tells what it would have lost and how long it would have taken."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from mirror.cli.arguments import add_flow_argument, add_json_argument, load_configuration, regex
from mirror.cli.ending import exit_code, terminated_like_interrupted
from mirror.cli.quantities import count_text, counted, duration_text, moment_text
from mirror.cli.report_file import add_report_argument, write_report
from mirror.cli.tables import print_table
from mirror.operations.drill import DrillPlan, DrillReport, DrillRequest, plan_drill, run_drill
from mirror.operations.drill.page import report_page

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
# Rows of a table that a person still reads; --json has all.
ROWS_MAX = 100


def add_parser(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "drill",
        help=HELP,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_flow_argument(parser)
    parser.add_argument(
        "--groups", metavar="REGEX", type=regex, help="only groups whose whole name matches this Java regex"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the plan and write nothing")
    add_report_argument(parser)
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    request = DrillRequest(groups=args.groups)
    if args.dry_run:
        plan = plan_drill(flow, request)
        print(json.dumps({**plan.to_json(), "dry_run": True}, indent=2)) if args.json else _print_plan(plan)
        return 0
    try:
        with terminated_like_interrupted():
            report = run_drill(flow, request, lambda text: print(text, file=sys.stderr))
    except KeyboardInterrupt as interrupt:
        print("airmirror: the drill was interrupted; its groups are removed", file=sys.stderr)
        return exit_code(interrupt)
    if args.report:
        write_report(Path(args.report), report.to_json(), report_page(report))
    print(json.dumps(report.to_json(), indent=2)) if args.json else _print_report(report)
    if (failure := report.failure()) is not None:
        raise failure
    return 0


def _print_plan(plan: DrillPlan) -> None:
    rows = [
        (group.group, str(len(group.offsets)), str(len(group.without_offset)), "; ".join(group.left_alone))
        for group in plan.groups
    ]
    print_table(
        f"{plan.flow}: groups to rehearse",
        ("group", "partitions", "without offset", "a failover would leave it alone: "),
        rows[:ROWS_MAX],
        wrapped=("group", "a failover would leave it alone: "),
        right=("partitions", "without offset"),
    )
    if len(rows) > ROWS_MAX:
        print(f"and {len(rows) - ROWS_MAX} more rows: --json")
    if plan.leftovers:
        print(f"note: {counted(len(plan.leftovers), 'group')} of an earlier drill would be removed first")
    if plan.not_chosen:
        print(f"note: {counted(plan.not_chosen, 'group')} not chosen")
    print("Nothing was changed.")


def _print_report(report: DrillReport) -> None:
    rows = [
        (
            group.group,
            "; ".join(group.failures) or "yes",
            str(len(group.partitions)),
            "" if group.joined_s is None else duration_text(group.joined_s),
            "" if group.first_record_s is None else duration_text(group.first_record_s),
            count_text(group.read_again),
        )
        for group in sorted(report.groups, key=lambda group: not group.failures)
    ]
    print_table(
        f"{report.flow}: groups on {report.flow.partition('->')[2]}",
        ("group", "went on as it should", "partitions", "joined", "first record", "read again at most"),
        rows[:ROWS_MAX],
        wrapped=("group", "went on as it should"),
        right=("partitions", "joined", "first record", "read again at most"),
    )
    if len(rows) > ROWS_MAX:
        print(f"and {len(rows) - ROWS_MAX} more rows: --json")
    for verdict, count in report.verdicts.most_common():
        print(f"{counted(count, 'partition')}: {verdict}")
    point = report.point
    oldest = f", the oldest {duration_text(point.behind_s)} old" if point.missing else ""
    newest = "" if point.newest_age_s is None else f"; newest record there {duration_text(point.newest_age_s)} old"
    print(f"recovery point: {counted(point.missing, 'record')} missing at {moment_text(point.at_ms)}{oldest}{newest}")
    print(f"recovery time: {duration_text(report.recovery_s)}, of which moving groups {duration_text(report.moved_s)}")
    print(f"{report.flow}: drill {'passed' if report.passed else 'FAILED'}; {report.compared} records compared.")
