"""`make bench`: measures, then prints the table, the ratios and the verdict."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import contenders, shapes
from bench.arguments import Arguments, parse
from bench.contenders import Contender
from bench.groups import judge as groups_table
from bench.groups.judge import Carried
from bench.groups.run import GROUP_COUNT, measure_groups
from bench.results import HEADINGS, NUMBERS, Measured, document, medians, rows, verdict
from bench.run import BROKER_HEAP, measure_all
from bench.watch import CopyFailed
from mirror.cli.tables import print_table
from world import jars, project


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0 when everything was measured, every count was right and no group of ours is late; 1 otherwise."""
    arguments = parse(argv)
    directory = project.root() / ".bench" / str(os.getpid())
    jars.ensure(_say)
    try:
        results = _measure_speed(directory, arguments) if arguments.speed else []
        carried = measure_groups(directory, _say) if arguments.groups else []
    except CopyFailed as failure:
        _say(str(failure))
        return 1
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if arguments.json:
        print(json.dumps({**document(results), "groups": [one.to_json() for one in carried]}, indent=2))
    else:
        _print(arguments, results, carried)
    is_never_late = not any(one.late for one in carried if one.program == "airmirror")
    return 0 if all(one.is_right for one in results) and is_never_late else 1


def _measure_speed(directory: Path, arguments: Arguments) -> list[Measured]:
    chosen = [contenders.BY_NAME[name] for name in arguments.contenders]
    wanted = [shapes.BY_NAME[name] for name in arguments.shapes]
    _say_settings(chosen)
    results: list[Measured] = []
    for measured in measure_all(directory, wanted, chosen, arguments.rounds, arguments.record_count, _say):
        results.append(measured)
        _say(f"  {measured.records_per_s:,.0f} records/s, {measured.cpu_s:.1f} CPU s")
    return medians(results)


def _print(arguments: Arguments, results: Sequence[Measured], carried: Sequence[Carried]) -> None:
    if arguments.speed:
        size = f"{arguments.record_count:,} records of {shapes.RECORD_BYTES} bytes, {shapes.PARTITION_COUNT} partitions"
        of = f", medians of {arguments.rounds} rounds" if arguments.rounds > 1 else ""
        print_table(size + of, HEADINGS, rows(results), right=NUMBERS)
        print(verdict(results))
    if arguments.groups:
        title = f"{GROUP_COUNT} groups that stand anywhere on a hostile source"
        headings = groups_table.HEADINGS
        print_table(title, headings, [groups_table.row(one) for one in carried], right=headings[1:])


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
