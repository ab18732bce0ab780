"""`airmirror flows`: what the file replicates."""

from __future__ import annotations

import argparse
import json
from datetime import timedelta
from typing import Any

from mirror.cli.arguments import add_json_argument, load_configuration
from mirror.cli.tables import print_table
from mirror.config import Flow
from mirror.config import options as opt

HELP = "list the flows of the configuration"


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("flows", help=HELP, description=HELP)
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    configuration = load_configuration(args)
    rows = [describe(flow) for flow in configuration.flows]
    if args.json:
        print(json.dumps({"file": str(configuration.path), "flows": rows}, indent=2))
    else:
        _print_flows(rows, str(configuration.path))
    return 0


def describe(flow: Flow) -> dict[str, Any]:
    """One flow as a small document."""
    schedule = flow[opt.COPY_SCHEDULE]
    return {
        "flow": flow.id,
        "slug": flow.slug,
        "enabled": flow.enabled,
        "heartbeats": flow[opt.EMIT_HEARTBEATS_ENABLED],
        "policy": flow[opt.REPLICATION_POLICY_CLASS].rpartition(".")[2],
        "topics": list(flow[opt.TOPICS]),
        "topics_exclude": list(flow[opt.TOPICS_EXCLUDE]),
        "groups": list(flow[opt.GROUPS]),
        "schedule": f"every {int(schedule.total_seconds())} s" if isinstance(schedule, timedelta) else schedule,
        "window_seconds": flow[opt.COPY_WINDOW_SECONDS],
    }


def _print_flows(rows: list[dict[str, Any]], file: str) -> None:
    cells = [
        [
            row["flow"],
            "yes" if row["enabled"] else ("heartbeats only" if row["heartbeats"] else "no"),
            row["policy"],
            ", ".join(row["topics"]),
            ", ".join(row["groups"]),
            (row["schedule"] or "by hand") if row["enabled"] else "",
        ]
        for row in rows
    ]
    headings = ("flow", "enabled", "policy", "topics", "groups", "copy schedule")
    print_table(f"flows of {file}", headings, cells, wrapped=("topics", "groups"), dim=[not r["enabled"] for r in rows])
