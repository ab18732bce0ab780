"""The command `airmirror`: finds the command's module, runs it, and turns errors into words and exit codes."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Sequence

from mirror.config.connections import look_up
from mirror.config.providers import ask_for_connections
from mirror.errors import ConfigurationRefused, MirrorError, UnknownFlow, UsageRefused

# One module of mirror.cli each, in the order in which a newcomer needs them.
COMMANDS = (
    "flows", "config", "preflight", "plan", "topics", "copy", "heartbeats", "lag", "groups", "translate", "resume",
    "handover", "verify", "drill", "failover", "failback", "legacy",
)  # fmt: skip

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130

DESCRIPTION = "Kafka replication between clusters: MirrorMaker 2's job, exactly once, on Airflow and Spark."
EPILOG = """The configuration is an mm2.properties, as MirrorMaker 2 reads it; our own options start with `airmirror.`
exit codes: 0 done, 1 failed in part or whole, 2 wrong usage or configuration"""


def build_parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="airmirror", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", metavar="FILE", help="the mm2.properties to use (default: $AIRMIRROR_CONFIG)")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="say more: -v each step, -vv each partition")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        importlib.import_module(f"mirror.cli.{name}").add_parser(commands)
    return parser


def spoken_of(arguments: Sequence[str]) -> Sequence[str]:
    """The commands that these arguments can mean: the modules of the others need half a second to load."""
    return [name for name in COMMANDS if name in arguments] or COMMANDS


def main(argv: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    args = build_parser(spoken_of(arguments)).parse_args(arguments)
    levels = (logging.WARNING, logging.INFO, logging.DEBUG)
    logging.basicConfig(level=levels[min(args.verbose, 2)], format="%(asctime)s %(levelname)s %(message)s")
    ask_for_connections(look_up)
    try:
        code: int = args.run(args)
    except (ConfigurationRefused, UnknownFlow, UsageRefused) as error:
        print(f"airmirror: {error}", file=sys.stderr)
        return EXIT_USAGE
    except MirrorError as error:
        print(f"airmirror: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    return code
