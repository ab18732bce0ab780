"""The Dags beside a flow's copy: settings, ACLs, groups and heartbeats."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, AssetOrTimeSchedule, Context, DeltaTriggerTimetable

from mirror.airflow.assets import asset_of, topics_asset_of
from mirror.airflow.dag import FlowOperator, flow_dag
from mirror.airflow.descriptions import describe_acls, describe_configs, describe_groups, describe_heartbeats
from mirror.config import Configuration, Flow
from mirror.config import options as opt
from mirror.config.options import Option

# Seconds: a task's start costs seconds of a core, and Airflow's own clock is not finer.
HEARTBEATS_AT_LEAST = GROUPS_AT_LEAST = 60


class UpkeepOperator(FlowOperator):
    """Runs the function of `upkeep_tasks` that has the task's name."""

    def execute(self, context: Context) -> dict[str, Any]:
        from mirror.airflow.upkeep_tasks import TASKS

        return TASKS[self.task_id](self._flow)


def configs_dag(configuration: Configuration, flow: Flow) -> DAG:
    """Keeps remote topics' settings equal to the source's."""
    schedule = _also_after_new_topics(flow, opt.SYNC_TOPIC_CONFIGS_ENABLED, opt.SYNC_TOPIC_CONFIGS_INTERVAL)
    with flow_dag(flow, "configs", schedule=schedule, doc_md=describe_configs(configuration, flow)) as dag:
        UpkeepOperator(task_id="sync_configs", task_display_name="make settings equal", flow=flow)
    return dag


def acls_dag(configuration: Configuration, flow: Flow) -> DAG:
    """Copies topics' ACLs."""
    schedule = _also_after_new_topics(flow, opt.SYNC_TOPIC_ACLS_ENABLED, opt.SYNC_TOPIC_ACLS_INTERVAL)
    with flow_dag(flow, "acls", schedule=schedule, doc_md=describe_acls(configuration, flow)) as dag:
        UpkeepOperator(task_id="sync_acls", task_display_name="copy ACLs", flow=flow)
    return dag


def groups_dag(configuration: Configuration, flow: Flow) -> DAG:
    """Translates groups' offsets and moves the target's idle groups, after each copy and on an interval."""
    does_sync = flow[opt.SYNC_GROUP_OFFSETS_ENABLED]
    with flow_dag(flow, "groups", schedule=_groups_schedule(flow), doc_md=describe_groups(configuration, flow)) as dag:
        checkpoints = UpkeepOperator(task_id="checkpoints", task_display_name="translate and tell", flow=flow)
        checkpoints >> UpkeepOperator(
            task_id="sync_group_offsets",
            task_display_name="move idle groups",
            flow=flow,
            # One group that cannot be read must not hold back the others. Where nothing is synced this task is skipped,
            # and must not turn a failure before it into a run that succeeded.
            trigger_rule="all_done" if does_sync else "all_success",
        )
    return dag


def _groups_schedule(flow: Flow) -> AssetOrTimeSchedule | None:
    if not flow[opt.EMIT_CHECKPOINTS_ENABLED]:
        return None
    seconds = flow[opt.EMIT_CHECKPOINTS_INTERVAL]
    if flow[opt.SYNC_GROUP_OFFSETS_ENABLED]:
        seconds = min(seconds, flow[opt.SYNC_GROUP_OFFSETS_INTERVAL])
    return AssetOrTimeSchedule(
        timetable=DeltaTriggerTimetable(timedelta(seconds=max(seconds, GROUPS_AT_LEAST))), assets=[asset_of(flow)]
    )


def heartbeats_dag(configuration: Configuration, flow: Flow) -> DAG:
    """Writes the pair's heartbeat and copies the source's."""
    schedule = timedelta(seconds=max(flow[opt.EMIT_HEARTBEATS_INTERVAL], HEARTBEATS_AT_LEAST))
    with flow_dag(flow, "heartbeats", schedule=schedule, doc_md=describe_heartbeats(configuration, flow)) as dag:
        UpkeepOperator(task_id="emit", task_display_name="write and copy heartbeats", flow=flow)
    return dag


def _also_after_new_topics(flow: Flow, enabled: Option[bool], interval: Option[int]) -> AssetOrTimeSchedule | None:
    if not flow[enabled]:
        return None
    return AssetOrTimeSchedule(
        timetable=DeltaTriggerTimetable(timedelta(seconds=flow[interval])), assets=[topics_asset_of(flow)]
    )
