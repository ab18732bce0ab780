"""What all Dags of flows have in common."""

from __future__ import annotations

from typing import Any

from airflow.sdk import DAG, BaseOperator, Param

from mirror.airflow.retries import RETRY_ARGUMENTS
from mirror.config import Flow


def flow_dag(flow: Flow, suffix: str, **arguments: Any) -> DAG:
    """The Dag `A-to-B.<suffix>`: one run at a time, none made up for."""
    return DAG(
        dag_id=f"{flow.slug}.{suffix}",
        dag_display_name=f"{flow.source} → {flow.target}: {suffix}",
        tags=["airmirror", flow.id, f"source {flow.source}", f"target {flow.target}"],
        catchup=False,
        max_active_runs=1,
        default_args={"owner": "airmirror", **RETRY_ARGUMENTS},
        **arguments,
    )


def topics_param(verb: str) -> Param:
    """The field of a form that narrows its flow's topics down."""
    return Param(
        None,
        type=["null", "string"],
        format="regex",
        title="Topics",
        description=f"{verb} only source topics whose whole name matches this regular expression; empty: all.",
    )


class FlowOperator(BaseOperator):
    """A task on one flow. What it does is imported when it runs: Dag files are parsed again and again.

    Not `@task`, which takes twice as long to build: a file of a hundred flows has hundreds of these.
    """

    def __init__(self, *, flow: Flow, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._flow = flow
