"""`make demo` from beginning to end; run again while it is up, it writes more data and replicates that."""

from __future__ import annotations

import sys
import urllib.error
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import KafkaException

from mirror.errors import MirrorError
from world.demo import services as demo
from world.demo.applications import NotWritten, open_site, write_wave
from world.demo.dag_runs import DagFailed, run_all, start_others, wait_for_dags, wait_until_green
from world.demo.farewell import print_farewell
from world.demo.replicated import Replicated, replicated
from world.demo.services import Services
from world.demo.shop import SITES
from world.java import ToolFailed
from world.process import ProcessDied
from world.progress import Progress
from world.running import Busy, alone, demo_home, stop_services

KNOWN_FAILURES = (
    DagFailed,
    KafkaException,
    MirrorError,
    NotWritten,
    ProcessDied,
    TimeoutError,
    ToolFailed,
    urllib.error.URLError,
)


class NotEqual(DagFailed):
    """The Dags are green, and yet a count differs: the demo must not pretend."""


def main() -> int:
    home = demo_home()
    progress = Progress()
    try:
        with alone(home):
            try:
                rows, services = _run(progress)
            except BaseException:
                progress.say("it failed: stopping everything")
                stop_services(home)
                raise
    except Busy as busy:
        print(f"demo: {busy}", file=sys.stderr)
        return 1
    except KNOWN_FAILURES as error:
        logs = (
            f"{home}/airflow/standalone.log, {home}/airflow/logs/, {home}/east/broker-1.log, {home}/west/broker-1.log"
        )
        print(f"demo: {error or type(error).__name__}\n  logs: {logs}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(f"  {note}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print_farewell(rows, services, progress)
    return 0


def _run(progress: Progress) -> tuple[list[Replicated], Services]:
    home = demo_home()
    services = demo.find(home)
    if services is not None:
        progress.say("the demo is up already: using its clusters and its Airflow, with more data")
        _write_data(services, progress)
    else:
        services = _start(progress)
    rest, configuration = services.rest(), services.configuration()
    flows = configuration.enabled_flows
    with progress.doing("waiting for the Dags of both flows"):
        wait_for_dags(rest, [f"{flow.slug}.{suffix}" for flow in flows for suffix in ("topics", "copy")])
    with progress.doing("creating remote topics: the Dags *.topics"):
        run_all(rest, flows, "topics", services.task_logs, progress)
    with progress.doing("copying records on Spark: the Dags *.copy"):
        others = start_others(rest, flows)
        run_all(rest, flows, "copy", services.task_logs, progress)
        wait_until_green(rest, others, services.task_logs, progress)
    with progress.doing("counting every record on both sides"):
        rows = replicated(configuration)
    if different := [row for row in rows if not row.is_equal]:
        raise NotEqual(f"not everything arrived: {different}")
    return rows, services


def _start(progress: Progress) -> Services:
    home = demo_home()
    if stop_services(home):
        progress.say("an earlier demo was running in part: stopped")
    demo.clear(home)
    with progress.doing("starting the clusters east and west, and Airflow beside them"):
        starting = demo.start(home)
    progress.say("east and west serve")
    _write_data(starting.services, progress)
    with progress.doing(f"waiting for Airflow (its log: {starting.services.airflow_log})"):
        starting.wait_for_airflow()
    progress.say(f"Airflow is up: {starting.services.airflow_url}")
    return starting.services


def _write_data(services: Services, progress: Progress) -> None:
    wave = services.next_wave()
    what = "writing orders, payments, clicks, stock movements; committing offsets of consumer groups"
    with progress.doing(what), ThreadPoolExecutor(len(SITES)) as threads:
        for site in SITES:
            open_site(site, services.servers(site.cluster))
        counts = list(threads.map(lambda site: write_wave(site, services.servers(site.cluster), wave), SITES))
    told = ", ".join(f"{count:,} records on {site.cluster}" for site, count in zip(SITES, counts, strict=True))
    progress.say(f"written: {told}")


if __name__ == "__main__":
    sys.exit(main())
