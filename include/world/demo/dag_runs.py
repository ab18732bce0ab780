"""The demo's Dags: in the right order, watched until they are green."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from mirror.config import Flow
from world.airflow_rest import AirflowRest
from world.progress import Progress

# Seconds until Airflow has read the Dag files, has made a run of its own, and until a run has ended: many times what
# two free cores need.
PARSE_TIMEOUT_S = 120.0
FIRST_RUN_TIMEOUT_S = 20.0
RUN_TIMEOUT_S = 900.0


class DagFailed(RuntimeError):
    """A run of a Dag did not end green, or its file could not be read."""


def wait_for_dags(rest: AirflowRest, dags: Iterable[str]) -> None:
    """Wait until Airflow knows the Dags; a file that it cannot read fails at once, with the reason."""
    wanted = set(dags)
    give_up = time.monotonic() + PARSE_TIMEOUT_S
    while not wanted <= set(rest.dags()):
        if errors := rest.import_errors():
            raise DagFailed(f"Airflow cannot read {errors[0]['filename']}:\n{errors[0]['stack_trace']}")
        if time.monotonic() > give_up:
            raise DagFailed(f"Airflow did not find the Dags {sorted(wanted)} in {PARSE_TIMEOUT_S:.0f} s")
        time.sleep(0.5)


def run_all(rest: AirflowRest, flows: Iterable[Flow], suffix: str, logs: Path, progress: Progress) -> None:
    """Run one Dag of every flow, let their schedules go on from there, and wait until all are green."""
    runs = {dag: _run_now(rest, dag) for dag in [f"{flow.slug}.{suffix}" for flow in flows]}
    wait_until_green(rest, runs, logs, progress)


def start_others(rest: AirflowRest, flows: Iterable[Flow]) -> dict[str, str]:
    """Start the flows' Dags that are neither topics nor copy: they are short, and run beside the copies.

    Operations (`mirror.*`) are no flow's: they have a form to be filled in, and are a person's to start.
    """
    theirs = tuple(f"{flow.slug}." for flow in flows)
    others = [dag for dag in rest.dags() if dag.startswith(theirs) and not dag.endswith((".topics", ".copy"))]
    for dag in others:
        rest.pause(dag, paused=False)
    return {dag: rest.trigger(dag) for dag in others}


def wait_until_green(rest: AirflowRest, runs: Mapping[str, str], logs: Path, progress: Progress) -> None:
    for dag, run in runs.items():
        state = rest.wait_run(dag, run, timeout_s=RUN_TIMEOUT_S)
        if state != "success":
            raise DagFailed(f"{dag} ended {state}: {_what_failed(rest, dag, run)}; logs: {logs / f'dag_id={dag}'}")
        progress.say(f"  {dag} is green{_summary(rest, dag, run)}")


def _run_now(rest: AirflowRest, dag: str) -> str:
    """Start a run. Airflow makes one itself when a Dag's pause ends: a second one would only wait behind it."""
    path = f"/api/v2/dags/{dag}"
    if not rest.get(path)["is_paused"]:
        return rest.trigger(dag)
    rest.pause(dag, paused=False)
    give_up = time.monotonic() + FIRST_RUN_TIMEOUT_S
    while time.monotonic() < give_up:
        if runs := rest.get(f"{path}/dagRuns", limit=1)["dag_runs"]:
            return str(runs[0]["dag_run_id"])
        time.sleep(0.3)
    return rest.trigger(dag)


def _what_failed(rest: AirflowRest, dag: str, run: str) -> str:
    states = {task["task_id"]: task["state"] for task in rest.task_instances(dag, run)}
    return ", ".join(f"task {task} {state}" for task, state in states.items() if state not in ("success", "skipped"))


def _summary(rest: AirflowRest, dag: str, run: str) -> str:
    states = {task["task_id"]: task["state"] for task in rest.task_instances(dag, run)}
    if "copy" not in states:
        return ""
    if states["copy"] == "skipped":
        return ": nothing was left to copy"
    summary = rest.xcom(dag, run, "copy")
    return f": {summary['records']:,} records in {summary['seconds']:.0f} s"
