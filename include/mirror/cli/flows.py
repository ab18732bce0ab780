"""`airmirror flows`: what the file replicates."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from mirror.cli.arguments import add_command, add_json_argument, load_configuration
from mirror.cli.quantities import moment_text
from mirror.cli.tables import print_table
from mirror.config import Flow
from mirror.config import options as opt
from mirror.errors import MirrorError

HELP = "list the flows of the configuration, and which way each goes"
DESCRIPTION = """Lists the flows of the configuration, and the state that each has on its target: forward, failed over
or returning; unknown where the target does not answer within a few seconds."""
# Seconds to wait for a target: this is a quick look, and a dead cluster must not make it a long one.
PATIENCE_S = 3.0


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "flows", run, HELP, DESCRIPTION)
    parser.add_argument("--offline", action="store_true", help="ask no cluster: only what the file says")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    configuration = load_configuration(args)
    states = {} if args.offline else _states(configuration.flows)
    rows = [{**describe(flow), "state": states.get(flow.id)} for flow in configuration.flows]
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


def _states(flows: Sequence[Flow]) -> dict[str, dict[str, Any]]:
    """Which way each enabled flow goes, as its target says; all targets are asked at once."""
    asked = [flow for flow in flows if flow.enabled]
    with ThreadPoolExecutor(max(len(asked), 1)) as threads:
        return dict(zip((flow.id for flow in asked), threads.map(_state, asked), strict=True))


def _state(flow: Flow) -> dict[str, Any]:
    from mirror.copy.gate import read_direction
    from mirror.copy.links import links_of
    from mirror.kafka.cluster import Cluster

    links = links_of(flow)
    with Cluster(flow.target, links.target_admin) as target:
        if not target.answers(PATIENCE_S):
            return {"state": "unknown", "reason": f"cluster {flow.target} does not answer"}
        try:
            found = read_direction(links, target)
        except MirrorError as error:
            return {"state": "unknown", "reason": error.message}
    if found is None:
        return {"state": "forward"}
    return {"state": found.state, "since_ms": found.at_ms, "operation": found.operation, "by": found.by}


def _state_text(state: dict[str, Any] | None) -> str:
    if state is None or state["state"] == "forward":
        return "" if state is None else "forward"
    if state["state"] == "unknown":
        return f"unknown: {state['reason']}"
    return f"{state['state']} since {moment_text(state['since_ms'])}"


def _print_flows(rows: list[dict[str, Any]], file: str) -> None:
    cells = [
        [
            row["flow"],
            "yes" if row["enabled"] else ("heartbeats only" if row["heartbeats"] else "no"),
            row["policy"],
            ", ".join(row["topics"]),
            ", ".join(row["groups"]),
            (row["schedule"] or "by hand") if row["enabled"] else "",
            _state_text(row["state"]),
        ]
        for row in rows
    ]
    headings = ("flow", "enabled", "policy", "topics", "groups", "copy schedule", "state")
    print_table(
        f"flows of {file}", headings, cells, wrapped=("topics", "groups", "state"), dim=[not r["enabled"] for r in rows]
    )
