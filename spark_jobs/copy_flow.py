"""The Spark job that copies one flow: started by spark-submit, the library comes as a zip beside it.

Exit codes: 0 done; 1 failed in part or whole; 3 another run has the flow. What it did stands in the control topic
under the run's id; where there is no place for it, because it was idle or failed before its claim, in --last-word.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from mirror.airflow.connections import from_answers
from mirror.airflow.leash import end_with
from mirror.config import load
from mirror.config.java_regex import compile_java
from mirror.config.providers import ask_for_connections
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
    if args.leash:
        # Airflow's Connections, which only the task could ask for.
        ask_for_connections(from_answers(end_with(args.leash).line()))
    try:
        document = _copy(args)
    except MirrorError as error:
        print(f"airmirror: {error}", flush=True)
        _leave(args.last_word, error.to_json())
        return NOT_OURS if isinstance(error, StopNow) else FAILED
    _leave(args.last_word, document)
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
    parser.add_argument("--run", required=True, help="the id under which the result is written")
    parser.add_argument("--window", type=float, default=0.0, help="seconds to go on with what arrives")
    parser.add_argument("--topics", default="", help="only topics whose whole name matches this regex")
    parser.add_argument("--leash", default="", help="named pipe: end when nobody holds its other end")
    parser.add_argument("--last-word", type=Path, help="file for a result that has no place in the control topic")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
