"""From a flow of the configuration to its Dags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Context, Param

from mirror.airflow.assets import topics_asset_of
from mirror.airflow.copy_operator import CopyFlowOperator
from mirror.airflow.dag import FlowOperator, flow_dag, topics_param
from mirror.airflow.descriptions import describe_copy, describe_topics
from mirror.airflow.upkeep_dags import acls_dag, configs_dag, groups_dag, heartbeats_dag
from mirror.config import Configuration, Flow
from mirror.config import options as opt

# Ends a copy that hangs, so that its flow is not blocked for good. What it committed stays and the retry goes on from
# there, so that a first copy of many hours loses a few seconds and Spark's start to it.
COPY_TIMEOUT = timedelta(hours=6)


class DiscoverOperator(FlowOperator):
    """Tells which topics are missing or too small."""

    def execute(self, context: Context) -> dict[str, Any]:
        from mirror.airflow.topic_tasks import discover_topics

        return discover_topics(self._flow, context)


class CreateTopicsOperator(FlowOperator):
    """Makes what `discover` told."""

    def execute(self, context: Context) -> dict[str, Any]:
        from mirror.airflow.topic_tasks import create_topics

        return create_topics(self._flow, context["ti"].xcom_pull(task_ids="discover"))


class LookOperator(FlowOperator):
    """Tells whether there is something to copy."""

    def execute(self, context: Context) -> dict[str, Any]:
        from mirror.airflow.look_task import look_at_flow

        return look_at_flow(self._flow, context)


def dags_of(configuration: Configuration, *, only: str | None = None) -> Iterator[DAG]:
    """The Dags of every flow; `only` builds the one with this id, for a task's own start.

    A pair whose flow is not enabled still has heartbeats, as in MM2: they show that the opposite flow lives.
    """
    for flow in configuration.flows:
        builders = _BUILDERS if flow.enabled else _PAIR_BUILDERS
        for suffix, build in builders.items():
            if only in (None, f"{flow.slug}.{suffix}"):
                yield build(configuration, flow)


def _topics_dag(configuration: Configuration, flow: Flow) -> DAG:
    """Creates and grows the remote topics."""
    interval = timedelta(seconds=flow[opt.REFRESH_TOPICS_INTERVAL])
    with flow_dag(
        flow,
        "topics",
        schedule=interval if flow[opt.REFRESH_TOPICS_ENABLED] else None,
        doc_md=describe_topics(configuration, flow),
    ) as dag:
        discover = DiscoverOperator(task_id="discover", task_display_name="discover what is missing", flow=flow)
        discover >> CreateTopicsOperator(
            task_id="create_topics",
            task_display_name="create and grow topics",
            flow=flow,
            outlets=[topics_asset_of(flow)],
        )
    return dag


def _copy_dag(configuration: Configuration, flow: Flow) -> DAG:
    """Looks whether there is something to copy, and copies it."""
    with flow_dag(
        flow,
        "copy",
        schedule=flow[opt.COPY_SCHEDULE],
        doc_md=describe_copy(configuration, flow),
    ) as dag:
        # Behind its making: there Airflow would hold each default against its schema, and the schema against that of
        # all schemas, which takes a fourth of the time in which a file of a hundred flows is parsed.
        dag.params.update(_copy_params(flow))
        look = LookOperator(task_id="look", task_display_name="look at both clusters", flow=flow)
        look >> CopyFlowOperator(
            task_id="copy",
            task_display_name="copy on Spark",
            flow=flow,
            config_path=configuration.path,
            execution_timeout=COPY_TIMEOUT + timedelta(seconds=flow[opt.COPY_WINDOW_SECONDS]),
        )
    return dag


def _copy_params(flow: Flow) -> dict[str, Param]:
    """The form of a copy that a person starts."""
    return {
        "topics": topics_param("Copy"),
        "window": Param(
            None,
            type=["null", "integer"],
            minimum=0,
            title="Window in seconds",
            description="Go on so long with what arrives; 0: copy what is there and end; "
            f"empty: as the file says ({flow[opt.COPY_WINDOW_SECONDS]}).",
        ),
    }


_PAIR_BUILDERS: dict[str, Callable[[Configuration, Flow], DAG]] = {"heartbeats": heartbeats_dag}
_BUILDERS: dict[str, Callable[[Configuration, Flow], DAG]] = {
    "topics": _topics_dag,
    "configs": configs_dag,
    "acls": acls_dag,
    "copy": _copy_dag,
    "groups": groups_dag,
    **_PAIR_BUILDERS,
}
