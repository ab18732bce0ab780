"""`airmirror preflight FLOW`: looks at everything that the flow needs before it runs."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, load_configuration
from mirror.cli.quantities import counted
from mirror.cli.tables import print_table
from mirror.operations.preflight.checks import Report
from mirror.operations.preflight.run import preflight

HELP = "check clusters, rights, names and settings before a flow runs"
DESCRIPTION = """Checks what FLOW needs before it runs: that both clusters answer and are two, how new their brokers
are, every right, each missing one with the command that grants it, names that clash, replication factors, settings
that the target would refuse, partitions that a copy would stop at. Nothing is changed on either cluster."""
EPILOG = """unknown: it could not be determined, and the reason says why; so are rights on topics that do not exist yet,
where the ACLs may not be listed. All rights, and what makes each unnecessary: docs/permissions.md

examples:
  airmirror preflight 'east->west'
  airmirror preflight 'east->west' --json | jq -r '.checks[] | select(.status == "failed") | .next_step'

exit codes: 0 nothing failed, 1 a check failed, 2 wrong usage or configuration"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "preflight", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    report = preflight(flow, say=lambda text: print(text, file=sys.stderr))
    if args.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        _print(report)
    return 1 if report.has_failed else 0


def _print(report: Report) -> None:
    print_table(
        f"preflight of {report.flow}",
        ("area", "check", "status", "reason"),
        [(check.area, check.subject, check.status, check.reason) for check in report.checks],
        wrapped=("check", "reason"),
        dim=[check.status == "ok" for check in report.checks],
    )
    steps = dict.fromkeys((c.status, c.next_step) for c in report.checks if c.status != "ok" and c.next_step)
    for status, step in steps:
        print(f"{status}, next: {step}")
    counts = report.counts
    print(
        f"{report.flow}: {counted(counts['ok'], 'check')} ok, {counted(counts['warning'], 'warning')}, "
        f"{counts['unknown']} unknown, {counts['failed']} failed."
    )
