"""The Spark job that compares both sides of one flow: started by spark-submit, the library comes as a zip beside it.

Exit codes: 0 equal; 1 different, or failed. The report, or the error, is left in --last-word. It writes nothing else.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from typing import Any

from mirror.airflow.job import add_job_arguments, follow, leave
from mirror.config import load
from mirror.config.java_regex import compile_java
from mirror.errors import MirrorError
from mirror.spark import SparkExecutor
from mirror.verify import run_verify

EQUAL, FAILED = 0, 1


def main() -> int:
    args = _arguments()
    follow(args.leash)
    try:
        document = _verify(args)
    except MirrorError as error:
        print(f"airmirror: {error}", flush=True)
        leave(args.last_word, error.to_json())
        return FAILED
    leave(args.last_word, document)
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


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add_job_arguments(parser, last_word="file for the report")
    parser.add_argument("--newest", type=int, default=0, help="only so many of the newest offsets; 0: everything")
    parser.add_argument("--since-ms", type=int, help="only records not older than this")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
