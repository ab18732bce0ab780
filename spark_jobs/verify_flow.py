"""The Spark job that compares both sides of one flow: started by spark-submit, the library comes as a zip beside it.

Exit codes: 0 equal; 1 different, or failed. The report, or the error, is left in --last-word. It writes nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from mirror.airflow.connections import from_answers
from mirror.airflow.leash import end_with
from mirror.config import load
from mirror.config.java_regex import compile_java
from mirror.config.providers import ask_for_connections
from mirror.errors import MirrorError
from mirror.spark import SparkExecutor
from mirror.verify import run_verify

EQUAL, FAILED = 0, 1


def main() -> int:
    args = _arguments()
    if args.leash:
        # Airflow's Connections, which only the task could ask for.
        ask_for_connections(from_answers(end_with(args.leash).line()))
    try:
        document = _verify(args)
    except MirrorError as error:
        print(f"airmirror: {error}", flush=True)
        _leave(args.last_word, error.to_json())
        return FAILED
    _leave(args.last_word, document)
    return EQUAL if document["equal"] else FAILED


def _verify(args: argparse.Namespace) -> dict[str, Any]:
    flow = load(args.config).flow(args.flow)
    with ExitStack() as stack:
        report = run_verify(
            flow,
            newest=args.newest or None,
            since_ms=args.since_ms,
            topics=compile_java(args.topics) if args.topics else None,
            executor=lambda: stack.enter_context(SparkExecutor(name=f"airmirror verify {flow.id}", flow=flow)),
            say=lambda text: print(text, flush=True),
        )
    return report.to_json()


def _leave(path: Path | None, document: Mapping[str, Any]) -> None:
    """Whole or not at all: whoever reads it must not meet half of it."""
    if path is not None:
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(document, default=str))
        os.replace(unfinished, path)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flow", help="A->B or A-to-B")
    parser.add_argument("--config", help="the mm2.properties; its credentials are read here and not passed on")
    parser.add_argument("--newest", type=int, default=0, help="only so many of the newest offsets; 0: everything")
    parser.add_argument("--since-ms", type=int, help="only records not older than this")
    parser.add_argument("--topics", default="", help="only topics whose whole name matches this regex")
    parser.add_argument("--leash", default="", help="named pipe: end when nobody holds its other end")
    parser.add_argument("--last-word", type=Path, help="file for the report")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
