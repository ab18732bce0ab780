"""The task that copies: a Spark job that ends with it, and whose result document it turns into Airflow's terms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseHook, Context
from airflow.sdk.exceptions import AirflowException, AirflowNotFoundException

from mirror.airflow.assets import asset_of, event_extra
from mirror.airflow.connections import answers_for
from mirror.airflow.leash import Leash, end_tree
from mirror.airflow.outcomes import error_from_json, error_of, summary_of
from mirror.airflow.skipping import skipped_when_another_run_owns_the_flow
from mirror.config import Flow
from mirror.errors import AttemptsExhausted, ConfigurationRefused, MirrorError

if TYPE_CHECKING:
    from mirror.airflow.runs import TaskRun

CONNECTION = "spark_default"
JOB = Path(__file__).parents[3] / "spark_jobs" / "copy_flow.py"
_CONF = {
    "spark.speculation": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",  # at INFO Spark says a hundred lines before the job says its first
}


class CopyFlowOperator(SparkSubmitOperator):
    """Copies one flow on Spark, in client mode; skipped where another run has the flow."""

    def __init__(self, *, flow: Flow, config_path: Path, **arguments: Any) -> None:
        super().__init__(
            application=str(JOB),
            conn_id=CONNECTION,
            name=f"airmirror {flow.id}",
            conf=dict(_CONF),
            outlets=[asset_of(flow)],
            **arguments,
        )
        self._flow = flow
        self._config_path = config_path
        self._was_ended = False

    def execute(self, context: Context) -> dict[str, Any]:  # type: ignore[override]  # the parent returns nothing
        from mirror.airflow.runs import run_of, wait_for_turn

        run = run_of(self._flow, context)
        _require_client_mode()
        with skipped_when_another_run_owns_the_flow():
            wait_for_turn(self._flow, run, self.log.info)
            document = self._run_job(run)
            summary = {**summary_of(document), **_lag(self._flow)}
            self.log.info("%s", _sentence(summary))
            # Kept also when the task fails: what was copied was copied.
            context["ti"].xcom_push(key="return_value", value=summary)
            if (error := error_of(document)) is not None:
                raise error
        context["outlet_events"][asset_of(self._flow)].extra = event_extra(summary)
        return summary

    def on_kill(self) -> None:
        """Called when the task is marked, cleared, stopped or out of time: nothing of its job may stay."""
        self._was_ended = True
        submitted = self._hook._submit_sp if self._hook is not None else None
        if submitted is not None and submitted.poll() is None:
            with suppress(psutil.NoSuchProcess):
                end_tree(psutil.Process(submitted.pid))

    def _run_job(self, run: TaskRun) -> Mapping[str, Any]:
        """Run the job on a leash and return its result document; raise what it said where there is none."""
        with (
            tempfile.TemporaryDirectory(prefix="airmirror-", ignore_cleanup_errors=True) as folder,
            Leash(Path(folder) / "leash") as leash,
        ):
            last_word = Path(folder) / "last-word.json"
            self._describe_job(run, leash, last_word)
            leash.send(answers_for(self._flow))
            exit_code = self._submit()
            if self._was_ended:
                raise AirflowException("this task was ended from outside, and its Spark job with it")
            document = _document(self._flow, run.id) or _said(last_word)
        if document is None:
            raise AttemptsExhausted(
                f"{self._flow}: Spark ended with code {exit_code} before the copy could say anything",
                next_step="read this log from its beginning; airmirror copy runs the same without Airflow",
                flow=self._flow.id,
            )
        if "flow" not in document:
            raise error_from_json(document)
        return document

    def _describe_job(self, run: TaskRun, leash: Leash, last_word: Path) -> None:
        from mirror.shipping import shipped

        self.py_files = ",".join(str(file) for file in shipped(self._flow, leash.path.parent))
        self.application_args = [
            *("--config", str(self._config_path.absolute())),
            *("--run", run.id),
            *("--window", str(run.window_s)),
            *(("--topics", run.topics) if run.topics else ()),
            *("--leash", str(leash.path)),
            *("--last-word", str(last_word)),
            self._flow.id,
        ]
        python = os.environ.get("PYSPARK_PYTHON", sys.executable)
        self.env_vars = {
            "AIRMIRROR_RUN": run.id,  # inherited by all that the job starts, so that each can be told whose it is
            "AIRMIRROR_RUN_BY": run.by,
            "PYSPARK_PYTHON": python,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            # The spark-submit of this environment, where PATH names no other.
            "PATH": os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent))),
        }

    def _submit(self) -> int:
        hook = self._hook = self._get_hook()
        try:
            # Not the task's own standard input: that is Airflow's channel, and as long as the JVM has it open, Airflow
            # believes a task alive that was killed.
            hook.submit(self.application, stdin=subprocess.DEVNULL)
        except AirflowException:
            # The job's own words, which Airflow's would only repeat, are in the document.
            if hook._submit_sp is None:
                raise
        return int(hook._submit_sp.wait()) if hook._submit_sp is not None else 0


def _require_client_mode() -> None:
    """Without the connection Airflow would go to a YARN nobody spoke of; in cluster mode the leash has no hold."""
    command = f"airflow connections add {CONNECTION} --conn-type spark --conn-host 'local[*,4]'"
    try:
        connection = BaseHook.get_connection(CONNECTION)
    except AirflowNotFoundException:
        raise ConfigurationRefused(f"Airflow has no connection {CONNECTION}", next_step=command) from None
    if connection.extra_dejson.get("deploy-mode") == "cluster":
        raise ConfigurationRefused(
            f"connection {CONNECTION} asks for deploy mode cluster; airmirror's driver runs with its Airflow task",
            next_step=f"remove deploy-mode from the extra of connection {CONNECTION}",
        )


def _document(flow: Flow, run: str) -> Mapping[str, Any] | None:
    """The run's result as it stands in the control topic; None for one that was idle or failed before its claim."""
    from mirror.copy.control import Control
    from mirror.copy.links import links_of
    from mirror.kafka.cluster import Cluster

    links = links_of(flow)
    with Cluster(flow.target, links.target_admin) as target:
        return Control(links, target).read().result_of(run)


def _said(last_word: Path) -> Mapping[str, Any] | None:
    """What the job left where it had no place in the control topic: an idle result, or an error."""
    if not last_word.is_file():
        return None
    document: Mapping[str, Any] = json.loads(last_word.read_text())
    return document


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
