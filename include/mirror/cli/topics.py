"""`airmirror topics FLOW`: which topics are copied and why; creates and grows what is missing on the target."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Literal

from mirror.cli.arguments import add_flow_argument, add_json_argument, load_configuration
from mirror.cli.tables import print_table
from mirror.config import Flow
from mirror.errors import UsageRefused
from mirror.kafka.cluster import Cluster
from mirror.topics import TopicPlan, TopicSummary, apply, discover


def add_parser(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "topics",
        help="decide which topics are copied, and create and grow them on the target",
        description="Creates the topics that FLOW copies where they are missing on the target, and grows them.",
    )
    add_flow_argument(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="change nothing; show every source topic with its decision and reason"
    )
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    if not flow.enabled and not args.dry_run:
        raise UsageRefused(
            f"flow {flow.id} is not enabled, so nothing is copied along it",
            next_step=f"set {flow.id}.enabled = true, or use --dry-run to see what would be copied",
            flow=flow.id,
        )
    with _clusters(flow) as (source, target):
        plan = discover(flow, source, target)
        if args.dry_run:
            _show_plan(plan, as_json=args.json)
            return 1 if plan.refused else 0
        summary = apply(plan, source, target)
    _show_summary(summary, as_json=args.json)
    if (failure := summary.failure()) is not None:
        raise failure
    return 0


@contextmanager
def _clusters(flow: Flow) -> Iterator[tuple[Cluster, Cluster]]:
    with (
        Cluster(flow.source, _settings(flow, "source")) as source,
        Cluster(flow.target, _settings(flow, "target")) as target,
    ):
        yield source, target


def _settings(flow: Flow, side: Literal["source", "target"]) -> dict[str, Any]:
    settings = flow.admin_settings(side)
    return {**settings, "client.id": f"{settings['client.id']}|topics"}


def _show_plan(plan: TopicPlan, *, as_json: bool) -> None:
    if as_json:
        document = {**plan.to_json(), "decisions": [asdict(decision) for decision in plan.decisions]}
        print(json.dumps(document, indent=2))
        return
    actions = {c.upstream_topic: f"create, {_partitions(c.topic.partition_count)}" for c in plan.creations}
    actions |= {g.upstream_topic: f"grow from {g.partition_count_now} to {g.partition_count}" for g in plan.growths}
    print_table(
        f"topics of {plan.source} for {plan.flow}",
        ("source topic", "decision", "remote topic", "would"),
        [
            (
                decision.topic,
                decision.reason,
                decision.remote_topic if decision.selected else "",
                actions.get(decision.topic, "nothing: it is there") if decision.selected else "",
            )
            for decision in plan.decisions
        ],
        wrapped=("source topic", "decision", "remote topic"),
        dim=[not decision.selected and not decision.refused for decision in plan.decisions],
    )
    for creation in plan.creations:
        if not creation.upstream_topic:
            print(f"would create internal topic {creation.topic.name} on {creation.cluster}")
    _print_notices(plan.notices)
    print(
        f"{plan.flow}: {plan.selected_count} of {plan.topic_count} topics selected; would create "
        f"{len(plan.creations)} and grow {len(plan.growths)}. Nothing was changed."
    )


def _show_summary(summary: TopicSummary, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary.to_json(), indent=2))
        return
    head = f"{summary.flow}: {summary.selected_count} of {summary.topic_count} topics selected; "
    if summary.changed_nothing and not summary.failures:
        _print_notices(summary.notices)
        print(head + "all are there, nothing to do.")
        return
    print_table(
        f"topics of {summary.flow}",
        ("cluster", "topic", "done"),
        list(_rows(summary)),
        wrapped=("topic", "done"),
    )
    _print_notices(summary.notices)
    print(head + f"created {len(summary.created)}, grew {len(summary.grown)}, failed {len(summary.failures)}.")


def _rows(summary: TopicSummary) -> Iterator[tuple[str, str, str]]:
    for creation in summary.created:
        topic = creation.topic
        settings = "".join(f", {name}={value}" for name, value in topic.configs.items())
        yield creation.cluster, topic.name, f"created, {_partitions(topic.partition_count)}{settings}"
    target = summary.flow.partition("->")[2]
    for growth in summary.grown:
        done = f"grown from {growth.partition_count_now} to {growth.partition_count} partitions"
        yield target, growth.topic, done
    for failure in summary.failures:
        yield failure.cluster, failure.topic, failure.error.message


def _partitions(count: int) -> str:
    return "1 partition" if count == 1 else f"{count} partitions"


def _print_notices(notices: tuple[str, ...]) -> None:
    for notice in notices:
        print(f"note: {notice}")
