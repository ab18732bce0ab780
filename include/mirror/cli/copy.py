"""`airmirror copy FLOW`: copies what is there, shows how it goes, and tells what came of it."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from mirror.cli.arguments import (
    add_command,
    add_flow_argument,
    add_json_argument,
    add_take_over_argument,
    add_topics_argument,
    load_configuration,
)
from mirror.cli.copy_progress import progress_on
from mirror.cli.copy_summary import print_summary
from mirror.cli.ending import exit_code, terminated_like_interrupted
from mirror.cli.spark_start import add_master_argument, announced
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.result import CopyResult
from mirror.errors import MirrorError, UsageRefused
from mirror.spark import LOCAL_MASTER, SparkExecutor

HELP = "copy a flow's records, exactly once"
DESCRIPTION = """Copies the records of FLOW from its source to its target: every record once and in order, with its key,
value, headers, timestamp and partition. Goes on where the last copy stopped, however it stopped."""
EPILOG = f"""Remote topics are made by `airmirror topics FLOW`; what has none yet waits and is named at the end.
A partition that cannot go on is left out and named with its offset and the next command; the others are copied.
Ctrl-C ends it cleanly: what is committed stands, the rest is for the next copy.

examples:
  airmirror copy 'east->west'                        what is there now, then end
  airmirror copy 'east->west' --window 600           and for ten minutes what arrives, seconds behind
  airmirror copy 'east->west' --topics 'orders.*'    only these topics
  airmirror copy 'east->west' --master spark://host:7077

Spark runs on this machine unless --master names another ({LOCAL_MASTER}); nothing to copy starts no Spark.
exit codes: 0 done, 1 failed in part or whole, 2 wrong usage or configuration, 130 interrupted"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "copy", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser)
    parser.add_argument(
        "--window",
        metavar="SECONDS",
        type=_seconds,
        help="go on for so long with what arrives (default: airmirror.copy.window.seconds; 0: drain and end)",
    )
    add_master_argument(parser)
    add_topics_argument(parser)
    add_take_over_argument(parser)
    add_json_argument(parser)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < float("inf"):
        raise ValueError(text)
    return seconds


_seconds.__name__ = "number of seconds"  # argparse: invalid number of seconds value: '-1'


def run(args: argparse.Namespace) -> int:
    flow = load_configuration(args).flow(args.flow)
    _require_enabled(flow)
    request = CopyRequest(
        window_s=flow[opt.COPY_WINDOW_SECONDS] if args.window is None else args.window,
        topics=args.topics,
        on_held="take-over" if args.take_over else "wait",
    )
    try:
        with terminated_like_interrupted():
            result = _copy(flow, request, args)
    except KeyboardInterrupt as interrupt:
        print(f"airmirror: {flow} was interrupted; what is committed stands, the next copy goes on", file=sys.stderr)
        return exit_code(interrupt)
    if args.json:
        print(json.dumps(result.to_json(), indent=2))
    else:
        print_summary(result)
    result.raise_if_incomplete()
    return 0


def _copy(flow: Flow, request: CopyRequest, args: argparse.Namespace) -> CopyResult:
    try:
        with progress_on(sys.stderr) as progress, make_executor(args.master, flow) as executor:
            return run_copy(flow, request, announced(executor, args.master, progress.say), progress)
    except MirrorError as error:
        if args.json:
            print(json.dumps(CopyResult(flow=flow.id, run=request.run, error=error).to_json(), indent=2))
        raise


def make_executor(master: str, flow: Flow) -> SparkExecutor:
    """What runs the slots; a test puts another one here."""
    return SparkExecutor(master=master, name=f"airmirror {flow}", flow=flow)


def _require_enabled(flow: Flow) -> None:
    if not flow.enabled:
        raise UsageRefused(
            f"flow {flow.id} is not enabled in the file, so nothing is copied along it",
            next_step=f"write this line into the file: {flow.id}.enabled = true",
            flow=flow.id,
        )
