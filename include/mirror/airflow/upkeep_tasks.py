"""The tasks that keep settings and ACLs equal and heartbeats coming; the names of all upkeep's tasks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from airflow.sdk.exceptions import AirflowSkipException

from mirror.airflow.group_tasks import checkpoints, sync_group_offsets
from mirror.airflow.skipping import skipped_when_another_run_owns_the_flow
from mirror.config import Flow
from mirror.copy.gate import require_flow_forward
from mirror.heartbeats import copy_heartbeats, emit, read_ages
from mirror.operations.rights import note_rights
from mirror.topics import apply_acls, apply_settings, compare_acls, compare_settings
from mirror.topics.acls import acls_switch
from mirror.topics.forwarding import clusters_of
from mirror.topics.settings_sync import settings_switch

log = logging.getLogger(__name__)

# Changes named one by one in a summary; the log has them all.
LISTED = 50


def sync_configs(flow: Flow) -> dict[str, Any]:
    """Make settings equal; a topic that refuses fails the task when all others are done."""
    _skip_if_off(settings_switch(flow))
    require_flow_forward(flow)
    with clusters_of(flow, "configs") as (source, target):
        plan = compare_settings(flow, source, target)
        require_flow_forward(flow)
        summary = apply_settings(plan, target)
    for notice in summary.notices:
        log.info("%s", notice)
    log.info("%s: %d topics compared, %d settings changed", flow, summary.topic_count, len(summary.changed))
    if (failure := summary.failure()) is not None:
        raise failure
    return _shortened(summary.to_json(), "changed")


def sync_acls(flow: Flow) -> dict[str, Any]:
    """Copy ACLs, and remove stale ones where the file says so."""
    _skip_if_off(acls_switch(flow))
    require_flow_forward(flow)
    with clusters_of(flow, "acls") as (source, target):
        plan = compare_acls(flow, source, target)
        require_flow_forward(flow)
        summary = apply_acls(plan, target)
        note_rights(flow, source, target)
    for notice in summary.notices:
        log.info("%s", notice)
    log.info("%s: %d ACLs granted, %d removed", flow, len(summary.granted), len(summary.revoked))
    if (failure := summary.failure()) is not None:
        raise failure
    return _shortened(summary.to_json(), "granted", "revoked")


def emit_heartbeats(flow: Flow) -> dict[str, Any]:
    """Write the pair's heartbeat, and copy the source's where the flow is enabled."""
    written = emit(flow)
    copied = copy_heartbeats(flow) if flow.enabled else None
    if copied is not None:
        copied.raise_if_incomplete()
    ages = [age.to_json() for age in read_ages(flow)]
    log.info(
        "%s: heartbeat %s, %d copied; newest from %s: %s",
        flow,
        "written" if written else "switched off",
        copied.record_count if copied else 0,
        flow.source,
        next((f"{age['age_seconds']} s old" for age in ages if age["hops"] == [flow.source]), "none"),
    )
    return {
        "flow": flow.id,
        "emitted_ms": written.timestamp_ms if written else None,
        "copied": copied.record_count if copied else None,
        "heartbeats": ages[:LISTED],
    }


def _skip_if_off(switch: str) -> None:
    """Triggered by hand all the same: what the file switches off is not done, and the skip says why."""
    if switch:
        raise AirflowSkipException(f"switched off: {switch}")


def _shortened(document: dict[str, Any], *lists: str) -> dict[str, Any]:
    """Small enough for XCom: the first of each list, and how many there were."""
    for name in lists:
        document[f"{name}_count"] = len(document[name])
        document[name] = document[name][:LISTED]
    return {**document, "notices": document["notices"][:LISTED]}


def _unless_turned(task: Callable[[Flow], dict[str, Any]]) -> Callable[[Flow], dict[str, Any]]:
    """The task, skipped with a clear word where the flow is failed over or on its way back."""

    def carried_out(flow: Flow) -> dict[str, Any]:
        with skipped_when_another_run_owns_the_flow():
            return task(flow)

    return carried_out


TASKS: dict[str, Callable[[Flow], dict[str, Any]]] = {
    "sync_configs": _unless_turned(sync_configs),
    "sync_acls": _unless_turned(sync_acls),
    "emit": _unless_turned(emit_heartbeats),
    "checkpoints": _unless_turned(checkpoints),
    "sync_group_offsets": _unless_turned(sync_group_offsets),
}
