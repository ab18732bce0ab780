"""`airmirror lag`: how far each flow is behind, in records and in seconds, and what holds it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, chosen_flows, load_configuration
from mirror.cli.quantities import count_text, counted, duration_text, moment_text
from mirror.cli.tables import print_table
from mirror.config import Flow
from mirror.errors import MirrorError
from mirror.status import FlowLag, PartitionLag, TopicLag, measure_lag

HELP = "show how far a flow is behind, in records and in seconds"
DESCRIPTION = """Shows how far FLOW is behind: offsets between the position (the next to copy) and the source's end, and
the age of the first record not yet copied. It reads both clusters and writes nothing."""
EPILOG = """lag counts offsets: aborted records and transaction markers among them are stepped over, not copied.
held since: the source has a transaction open since then; what lies behind it is copied when it ends.

examples:
  airmirror lag                                  every enabled flow, one line per topic
  airmirror lag 'east->west' --partitions        one line per partition
  airmirror lag 'east->west' --json | jq .flows[0].lag_records"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "lag", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser, optional=True)
    parser.add_argument("--partitions", action="store_true", help="one line per partition instead of per topic")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    flows = chosen_flows(load_configuration(args), args)
    measured, failures = _measure(flows)
    if args.json:
        print(json.dumps({"flows": [*(lag.to_json() for lag in measured), *_failed(failures)]}, indent=2))
    else:
        for lag in measured:
            _print(lag, by_partition=args.partitions)
    if len(failures) == 1:
        raise next(iter(failures.values()))
    for flow, error in failures.items():
        print(f"airmirror: {flow}: {error}", file=sys.stderr)
    return 1 if failures else 0


def _measure(flows: Iterable[Flow]) -> tuple[list[FlowLag], dict[str, MirrorError]]:
    """One cluster that is down must not hide the flows between the others."""
    measured: list[FlowLag] = []
    failures: dict[str, MirrorError] = {}
    for flow in flows:
        try:
            measured.append(measure_lag(flow))
        except MirrorError as error:
            failures[flow.id] = error
    return measured, failures


def _failed(failures: Mapping[str, MirrorError]) -> list[dict[str, Any]]:
    return [{"flow": flow, "error": error.to_json()} for flow, error in failures.items()]


def _print(lag: FlowLag, *, by_partition: bool) -> None:
    if lag.partitions:
        if by_partition:
            _print_partitions(lag)
        else:
            _print_topics(lag)
    for partition in lag.stopped:
        _print_stop(partition)
    for topic, why in sorted(lag.waiting.items()):
        print(f"waiting: {topic}: {why}")
    for notice in lag.notices:
        print(f"note: {notice}")
    print(_headline(lag))


def _headline(lag: FlowLag) -> str:
    if not lag.partitions:
        return f"{lag.flow}: no topic is selected"
    if lag.never_copied:
        return f"{lag.flow}: never copied; {counted(lag.lag, 'record')} to copy: airmirror copy '{lag.flow}'"
    commit = f"; newest commit {moment_text(lag.committed_ms)}" if lag.committed_ms else ""
    if not lag.lag:
        return f"{lag.flow}: nothing is behind{commit}"
    return f"{lag.flow}: {counted(lag.lag, 'record')} behind, the oldest by {duration_text(lag.behind_s)}{commit}"


def _print_topics(lag: FlowLag) -> None:
    headings = ("topic", "partitions", "lag", "behind", "worst partition", "state", "gaps", "newest commit")
    rows = [_topic_row(topic, lag.at_ms) for topic in lag.topics]
    right = ("partitions", "lag", "behind", "gaps")
    print_table(lag.flow, headings, rows, wrapped=("state",), right=right, dim=[not t.lag for t in lag.topics])


def _topic_row(topic: TopicLag, now_ms: int) -> list[str]:
    worst = topic.worst
    return [
        topic.topic,
        count_text(len(topic.partitions)),
        count_text(topic.lag),
        _age(topic.behind_s(now_ms)),
        f"{worst.partition.partition} at {count_text(worst.position)}" if worst.state != "current" else "",
        _state(worst, topic.held_since_ms),
        count_text(topic.gaps) if topic.gaps else "",
        moment_text(topic.committed_ms) if topic.committed_ms else "never",
    ]


def _print_partitions(lag: FlowLag) -> None:
    headings = ("topic", "partition", "position", "source end", "lag", "behind", "state", "gaps", "newest commit")
    rows = [_partition_row(partition, lag.at_ms) for partition in lag.partitions]
    right = ("partition", "position", "source end", "lag", "behind")
    print_table(
        lag.flow, headings, rows, wrapped=("state", "gaps"), right=right, dim=[not p.lag for p in lag.partitions]
    )


def _partition_row(lag: PartitionLag, now_ms: int) -> list[str]:
    gaps = [
        f"[{gap.start}, {gap.end}) {gap.reason.name.lower()}" for gap in (*lag.gaps, *([lag.lost] if lag.lost else []))
    ]
    return [
        lag.partition.topic,
        str(lag.partition.partition),
        count_text(lag.position),
        count_text(lag.end),
        "?" if lag.lag is None else count_text(lag.lag),
        _age(lag.behind_s(now_ms)),
        _state(lag, lag.held_since_ms),
        ", ".join(gaps),
        moment_text(lag.committed_ms) if lag.committed_ms else "never",
    ]


def _age(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return duration_text(seconds) if seconds else ""


def _state(lag: PartitionLag, held_since_ms: int | None) -> str:
    if held_since_ms is not None and lag.state == "held":
        return f"held since {moment_text(held_since_ms)}"
    return "" if lag.state in ("current", "behind") else lag.state


def _print_stop(lag: PartitionLag) -> None:
    told = lag.stopped or {}
    print(f"stopped: {told.get('message', lag.partition)}")
    if told.get("next_step"):
        print(f"  next: {told['next_step']}")
