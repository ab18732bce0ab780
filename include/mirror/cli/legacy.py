"""`airmirror legacy`: takes MirrorMaker 1's files and flags and does its work, or writes the mm2.properties for it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from mirror.cli.arguments import add_command, add_json_argument
from mirror.cli.copy import make_executor
from mirror.cli.copy_progress import progress_on
from mirror.cli.copy_summary import print_summary
from mirror.cli.ending import exit_code, terminated_like_interrupted
from mirror.cli.spark_start import add_master_argument, announced
from mirror.config import Flow
from mirror.config.configuration import parse
from mirror.copy.result import CopyResult
from mirror.errors import MirrorError, TryAgain
from mirror.operations.legacy import LegacyFiles, LegacyFlags, Translated, read_files, run_legacy, take_over, translate
from mirror.operations.legacy.run import Rounds

HELP = "do MirrorMaker 1's work with its own files and flags"
DESCRIPTION = """Replicates as MirrorMaker 1 did: the same two files, the same flags, topics under the same names. Each
record arrives exactly once and in its own partition. Goes on until Ctrl-C, and looks for new topics every minute. Where
airmirror has not copied before, it goes on from the offsets that MirrorMaker 1's group committed on the source; stop
MirrorMaker 1 first."""
EPILOG = """The files may carry MM2's options too (replication.policy.class, emit.*, sync.*, refresh.*): they count.

examples:
  airmirror legacy --consumer.config consumer.properties --producer.config producer.properties --include 'orders|users'
  airmirror legacy ... --whitelist '.*' --num.streams 4 --drain      copy what is there and end, for scripts
  airmirror legacy ... --whitelist '.*' --print-config > mm2.properties
  airmirror --config mm2.properties copy source-to-target            does the same from then on

exit codes: 0 done, 1 failed in part or whole, 2 wrong usage or configuration, 130 interrupted"""


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "legacy", run, HELP, DESCRIPTION, EPILOG)
    # Named as MirrorMaker 1 named them, dots and all.
    parser.add_argument(
        "--consumer.config", dest="consumer", metavar="FILE", required=True, help="how to read the source"
    )
    parser.add_argument(
        "--producer.config", dest="producer", metavar="FILE", required=True, help="how to write to the target"
    )
    parser.add_argument("--include", "--whitelist", metavar="REGEX", help="topics; commas are alternatives")
    parser.add_argument("--exclude", "--blacklist", metavar="REGEX", help="topics not to replicate")
    parser.add_argument("--num.streams", dest="streams", metavar="N", type=int, default=1, help="slots (default: 1)")
    parser.add_argument(
        "--abort.on.send.failure",
        dest="aborts",
        metavar="true|false",
        choices=("true", "false"),
        default="true",
        help="end when the target refuses a record (default: true); false: only its partition stops",
    )
    parser.add_argument("--offset.commit.interval.ms", dest="commits", metavar="MS", help="has no effect")
    parser.add_argument("--consumer.rebalance.listener", dest="listener", metavar="CLASS", help="has no effect")
    parser.add_argument("--rebalance.listener.args", dest="listener_args", metavar="ARGS", help="has no effect")
    parser.add_argument("--message.handler", dest="handler", metavar="CLASS", help="refused: Java is not run")
    parser.add_argument("--message.handler.args", dest="handler_args", metavar="ARGS", help="has no effect")
    parser.add_argument("--new.consumer", dest="new_consumer", action="store_true", help="has no effect")
    _add_own_arguments(parser)


def _add_own_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", metavar="ALIAS", default="source", help="what to call the source (default: %(default)s)"
    )
    parser.add_argument(
        "--target", metavar="ALIAS", default="target", help="what to call the target (default: %(default)s)"
    )
    parser.add_argument("--drain", action="store_true", help="copy until nothing is left, then end")
    parser.add_argument(
        "--print-config", action="store_true", help="write the mm2.properties that does the same, and copy nothing"
    )
    add_master_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    files = read_files(Path(args.consumer), Path(args.producer))
    translated = translate(files, _flags(args), source=args.source, target=args.target)
    for warning in translated.warnings:
        _say(f"airmirror: warning: {warning}")
    if args.print_config:
        return _print_config(files, translated)
    flow = _flow(translated)
    taken = take_over(flow, files.group)
    _say(taken.words)
    flow = _flow(translated, taken.line)
    try:
        with terminated_like_interrupted():
            result = _run(flow, args)
    except KeyboardInterrupt as interrupt:
        _say("airmirror: interrupted; what is committed stands, and the next run goes on from there")
        return exit_code(interrupt)
    print(json.dumps(result.to_json(), indent=2)) if args.json else print_summary(result)
    result.raise_if_incomplete()
    return 0


def _flags(args: argparse.Namespace) -> LegacyFlags:
    return LegacyFlags(
        include=args.include,
        exclude=args.exclude,
        num_streams=args.streams,
        abort_on_send_failure=args.aborts == "true",
        message_handler=args.handler,
        rebalance_listener=args.listener,
    )


def _flow(translated: Translated, *more: str) -> Flow:
    """The flow, through the same reading and checks as every file's."""
    text = translated.text(*(line for line in more if line))
    return parse(text.encode("iso-8859-1", "backslashreplace"), Path("legacy.properties")).flow(translated.flow)


def _run(flow: Flow, args: argparse.Namespace) -> CopyResult:
    rounds = Rounds(drains=args.drain, aborts=args.aborts == "true")
    with progress_on(sys.stderr) as progress, make_executor(args.master, flow) as executor:
        return run_legacy(flow, rounds, announced(executor, args.master, progress.say), progress)


def _print_config(files: LegacyFiles, translated: Translated) -> int:
    """With the group's offsets where the source answers; without it they cannot be known, and the file says so."""
    flow = _flow(translated)
    try:
        taken = take_over(flow, files.group)
        words = f"# {taken.words}"
    except TryAgain as error:
        _say(f"airmirror: warning: {error.message}")
        print(translated.text("", f"# the offsets of group {files.group} are not in here: write this file again when"))
        print(f"# {error.message.splitlines()[0]} is no longer so")
        return 1
    except MirrorError as error:
        _say(f"airmirror: {error}")
        return 1
    print(translated.text("", words, *([taken.line] if taken.line else [])), end="")
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
