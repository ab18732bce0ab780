"""`airmirror groups FLOW`: checkpoints for the source's groups, and their offsets on the target."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, load_configuration
from mirror.cli.quantities import count_text, counted
from mirror.cli.tables import print_table
from mirror.errors import UsageRefused
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.groups.summaries import CheckpointSummary, GroupOutcome, OffsetSummary

HELP = "translate consumer groups' offsets, and move the target's idle groups"
DESCRIPTION = """Translates what the source's groups committed, publishes it as checkpoints in MM2's format, and, where
sync.group.offsets.enabled is true, moves the groups of the same name on the target: only groups that nobody uses there,
and never backwards."""
EPILOG = """examples:
  airmirror groups 'east->west' --dry-run             what would be moved, and what not and why
  airmirror groups 'east->west' --group billing       one group alone
  airmirror groups 'east->west' --group billing --rewind
                                                      also back to an earlier offset, because its source group went back
where a group's offset lies on both sides: airmirror translate FLOW --group G"""
# Rows of a table that a person still reads; --json has all.
ROWS_MAX = 100


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "groups", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    parser.add_argument("--group", metavar="G", help="only this group")
    parser.add_argument(
        "--rewind", action="store_true", help="move the group named by --group also backwards, and though the file "
        "does not sync group offsets"
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="change nothing; show what would be done and why")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.rewind and not args.group:
        raise UsageRefused("--rewind moves a group backwards: say which", next_step="airmirror groups FLOW --group G")
    flow = load_configuration(args).flow(args.flow)
    if not flow.enabled and not args.dry_run:
        raise UsageRefused(
            f"flow {flow.id} is not enabled, so nothing is copied along it",
            next_step=f"set {flow.id}.enabled = true, or use --dry-run to see what would be done",
            flow=flow.id,
        )
    checkpoints, planned = run_checkpoints(flow, only=args.group, dry_run=args.dry_run)
    offsets = run_group_offsets(
        flow,
        only=args.group,
        rewind=args.rewind,
        dry_run=args.dry_run,
        planned=planned if args.dry_run else (),
    )
    if args.json:
        whole = {"checkpoints": checkpoints.to_json(), "offsets": offsets.to_json(at_most=len(offsets.outcomes))}
        print(json.dumps({"flow": flow.id, "dry_run": args.dry_run, **whole}, indent=2))
    else:
        _print(checkpoints, offsets, dry_run=args.dry_run)
    for failure in (checkpoints.failure(), offsets.failure()):
        if failure is not None:
            raise failure
    return 0


def _print(checkpoints: CheckpointSummary, offsets: OffsetSummary, *, dry_run: bool) -> None:
    rows = [row for outcome in offsets.outcomes if outcome.word != "in place" for row in _rows(outcome, dry_run)]
    if rows:
        print_table(
            f"groups on {offsets.flow.partition('->')[2]}",
            ("group", "outcome", "topic", "partition", "from", "to", "reason"),
            rows[:ROWS_MAX],
            wrapped=("group", "topic", "reason"),
            right=("partition", "from", "to"),
        )
        if len(rows) > ROWS_MAX:
            print(f"and {len(rows) - ROWS_MAX} more rows: --json")
    for reason, count in checkpoints.untranslated.most_common():
        print(f"not translated: {counted(count, 'partition')}: {reason}")
    left_out = {**checkpoints.left_out, **(checkpoints.filtered if dry_run else {})}
    for group, reason in list(left_out.items())[:ROWS_MAX]:
        print(f"left out: {group}: {reason}")
    for line in dict.fromkeys(text for text in (checkpoints.not_done, offsets.not_done) if text):
        print(f"note: {line}")
    print(_headline(checkpoints, offsets, dry_run=dry_run))


def _rows(outcome: GroupOutcome, dry_run: bool) -> Iterator[tuple[str, ...]]:
    moved = "would move" if dry_run else "moved"
    for move in outcome.moves:
        before = "none" if move.before is None else count_text(move.before)
        place = (move.partition.topic, str(move.partition.partition))
        yield outcome.group, moved, *place, before, count_text(move.offset), ""
    for left in outcome.left:
        now = "none" if left.offset is None else count_text(left.offset)
        yield outcome.group, "left alone", left.partition.topic, str(left.partition.partition), now, "", left.reason
    if outcome.error is not None and not outcome.left:
        yield outcome.group, "failed", "", "", "", "", outcome.error.message


def _headline(checkpoints: CheckpointSummary, offsets: OffsetSummary, *, dry_run: bool) -> str:
    document = checkpoints.to_json()
    written = "would write" if dry_run else "wrote"
    early = f", {document['early']} early by at most {document['early_by_at_most']}" if document["early"] else ""
    text = (
        f"{checkpoints.flow}: {counted(document['groups'], 'group')}, {counted(document['partitions'], 'partition')}: "
        f"{document['exact']} exact{early}; {written} {counted(checkpoints.written, 'checkpoint')}"
    )
    if not offsets.not_done:
        counts = {word: len(offsets.of(word)) for word in ("moved", "in place", "left alone", "failed")}
        text += "; groups " + ", ".join(f"{word} {count}" for word, count in counts.items())
    return text + (". Nothing was changed." if dry_run else ".")
