"""The first task of a flow's copy Dag: is there something to copy, is something wrong?"""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import Context

from mirror.airflow.outcomes import error_of
from mirror.airflow.runs import TaskRun, run_of, wait_for_turn
from mirror.airflow.skipping import end_here, skipped_when_another_run_owns_the_flow
from mirror.config import Flow
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.copy.gate import require_flow_forward
from mirror.copy.look import Look, look

log = logging.getLogger(__name__)


def look_at_flow(flow: Flow, context: Context) -> dict[str, Any]:
    """Let `copy` run if there is something for Spark to do; skip it otherwise."""
    run = run_of(flow, context)
    with skipped_when_another_run_owns_the_flow():
        require_flow_forward(flow)
    seen = look(flow, run.pattern)
    found = _found(seen, run)
    log.info("%s", _sentence(flow, found))
    with skipped_when_another_run_owns_the_flow():
        if seen.needs_slots or run.window_s:
            wait_for_turn(flow, run, log.info)
            return found
        _end_without_spark(flow, run, seen)
    return end_here(context, found, skip="copy")


def _end_without_spark(flow: Flow, run: TaskRun, seen: Look) -> None:
    """Note what is to be remembered (first positions, the source's ends), and tell what is stopped.

    What arrives between the look and this is little, and is copied in this process.
    """
    if seen.has_work or seen.ends_changed or seen.judgement.stopped:
        request = CopyRequest(run=f"{run.id}_look", topics=run.pattern, on_held="skip")
        error = error_of(run_copy(flow, request, InProcessExecutor).to_json())
        if error is not None:
            # A stopped partition must not hide behind green runs that found nothing new.
            raise error


def _found(seen: Look, run: TaskRun) -> dict[str, Any]:
    document = seen.to_json()
    return {
        "offsets_to_copy": document["offsets_to_copy"],
        "partitions_due": document["partitions_due"],
        "partitions_new": document["partitions_new"],
        "partitions_stopped": len(document["stopped"]),
        "topics_waiting": len(document["waiting"]),
        "window_s": run.window_s,
    }


def _sentence(flow: Flow, found: dict[str, Any]) -> str:
    return (
        f"{flow}: up to {found['offsets_to_copy']} records to copy in {found['partitions_due']} partitions; "
        f"{found['partitions_new']} partitions are new, {found['partitions_stopped']} are stopped, "
        f"{found['topics_waiting']} topics wait for their remote topic"
    )
