"""A task that runs one of the Spark jobs: on a leash, in client mode; nothing of it is left when the task ends."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowException, AirflowNotFoundException

from mirror.airflow.connections import answers_for
from mirror.airflow.job import left
from mirror.airflow.leash import Leash, end_tree
from mirror.config import Flow
from mirror.errors import ConfigurationRefused

CONNECTION = "spark_default"
JOBS = Path(__file__).parents[3] / "spark_jobs"
_CONF = {
    "spark.speculation": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",  # at INFO Spark says a hundred lines before the job says its first
}


class SparkJobOperator(SparkSubmitOperator):
    """Starts a job of `spark_jobs` for one flow and gives back what it left."""

    def __init__(self, *, job: str, config_path: Path, **arguments: Any) -> None:
        super().__init__(application=str(JOBS / job), conn_id=CONNECTION, conf=dict(_CONF), **arguments)
        self._config_path = config_path
        self._was_ended = False

    def on_kill(self) -> None:
        """Called when the task is marked, cleared, stopped or out of time: nothing of its job may stay."""
        self._was_ended = True
        submitted = self._hook._submit_sp if self._hook is not None else None
        if submitted is not None and submitted.poll() is None:
            with suppress(psutil.NoSuchProcess):
                end_tree(psutil.Process(submitted.pid))

    def run_job(
        self, flow: Flow, *, run: str, by: str, arguments: Sequence[str]
    ) -> tuple[int, Mapping[str, Any] | None]:
        """Run the job on a leash; its exit code, and the document that it left, if any."""
        require_client_mode()
        with (
            tempfile.TemporaryDirectory(prefix="airmirror-", ignore_cleanup_errors=True) as folder,
            Leash(Path(folder) / "leash") as leash,
        ):
            last_word = Path(folder) / "last-word.json"
            self._describe(flow, leash, [*arguments, "--last-word", str(last_word)], run, by)
            leash.send(answers_for(flow))
            exit_code = self._submit()
            if self._was_ended:
                raise AirflowException("this task was ended from outside, and its Spark job with it")
            return exit_code, left(last_word)

    def _describe(self, flow: Flow, leash: Leash, arguments: Sequence[str], run: str, by: str) -> None:
        from mirror.shipping import shipped

        self.py_files = ",".join(str(file) for file in shipped(flow, leash.path.parent))
        config = str(self._config_path.absolute())
        self.application_args = ["--config", config, "--leash", str(leash.path), *arguments, flow.id]
        self.env_vars = {
            "AIRMIRROR_RUN": run,  # inherited by all that the job starts, so that each can be told whose it is
            "AIRMIRROR_RUN_BY": by,
            "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
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


def require_client_mode() -> Connection:
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
    return connection


def spark_master() -> str:
    """The connection's master, for a driver inside the task's own process."""
    connection = require_client_mode()
    return f"{connection.host}:{connection.port}" if connection.port else str(connection.host)
