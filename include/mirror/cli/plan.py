"""`airmirror plan FLOW`: what the next run of every task would change; writes nothing."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, load_configuration
from mirror.cli.plan_report import print_plan
from mirror.operations.planning import plan_flow

HELP = "show what the next run of every task would change"
DESCRIPTION = """Shows what the next run of each of FLOW's tasks would change: topics created and grown, settings and
ACLs, records from which offset to which, checkpoints, group offsets, heartbeats. It reads both clusters and writes
nothing."""
EPILOG = """Carried out with `airmirror topics`, `copy`, `groups` and `heartbeats`, or by the flow's Dags. Records are
planned as if the topics were made already. Groups are planned by what is copied now; those that stand in records yet
to be copied are named, and have their place in the next plan.

examples:
  airmirror plan 'east->west'
  airmirror plan 'east->west' --json | jq .records.offsets

exit codes: 0 the next runs would succeed, 1 they would fail in part or whole, 2 wrong usage or configuration"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "plan", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    parser.add_argument(
        "--cores",
        metavar="N",
        type=int,
        default=os.cpu_count() or 1,
        help="cores that Spark would give, one slot each (default: this machine's, %(default)s)",
    )
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    plan = plan_flow(flow, cores=max(args.cores, 1), say=lambda text: print(text, file=sys.stderr))
    if args.json:
        print(json.dumps(plan.to_json(), indent=2))
    else:
        print_plan(plan)
    return 1 if plan.errors or (plan.topics is not None and plan.topics.refused) else 0
