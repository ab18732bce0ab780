"""The task that copies: a Spark job that ends with it, and whose result document it turns into Airflow's terms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import Context

from mirror.airflow.assets import asset_of, event_extra
from mirror.airflow.outcomes import error_from_json, error_of, summary_of
from mirror.airflow.skipping import skipped_when_another_run_owns_the_flow
from mirror.airflow.spark_job import SparkJobOperator, require_client_mode
from mirror.config import Flow
from mirror.errors import AttemptsExhausted, MirrorError

if TYPE_CHECKING:
    from mirror.airflow.runs import TaskRun


class CopyFlowOperator(SparkJobOperator):
    """Copies one flow on Spark, in client mode; skipped where another run has the flow."""

    def __init__(self, *, flow: Flow, config_path: Path, **arguments: Any) -> None:
        super().__init__(
            job="copy_flow.py",
            config_path=config_path,
            name=f"airmirror {flow.id}",
            outlets=[asset_of(flow)],
            **arguments,
        )
        self._flow = flow

    def execute(self, context: Context) -> dict[str, Any]:  # type: ignore[override]  # the parent returns nothing
        from mirror.airflow.runs import run_of, wait_for_turn
        from mirror.copy.gate import require_flow_forward

        run = run_of(self._flow, context)
        require_client_mode()
        with skipped_when_another_run_owns_the_flow():
            # The look was before this task, perhaps days: Spark is not started for a flow that is turned meanwhile.
            require_flow_forward(self._flow)
            wait_for_turn(self._flow, run, self.log.info)
            document = self._copy(run)
            summary = {**summary_of(document), **_lag(self._flow)}
            self.log.info("%s", _sentence(summary))
            # Kept also when the task fails: what was copied was copied.
            context["ti"].xcom_push(key="return_value", value=summary)
            if (error := error_of(document)) is not None:
                raise error
        context["outlet_events"][asset_of(self._flow)].extra = event_extra(summary)
        return summary

    def _copy(self, run: TaskRun) -> Mapping[str, Any]:
        """The result document; where there is none, the job's own error is raised."""
        topics = ("--topics", run.topics) if run.topics else ()
        arguments = ["--run", run.id, "--window", str(run.window_s), *topics]
        exit_code, said = self.run_job(self._flow, run=run.id, by=run.by, arguments=arguments)
        document = _document(self._flow, run.id) or said
        if document is None:
            raise AttemptsExhausted(
                f"{self._flow}: Spark ended with code {exit_code} before the copy could say anything",
                next_step="read this log from its beginning; airmirror copy runs the same without Airflow",
                flow=self._flow.id,
            )
        if "flow" not in document:
            raise error_from_json(document)
        return document


def _document(flow: Flow, run: str) -> Mapping[str, Any] | None:
    """The run's result as it stands in the control topic; None for one that was idle or failed before its claim."""
    from mirror.copy.control import Control
    from mirror.copy.links import links_of
    from mirror.kafka.cluster import Cluster

    links = links_of(flow)
    with Cluster(flow.target, links.target_admin) as target:
        return Control(links, target).read().result_of(run)


def _lag(flow: Flow) -> dict[str, Any]:
    """How far the flow is behind now, as `airmirror lag` counts it; None where a cluster does not answer."""
    from mirror.status.measure import measure_lag

    try:
        lag = measure_lag(flow)
    except MirrorError:
        # The copy is done: its success does not hang on this number.
        return {"lag_records": None, "lag_seconds": None}
    return {"lag_records": lag.lag, "lag_seconds": round(lag.behind_s, 3)}


def _sentence(summary: Mapping[str, Any]) -> str:
    partitions = len(summary["partitions"]) + summary["partitions_not_listed"]
    return (
        f"{summary['flow']}: {summary['records']} records, {summary['bytes']} bytes in {partitions} partitions, "
        f"{summary['seconds']} s; behind by {summary['lag_records']} records"
    )
