"""`make up CONFIG=FILE`: Airflow on your own clusters, with the Dags of every flow that the file enables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mirror.config import Configuration, load
from mirror.errors import ConfigurationRefused
from world.airflow import AirflowStandalone
from world.process import ProcessDied
from world.progress import Progress
from world.running import Busy, alone, mark, preferred_port, stop_services, up_home

EXIT_FAILED, EXIT_USAGE = 1, 2


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make up", description=__doc__)
    parser.add_argument("config", metavar="CONFIG", type=Path, help="the mm2.properties to use")
    config = parser.parse_args(argv).config.absolute()
    try:
        configuration = load(config)
    except ConfigurationRefused as refusal:
        for warning in refusal.about.get("warnings", ()):
            print(f"up: warning: {warning}", file=sys.stderr)
        print(f"up: {refusal}", file=sys.stderr)
        return EXIT_USAGE
    for warning in configuration.warnings:
        print(f"up: warning: {warning}", file=sys.stderr)
    if not configuration.enabled_flows:
        print(f"up: {config.name} enables no flow: write A->B.enabled = true in it", file=sys.stderr)
        return EXIT_USAGE
    return _start(configuration, Progress())


def _start(configuration: Configuration, progress: Progress) -> int:
    home = up_home()
    airflow: AirflowStandalone | None = None
    try:
        with alone(home):
            if stop_services(home):
                progress.say("Airflow was running: stopped, to start it with this file")
            airflow = AirflowStandalone(
                home, configuration.path, port=preferred_port(), detach=True, environment=_environment(configuration)
            )
            with progress.doing(f"starting Airflow (its log: {airflow.log_path})"):
                airflow.start()
    except (ProcessDied, TimeoutError, Busy) as error:
        print(f"up: {error}", file=sys.stderr)
        if not isinstance(error, Busy):
            stop_services(home)
        return EXIT_FAILED
    except BaseException:
        stop_services(home)
        raise
    progress.say("Airflow is up")
    _tell(configuration, airflow)
    return 0


def _environment(configuration: Configuration) -> dict[str, str]:
    """One running copy and one other task per flow, within reason: each slot is a process forked ahead."""
    slots = min(max(4, 2 * len(configuration.enabled_flows)), 32)
    return {**mark(up_home()), "AIRFLOW__CORE__PARALLELISM": str(slots)}


def _tell(configuration: Configuration, airflow: AirflowStandalone) -> None:
    flows = ", ".join(flow.id for flow in configuration.enabled_flows)
    print(
        f"""
  flows      {flows} of {configuration.path}
  Airflow    {airflow.url}
  log in     admin / {airflow.passwords["admin"]} (may do all), viewer / {airflow.passwords["viewer"]} (may look)
  lag        .venv/bin/airmirror --config {configuration.path} lag
  stop       make down
"""
    )


if __name__ == "__main__":
    sys.exit(main())
