"""The tasks of a flow's groups Dag."""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk.exceptions import AirflowSkipException

from mirror.config import Flow
from mirror.groups.run import run_checkpoints, run_group_offsets

log = logging.getLogger(__name__)

# Groups named one by one in the log of a run; thousands would bury the rest.
NAMED_MAX = 500


def checkpoints(flow: Flow) -> dict[str, Any]:
    """Translate and write the checkpoints that are due; a group that cannot be read fails the task at its end."""
    summary, _ = run_checkpoints(flow)
    if summary.not_done:
        raise AirflowSkipException(summary.not_done)
    for reason, count in summary.untranslated.most_common():
        log.info("not translated: %d partitions: %s", count, reason)
    for group, reason in list(summary.left_out.items())[:NAMED_MAX]:
        log.info("left out: %s: %s", group, reason)
    document = summary.to_json()
    log.info(
        "%s: %d groups, %d partitions: %d exact, %d early by at most %d; %d checkpoints written",
        flow,
        document["groups"],
        document["partitions"],
        document["exact"],
        document["early"],
        document["early_by_at_most"],
        summary.written,
    )
    if (failure := summary.failure()) is not None:
        raise failure
    return document


def sync_group_offsets(flow: Flow) -> dict[str, Any]:
    """Move the target's idle groups to their checkpoints; what fails for one group fails the task at its end."""
    summary = run_group_offsets(flow)
    if summary.not_done:
        raise AirflowSkipException(summary.not_done)
    told = [outcome for outcome in summary.outcomes if outcome.word != "in place"]
    for outcome in told[:NAMED_MAX]:
        log.info("%s: %s%s", outcome.word, outcome.group, "".join(f"; {reason}" for reason in outcome.reasons))
    document = summary.to_json()
    log.info(
        "%s: groups moved %d, in place %d, left alone %d, failed %d",
        flow,
        document["moved"],
        document["in_place"],
        document["left_alone"],
        document["failed"],
    )
    if (failure := summary.failure()) is not None:
        raise failure
    return document
