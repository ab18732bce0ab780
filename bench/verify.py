"""`python -m bench.verify`: how fast a verification is, and how much memory driver and workers take together."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil

from bench import shapes
from bench.load import fill
from world import jars, project
from world.kafka import KafkaCluster, running

TOPIC = "verified"
MASTER = "local[2,4]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=5_000_000)
    records = parser.parse_args().records
    directory = project.root() / ".bench" / str(os.getpid())
    directory.mkdir(parents=True)
    jars.ensure(_say)
    clusters = [KafkaCluster(name, directory, heap="512m") for name in ("east", "west")]
    try:
        with running(*clusters):
            return measure(directory, *clusters, records)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def measure(directory: Path, east: KafkaCluster, west: KafkaCluster, records: int) -> int:
    file = directory / "mm2.properties"
    file.write_text(
        f"clusters = east, west\neast.bootstrap.servers = {east.bootstrap_servers}\n"
        f"west.bootstrap.servers = {west.bootstrap_servers}\neast->west.enabled = true\n"
        f"topics = {TOPIC}\nreplication.factor = 1\nsync.topic.acls.enabled = false\n"
    )
    _say(f"writing {records:,} records of {shapes.RECORD_BYTES} bytes")
    fill(east.bootstrap_servers, TOPIC, shapes.BY_NAME[shapes.JUDGED], records)
    for command in (("topics",), ("copy", "--master", MASTER)):
        subprocess.run([*_airmirror(file), command[0], "east->west", *command[1:]], check=True, stdout=sys.stderr)
    began = time.monotonic()
    verify = subprocess.Popen(
        [*_airmirror(file), "verify", "east->west", "--master", MASTER, "--json"],
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    peak = Peak()
    while verify.poll() is None:
        peak.look(verify.pid)
        time.sleep(0.2)
    took = time.monotonic() - began
    assert verify.stdout is not None
    report = json.loads(verify.stdout.read())
    print(
        f"{report['records']:,} records compared, {report['differences']} differences, in {took:.1f} s with Spark's "
        f"start, {report['records_per_second']:,} records/s; at most {peak.text()}"
    )
    return 0 if report["equal"] and report["records"] == records else 1


class Peak:
    """The most memory that all processes of a session had together; pages that they share count once."""

    def __init__(self) -> None:
        self._bytes = 0
        self._by_name: dict[str, int] = {}

    def look(self, session: int) -> None:
        by_name: dict[str, int] = {}
        for pid in psutil.pids():
            with contextlib.suppress(ProcessLookupError, psutil.Error):
                if os.getsid(pid) == session:
                    process = psutil.Process(pid)
                    name = process.name()
                    by_name[name] = by_name.get(name, 0) + process.memory_full_info().pss
        if sum(by_name.values()) > self._bytes:
            self._bytes, self._by_name = sum(by_name.values()), by_name

    def text(self) -> str:
        parts = ", ".join(f"{name} {size / 2**20:.0f} MiB" for name, size in sorted(self._by_name.items()))
        return f"{self._bytes / 2**20:.0f} MiB ({parts})"


def _airmirror(file: Path) -> list[str]:
    return [str(Path(sys.executable).parent / "airmirror"), "--config", str(file)]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
