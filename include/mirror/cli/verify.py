"""`airmirror verify FLOW`: compares both sides of a flow, record by record, and tells every difference."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from mirror.cli.arguments import (
    add_command,
    add_flow_argument,
    add_json_argument,
    add_topics_argument,
    load_configuration,
)
from mirror.cli.ending import exit_code, terminated_like_interrupted
from mirror.cli.quantities import count_text, counted, duration_text
from mirror.cli.report_file import add_report_argument, write_report
from mirror.cli.spark_start import add_master_argument, announced
from mirror.cli.tables import print_table
from mirror.config import Flow
from mirror.config.starts import StartTimestamp, parse_start
from mirror.operations.report import markdown
from mirror.operations.verify_page import told_report
from mirror.spark import SparkExecutor
from mirror.verify import PartitionReport, VerifyReport, run_verify
from mirror.verify.structure import PARTS

HELP = "compare both sides of a flow, record by record"
DESCRIPTION = """Compares what FLOW copied with its source: every record's key, value, headers and timestamp, their
order, what is missing, doubled or too much, and whether the offset map is right about each. Topics, partition counts,
settings, ACLs and groups' offsets are compared too. Changes nothing, and may run beside a copy."""
EPILOG = """No difference, and counted: records not copied yet; what retention took on one side; what compaction took,
if a later record with its key is there; recorded gaps; what the flow's filters leave out; records on the target that
were there before the first copy.

examples:
  airmirror verify 'east->west'                               everything that both sides still have
  airmirror verify 'east->west' --newest 100000               the newest 100,000 offsets of each partition
  airmirror verify 'east->west' --from 2026-11-01T00:00       what is not older than this (UTC)
  airmirror verify 'east->west' --topics 'orders.*' --json    only these topics, as one JSON document
  airmirror verify 'east->west' --report verify.html          and a page to keep

on a schedule, in Airflow: airmirror.verify.schedule in the file
exit codes: 0 equal, 1 different or not compared, 2 wrong usage or configuration, 130 interrupted"""
# Rows of a table that a person still reads; --json has all.
ROWS_MAX = 100


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "verify", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    add_topics_argument(parser)
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--newest", metavar="N", type=_count, help="the newest N offsets of each partition")
    scope.add_argument("--from", metavar="TIME", dest="since_ms", type=_moment, help="records not older than this")
    scope.add_argument("--all", action="store_true", help="everything that was copied (the default)")
    parser.add_argument("--records-only", action="store_true", help="leave out topics, settings, ACLs and groups")
    add_master_argument(parser)
    add_report_argument(parser)
    add_json_argument(parser)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError(text)
    return count


_count.__name__ = "number of offsets"  # argparse: invalid number of offsets value: '0'


def _moment(text: str) -> int:
    try:
        start = parse_start(text)
    except ValueError:
        start = None
    if not isinstance(start, StartTimestamp):
        raise argparse.ArgumentTypeError(
            f"expected a time such as 2026-11-01T00:00, in UTC unless it has a zone: {text}"
        )
    return start.timestamp_ms


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    try:
        with terminated_like_interrupted():
            report = _verify(flow, args)
    except KeyboardInterrupt as interrupt:
        print(f"airmirror: the verification of {flow} was interrupted; it changes nothing", file=sys.stderr)
        return exit_code(interrupt)
    document = report.to_json()
    if args.report:
        told = told_report(document)
        write_report(Path(args.report), document, markdown(told.title, told.sections()))
    print(json.dumps(document, indent=2)) if args.json else print_report(report)
    report.raise_if_different()
    return 0


def _verify(flow: Flow, args: argparse.Namespace) -> VerifyReport:
    with make_executor(args.master, flow) as executor:
        return run_verify(
            flow,
            newest=args.newest,
            since_ms=args.since_ms,
            topics=args.topics,
            parts=() if args.records_only else PARTS,
            executor=announced(executor, args.master, _say),
            say=_say,
        )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def make_executor(master: str, flow: Flow) -> SparkExecutor:
    """What runs the comparison; a test puts another one here."""
    return SparkExecutor(master=master, name=f"airmirror verify {flow}", flow=flow)


def print_report(report: VerifyReport) -> None:
    told = sorted(report.partitions, key=lambda p: (p.error is None, not p.kinds, p.partition))
    if told:
        print_table(
            report.flow,
            ("partition", "records", "differences", "the first of them", "different and right"),
            [_row(p) for p in told[:ROWS_MAX]],
            wrapped=("the first of them", "different and right"),
            right=("records",),
            dim=[p.error is None and not p.kinds for p in told[:ROWS_MAX]],
        )
    if len(told) > ROWS_MAX:
        print(f"and {len(told) - ROWS_MAX} more rows: --json")
    for deviation in report.deviations:
        print(f"different: {deviation}")
    for partition in report.failed:
        print(f"not compared: {partition.partition}: {partition.error}")
    for partition in told:
        for gap in partition.gaps:
            print(f"gap: {partition.partition} [{gap.start}, {gap.end}) {gap.reason.name.lower()}")
    if report.nothing:
        reasons = sorted(set(report.nothing.values()))
        print(f"nothing to compare: {counted(len(report.nothing), 'partition')}: {'; '.join(reasons)}")
    for notice in report.notices:
        print(f"note: {notice}")
    print(headline(report))


def headline(report: VerifyReport) -> str:
    """One line with the outcome."""
    outcome = "equal" if report.is_equal else counted(report.difference_count, "difference")
    failed = f", {counted(len(report.failed), 'partition')} not compared" if report.failed else ""
    waiting = sum(p.not_copied for p in report.partitions)
    not_copied = f"; {counted(waiting, 'offset')} not copied yet" if waiting else ""
    return (
        f"{report.flow}: {outcome}{failed}: {counted(report.record_count, 'record')} of "
        f"{counted(len(report.partitions), 'partition')} compared in {duration_text(report.seconds)}, "
        f"{count_text(round(report.records_per_second))} a second{not_copied}"
    )


def _row(partition: PartitionReport) -> tuple[str, ...]:
    kinds = ", ".join(f"{count_text(n)} {kind}" for kind, n in sorted(partition.kinds.items()))
    right = {**partition.right, "on the target before ours": partition.foreign}
    return (
        str(partition.partition),
        count_text(partition.record_count),
        "not compared" if partition.error else kinds or "none",
        "; ".join(map(str, partition.first)),
        "; ".join(f"{count_text(n)}: {why}" for why, n in right.items() if n),
    )
