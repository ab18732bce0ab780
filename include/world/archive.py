"""Kafka's classes as a JVM has them in memory, kept in a file: a broker that starts from it takes half the CPU time.

`python -m world.archive` makes it from the classes that a broker uses from its start to its end.
"""

from __future__ import annotations

import fcntl
import sys
import tempfile
from pathlib import Path

from world import jars, java
from world.jars import Say
from world.kafka import KafkaCluster


def ensure(say: Say = lambda _: None) -> Path:
    """Make the archive unless it is there; two callers at once make it once."""
    home = jars.ensure(say)
    kept = java.archive(home)
    with (home.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.is_file():
            say("keeping the classes of a broker, so that the next ones start in half the time")
            _make(home, kept)
    return kept


def _make(home: Path, kept: Path) -> None:
    new = kept.with_suffix(".new")
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        options = [*java.quick(home), f"-XX:ArchiveClassesAtExit={new}"]
        with KafkaCluster("first", Path(scratch), options=options) as cluster:
            cluster.stop()  # the file is written at an orderly end
    if new.is_file():
        new.rename(kept)


if __name__ == "__main__":
    sys.stdout.write(f"{ensure(lambda text: print(text, flush=True))}\n")
