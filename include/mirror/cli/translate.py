"""`airmirror translate FLOW --group G`: where one group goes on on the target, partition by partition."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import Any

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, load_configuration
from mirror.cli.quantities import count_text, counted
from mirror.cli.tables import print_table
from mirror.config import Flow
from mirror.copy.links import links_of
from mirror.errors import MirrorError
from mirror.groups.discovery import GroupSelector, discover_groups
from mirror.groups.run import clusters_of, refuse_missing, translate_found
from mirror.groups.values import GroupPartition, GroupsFound
from mirror.kafka.groups import GroupCluster, Offsets

HELP = "show where a group of the source goes on on the target"
DESCRIPTION = """Translates the offsets of one group of FLOW's source, and shows beside them what the group of the same
name has on the target. It reads both clusters and writes nothing."""
EPILOG = """early: no record is skipped from there, and at most so many are seen again.

examples:
  airmirror translate 'east->west' --group billing
  airmirror translate 'east->west' --group billing --json | jq '.partitions[] | select(.exact | not)'"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "translate", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    parser.add_argument("--group", metavar="G", required=True, help="the group")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    links = links_of(flow)
    with clusters_of(links) as (source, target):
        found = _whatever_the_filter_says(flow, source, args.group)
        refuse_missing(flow, args.group, found)
        if (failure := found.failures.get(args.group)) is not None:
            raise failure
        partitions = translate_found(flow, links, source, target, found).partitions
        there = target.committed([args.group])[args.group]
        idle = target.idle([args.group])[args.group]
    for answer in (there, idle):
        if isinstance(answer, MirrorError):
            raise answer
    offsets: Offsets = {} if isinstance(there, MirrorError) else there
    excluded = "" if (judged := GroupSelector(flow).judge_name(args.group))[0] else judged[1]
    if args.json:
        rows = [{**p.to_json(), "target_offset": _offset(offsets, p)} for p in partitions]
        document = {"flow": flow.id, "group": args.group, "idle_on_target": idle, "left_out": excluded}
        print(json.dumps({**document, "partitions": rows}, indent=2))
    else:
        _print(flow, args.group, partitions, offsets)
        print(f"on {flow.target} {'nobody uses the group' if idle else 'the group has members'}")
        if excluded:
            print(f"note: `airmirror groups` leaves it out: {excluded}")
    return 0


def _whatever_the_filter_says(flow: Flow, source: GroupCluster, group: str) -> GroupsFound:
    """A person asks about this one: `groups` decides what is written, not what may be looked at."""
    found = discover_groups(flow, source, only=group)
    if group in found.groups or group in found.failures or group not in source.groups().consumer:
        return found
    offsets = source.committed([group])[group]
    if isinstance(offsets, MirrorError):
        return replace(found, failures={group: offsets})
    return replace(found, groups={group: offsets}) if offsets else found


def _offset(offsets: Offsets, partition: GroupPartition) -> int | None:
    now = offsets.get(partition.remote)
    return None if now is None else now.offset


def _print(flow: Flow, group: str, partitions: tuple[GroupPartition, ...], offsets: Offsets) -> None:
    print_table(
        f"{group}, {flow.id}",
        ("topic", "partition", f"on {flow.source}", f"on {flow.target}", "", "reason", f"has on {flow.target}"),
        [
            (
                p.partition.topic,
                p.partition.partition,
                count_text(p.committed.offset),
                "" if p.answer.downstream is None else count_text(p.answer.downstream),
                _quality(p),
                p.answer.reason,
                "none" if (now := _offset(offsets, p)) is None else count_text(now),
            )
            for p in partitions
        ],
        wrapped=("topic", "reason"),
        right=("partition", f"on {flow.source}", f"on {flow.target}", f"has on {flow.target}"),
    )


def _quality(partition: GroupPartition) -> str:
    if partition.answer.downstream is None:
        return "not known"
    if partition.answer.is_exact:
        return "exact"
    return f"at most {counted(partition.answer.early_by, 'record')} early"
