"""`airmirror topics FLOW`: makes the target's topics, their settings and their ACLs what the flow wants them to be."""

from __future__ import annotations

import argparse
import json
from typing import Any

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, load_configuration
from mirror.cli.failures import raise_joined
from mirror.cli.topics_report import Plans, print_plans, print_summaries
from mirror.config import Flow
from mirror.copy.gate import require_flow_forward
from mirror.errors import MirrorError, UsageRefused
from mirror.kafka.cluster import Cluster
from mirror.operations.rights import note_rights
from mirror.topics import apply, apply_acls, apply_settings, compare_acls, compare_settings, discover
from mirror.topics.acls import AclSummary, acls_switch
from mirror.topics.forwarding import clusters_of
from mirror.topics.settings_sync import SettingsSummary, settings_switch
from mirror.topics.values import unless_off

HELP = "make the target's topics, settings and ACLs what the flow wants"
DESCRIPTION = """Creates the topics that FLOW copies where they are missing on the target, grows them, makes their
settings equal to the source's, and copies the ACLs of their readers. Run again, it changes nothing."""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "topics", run, HELP, DESCRIPTION)
    add_flow_argument(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="change nothing; show every source topic's decision and every change"
    )
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    if not flow.enabled and not args.dry_run:
        raise UsageRefused(
            f"flow {flow.id} is not enabled, so nothing is copied along it",
            next_step=f"set {flow.id}.enabled = true, or use --dry-run to see what would be copied",
            flow=flow.id,
        )
    with clusters_of(flow, "topics") as (source, target):
        return _show(flow, source, target, args) if args.dry_run else _mirror(flow, source, target, args)


def _show(flow: Flow, source: Cluster, target: Cluster, args: argparse.Namespace) -> int:
    plans = Plans(
        topics=discover(flow, source, target),
        settings=unless_off(settings_switch(flow), lambda: compare_settings(flow, source, target)),
        acls=unless_off(acls_switch(flow), lambda: compare_acls(flow, source, target)),
    )
    if args.json:
        print(json.dumps(plans.to_json(), indent=2))
    else:
        print_plans(plans)
    raise_joined(plans.errors())
    return 1 if plans.topics.refused else 0


def _mirror(flow: Flow, source: Cluster, target: Cluster, args: argparse.Namespace) -> int:
    require_flow_forward(flow)
    topics = apply(discover(flow, source, target), source, target)

    # Only now: what was just made is compared too, and a failure of one part leaves the others done.
    def equal_settings() -> SettingsSummary:
        plan = compare_settings(flow, source, target)
        require_flow_forward(flow)
        return apply_settings(plan, target)

    def equal_acls() -> AclSummary:
        plan = compare_acls(flow, source, target)
        require_flow_forward(flow)
        summary = apply_acls(plan, target)
        note_rights(flow, source, target)
        return summary

    settings = unless_off(settings_switch(flow), equal_settings)
    acls = unless_off(acls_switch(flow), equal_acls)
    if args.json:
        parts = {"settings": settings, "acls": acls}
        print(json.dumps({**topics.to_json(), **{n: part.to_json() for n, part in parts.items()}}, indent=2))
    else:
        print_summaries(topics, settings, acls)
    failures = [settings if isinstance(settings, MirrorError) else settings.failure()]
    failures += [acls if isinstance(acls, MirrorError) else acls.failure()]
    raise_joined([error for error in (topics.failure(), *failures) if error is not None])
    return 0
