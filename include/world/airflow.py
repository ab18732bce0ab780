"""Airflow standalone (SQLite, LocalExecutor) with the project's Dags, on loopback.

with AirflowStandalone(home, config_file) as airflow:
    run = airflow.rest.trigger("east-to-west.copy")
    assert airflow.rest.wait_run("east-to-west.copy", run) == "success"
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from world import project
from world.airflow_rest import AirflowRest
from world.ports import free_ports
from world.process import Process, ProcessDied

# Only SIGINT ends all of standalone, and what a script started in its background ignores SIGINT.
_UNDO_IGNORED_SIGINT = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)
_COMPONENTS = ("metadatabase", "scheduler", "triggerer", "dag_processor")


class AirflowStandalone:
    """One Airflow below `home`; entered it is healthy, left it is stopped (its database stays)."""

    def __init__(
        self,
        home: Path,
        config_file: Path,
        *,
        spark: Mapping[str, object] | None = None,
        dags_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        port: int | None = None,
        detach: bool = False,
    ) -> None:
        self.home = home
        self._config_file = config_file
        self._spark = dict(spark or {"host": "local[*,4]"})
        self._dags_folder = dags_folder or project.root() / "dags"
        self._environment = dict(environment or {})
        chosen = free_ports(3)
        self.port = port or chosen[0]
        self._log_ports = chosen[1:]
        self._detach = detach
        self._process: Process | None = None
        self.passwords = self._known_passwords() or {name: secrets.token_urlsafe(12) for name in ("admin", "viewer")}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def rest(self) -> AirflowRest:
        return self.rest_as("admin")

    def rest_as(self, user: str) -> AirflowRest:
        """The REST API as `admin`, who may do all, or `viewer`, who may look."""
        return AirflowRest(self.url, user, self.passwords[user])

    @property
    def log_path(self) -> Path:
        return self.home / "standalone.log"

    def __enter__(self) -> AirflowStandalone:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self, timeout_s: float = 240) -> None:
        """Start it and wait until every component is healthy."""
        self.launch()
        self.wait_until_ready(timeout_s)

    def launch(self) -> None:
        """Start it without waiting."""
        self.home.mkdir(parents=True, exist_ok=True)
        self._passwords_file.touch(mode=0o600)
        self._passwords_file.write_text(json.dumps(self.passwords))
        binaries = Path(sys.executable).parent
        command = [sys.executable, "-c", _UNDO_IGNORED_SIGINT, str(binaries / "airflow"), "standalone"]
        self._process = Process(
            "standalone",
            command,
            directory=self.home,
            env=self.environment(),
            cwd=self.home,
            detach=self._detach,
            stop_signal=signal.SIGINT,
        )
        self._process.start()

    def wait_until_ready(self, timeout_s: float = 240) -> None:
        """Wait for the API's word on every component: the log says "ready" before the API listens."""
        deadline = time.monotonic() + timeout_s
        rest = AirflowRest(self.url, "", "")
        while any((health := rest.health()).get(name) != "healthy" for name in _COMPONENTS):
            if self._process is None or not self._process.is_running():
                raise ProcessDied(f"Airflow ended while starting, see {self.log_path}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"Airflow is not healthy after {timeout_s} s: {health}, see {self.log_path}")
            time.sleep(0.4)

    def stop(self) -> None:
        """End it as Ctrl-C would: the only signal after which no component stays behind."""
        if self._process is not None:
            self._process.stop(timeout_s=40)

    def environment(self) -> dict[str, str]:
        """What its processes run with; also what `airflow` on a command line needs to speak of the same instance."""
        inherited = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("AIRFLOW", "AIRMIRROR_", "PYTHONPATH", "SPARK_", "PYSPARK_"))
        }
        binaries = Path(sys.executable).parent
        own = {
            "AIRMIRROR_CONFIG": str(self._config_file),
            "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", **self._spark}),
            "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "NO_COLOR": "1",
        }
        return {**inherited, **own, **self._airflow_settings(), **self._environment}

    def _airflow_settings(self) -> dict[str, str]:
        worker_log_port, trigger_log_port = self._log_ports
        settings = {
            "CORE__DAGS_FOLDER": self._dags_folder,
            "CORE__PLUGINS_FOLDER": project.root() / "plugins",
            "CORE__LOAD_EXAMPLES": False,
            "CORE__DAGS_ARE_PAUSED_AT_CREATION": False,
            # Each slot is a process forked ahead; four are enough for the Dags of two flows.
            "CORE__PARALLELISM": 4,
            "CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin,viewer:viewer",
            "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": self._passwords_file,
            "API__HOST": "127.0.0.1",
            "API__PORT": self.port,
            # Without it tasks would call the default port, and fail without a word in their logs.
            "API__BASE_URL": self.url,
            "API_AUTH__JWT_SECRET": secrets.token_urlsafe(64),
            "LOGGING__WORKER_LOG_SERVER_PORT": worker_log_port,
            "LOGGING__TRIGGER_LOG_SERVER_PORT": trigger_log_port,
            "DAG_PROCESSOR__REFRESH_INTERVAL": 10,
            # Seconds, not five: on a busy machine a task that waits for the API server would be given up for dead.
            "WORKERS__EXECUTION_API_TIMEOUT": 30,
            # Not five: after a start the first tasks call before the API server listens, and would lose tries to that.
            "WORKERS__EXECUTION_API_RETRIES": 10,
        }
        return {"AIRFLOW_HOME": str(self.home)} | {f"AIRFLOW__{key}": str(value) for key, value in settings.items()}

    @property
    def _passwords_file(self) -> Path:
        return self.home / "passwords.json"

    def _known_passwords(self) -> dict[str, str] | None:
        """Those of an earlier start, so that a person's bookmark and password stay good."""
        if not self._passwords_file.is_file():
            return None
        return dict(json.loads(self._passwords_file.read_text()))
