"""What commands that run on Spark have in common; apart, because loading it takes others half a second."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from mirror.cli.quantities import counted
from mirror.spark import LOCAL_MASTER


class HasSlots(Protocol):
    """What runs a copy, or a comparison."""

    def slot_count(self) -> int: ...


Runner = TypeVar("Runner", bound=HasSlots)


def add_master_argument(parser: argparse.ArgumentParser) -> None:
    """The option --master: where Spark runs."""
    parser.add_argument("--master", metavar="URL", default=LOCAL_MASTER, help="Spark's master (default: %(default)s)")


def announced(executor: Runner, master: str, say: Callable[[str], None]) -> Callable[[], Runner]:
    """Spark's start takes seconds in which nothing else happens: say it, and how long it took."""

    def start() -> Runner:
        say(f"starting Spark on {master}")
        begun = time.monotonic()
        cores = executor.slot_count()
        say(f"Spark started in {time.monotonic() - begun:.1f} s, {counted(cores, 'core')}")
        return executor

    return start
