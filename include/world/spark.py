"""A Spark standalone cluster, master and one worker, from pyspark's own jars.

Its executors see of the project's disk only the installed packages, never `mirror` itself: what a job needs of
it must come with the job, as it must on anybody's cluster.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from world.process import Process

_MASTER_AT = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = "Successfully registered with master"


class SparkStandalone:
    """A master and a worker below a directory; entered they are ready, left they are gone."""

    def __init__(
        self, directory: Path, *, cores: int = 2, memory: str = "1g", authenticate: bool = False, encrypt: bool = False
    ) -> None:
        self.directory = directory
        self._cores = cores
        self._memory = memory
        self._conf_dir = directory / "conf"
        self._secret = secrets.token_urlsafe(32) if authenticate or encrypt else None
        self._encrypt = encrypt
        self._master: Process | None = None
        self._worker: Process | None = None

    @property
    def master_url(self) -> str:
        found = _MASTER_AT.search(self._master.log()) if self._master else None
        if found is None:
            raise RuntimeError("the Spark master is not started")
        return found[1]

    @property
    def worker_log(self) -> Path:
        return self.directory / "worker.log"

    def driver_environment(self) -> dict[str, str]:
        """What a driver (spark-submit, airmirror copy) needs in its environment to work on this cluster."""
        return {
            "PYSPARK_PYTHON": str(self.executor_python),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(self._conf_dir),  # the secret is in a file there, and on no command line
            "SPARK_LOCAL_IP": "127.0.0.1",
        }

    @property
    def executor_python(self) -> Path:
        return self.directory / "executor-python" / "bin" / "python"

    def __enter__(self) -> SparkStandalone:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start master and worker, each on ports that the system chooses, and wait until they know each other."""
        _make_bare_python(self.directory / "executor-python")
        self._write_settings()
        self._master = self._daemon("master", "org.apache.spark.deploy.master.Master", "--port", "0")
        self._master.start()
        self._master.wait_for_line("I have been elected leader", timeout_s=60)
        work = self.directory / "work"
        work.mkdir(exist_ok=True)
        limits = ("--cores", str(self._cores), "--memory", self._memory, "--work-dir", str(work))
        self._worker = self._daemon("worker", "org.apache.spark.deploy.worker.Worker", *limits, self.master_url)
        self._worker.start()
        self._worker.wait_for_line(_REGISTERED, timeout_s=60)

    def kill(self) -> None:
        """End the worker, with its executors, and the master."""
        if self._worker is not None:
            self._worker.stop(timeout_s=10)  # in order, because its executors are processes of their own
        if self._master is not None:
            self._master.kill()

    def _daemon(self, name: str, main_class: str, *arguments: str) -> Process:
        home = _spark_home()
        command = [str(home / "bin" / "spark-class"), main_class, "--host", "127.0.0.1", "--webui-port", "0"]
        inherited = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "SPARK_", "PYSPARK_", "AIRMIRROR_", "AIRFLOW"))
        }
        own = {
            "SPARK_HOME": str(home),
            "SPARK_CONF_DIR": str(self._conf_dir),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        return Process(
            name, [*command, *arguments], directory=self.directory, env={**inherited, **own}, cwd=self._conf_dir
        )

    def _write_settings(self) -> None:
        self._conf_dir.mkdir(parents=True, exist_ok=True)
        settings = {"spark.master.rest.enabled": "false", "spark.ui.enabled": "false"}
        if self._secret:
            settings |= {"spark.authenticate": "true", "spark.authenticate.secret": self._secret}
        if self._encrypt:
            settings |= {"spark.network.crypto.enabled": "true", "spark.io.encryption.enabled": "true"}
        path = self._conf_dir / "spark-defaults.conf"
        path.touch(mode=0o600)
        path.write_text("".join(f"{key} {value}\n" for key, value in settings.items()))


def _spark_home() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeError("pyspark is not installed here: run `make setup`")
    return Path(spec.origin).parent


def _make_bare_python(directory: Path) -> None:
    """A Python with our venv's packages but without the project.

    The editable install is itself a .pth file among those packages, and Python follows .pth files only in its own
    site directory: a folder that one names is searched for packages, not for further .pth files.
    """
    if (directory / "bin" / "python").exists():
        return
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(directory), "platbase": str(directory)}))
    (own / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
