"""`make bench`: measures, then prints the table, the ratios and the verdict."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence

from bench import contenders, shapes
from bench.arguments import parse
from bench.contenders import Contender
from bench.results import HEADINGS, NUMBERS, Measured, document, rows, verdict
from bench.run import BROKER_HEAP, measure_all
from bench.watch import CopyFailed
from mirror.cli.tables import print_table
from world import jars, project


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when everything was measured and every count was right, 1 otherwise."""
    arguments = parse(argv)
    chosen = [contenders.BY_NAME[name] for name in arguments.contenders]
    wanted = [shapes.BY_NAME[name] for name in arguments.shapes]
    directory = project.root() / ".bench" / str(os.getpid())
    jars.ensure(_say)
    _say_settings(chosen)
    results: list[Measured] = []
    try:
        for measured in measure_all(directory, wanted, chosen, arguments.record_count, _say):
            results.append(measured)
            _say(f"  {measured.records_per_s:,.0f} records/s, {measured.cpu_s:.1f} CPU s")
    except CopyFailed as failure:
        _say(str(failure))
        return 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if arguments.json:
        print(json.dumps(document(results), indent=2))
    else:
        size = f"{arguments.record_count:,} records of {shapes.RECORD_BYTES} bytes"
        print_table(f"{size}, {shapes.PARTITION_COUNT} partitions", HEADINGS, rows(results), right=NUMBERS)
        print(verdict(results))
    return 0 if all(one.is_right for one in results) else 1


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _say_settings(chosen: Sequence[Contender]) -> None:
    load_1, load_5, _ = os.getloadavg()
    _say(f"{os.cpu_count()} cores for both brokers and the program; load {load_1:.1f} now, {load_5:.1f} over 5 minutes")
    _say(f"brokers: one per cluster, as Kafka's script starts them, -Xmx{BROKER_HEAP}")
    for contender in chosen:
        memory = f"-Xmx{contenders.MM2_HEAP}" if not contender.ends else f"--master {contenders.MASTER}"
        _say(f"{contender.label} ({memory}):")
        for key, value in contender.settings.items():
            _say(f"  {key} = {value}")


if __name__ == "__main__":
    sys.exit(main())
