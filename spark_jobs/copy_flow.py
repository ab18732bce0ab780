"""The Spark job that copies one flow: started by spark-submit, the library comes as a zip beside it.

Exit codes: 0 done; 1 failed in part or whole; 3 another run has the flow. What it did stands in the control topic
under the run's id; where there is no place for it, because it was idle or failed before its claim, in --last-word.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from mirror.airflow.job import add_job_arguments, follow, leave
from mirror.config import load
from mirror.config.java_regex import compile_java
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.spec import PartitionSpec
from mirror.errors import MirrorError, StopNow
from mirror.kafka.values import TopicPartition
from mirror.spark import SparkExecutor

DONE, FAILED, NOT_OURS = 0, 1, 3
SAY_EVERY_S = 10


class PrintedProgress:
    """Lines for a log: each step, and the sum of all partitions every ten seconds."""

    def __init__(self) -> None:
        self._starts: dict[TopicPartition, int] = {}
        self._ends: dict[TopicPartition, int] = {}
        self._said_at = time.monotonic()

    def say(self, text: str) -> None:
        print(text, flush=True)

    def begin(self, partitions: Sequence[PartitionSpec]) -> None:
        self._starts = {spec.partition: spec.position for spec in partitions}
        self._ends = {spec.partition: spec.end for spec in partitions}
        self.say(f"copying {self._total()} offsets of {len(partitions)} partitions")

    def update(self, positions: Mapping[TopicPartition, int]) -> None:
        if time.monotonic() - self._said_at >= SAY_EVERY_S:
            self._said_at = time.monotonic()
            done = sum(max(0, positions.get(p, start) - start) for p, start in self._starts.items())
            self.say(f"committed {done} of {self._total()} offsets")

    def end(self) -> None:
        pass

    def _total(self) -> int:
        return sum(end - self._starts[partition] for partition, end in self._ends.items())


def main() -> int:
    args = _arguments()
    follow(args.leash)
    try:
        document = _copy(args)
    except MirrorError as error:
        print(f"airmirror: {error}", flush=True)
        leave(args.last_word, error.to_json())
        return NOT_OURS if isinstance(error, StopNow) else FAILED
    leave(args.last_word, document)
    if document["superseded_by"]:
        return NOT_OURS
    return FAILED if any("error" in partition for partition in document["partitions"]) else DONE


def _copy(args: argparse.Namespace) -> dict[str, Any]:
    flow = load(args.config).flow(args.flow)
    request = CopyRequest(
        run=args.run,
        window_s=args.window,
        topics=compile_java(args.topics) if args.topics else None,
        on_held="skip",
    )
    with ExitStack() as stack:
        result = run_copy(
            flow,
            request,
            lambda: stack.enter_context(SparkExecutor(name=f"airmirror {flow.id}", flow=flow)),
            PrintedProgress(),
        )
    return result.to_json()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add_job_arguments(parser, last_word="file for a result that has no place in the control topic")
    parser.add_argument("--run", required=True, help="the id under which the result is written")
    parser.add_argument("--window", type=float, default=0.0, help="seconds to go on with what arrives")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
