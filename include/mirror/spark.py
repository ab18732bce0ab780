"""Runs slots as Spark tasks; the only module that knows Spark."""

from __future__ import annotations

import logging
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mirror.config import Flow
from mirror.copy.execution import WATCH_S
from mirror.copy.result import SlotResult
from mirror.copy.spec import SlotSpec
from mirror.errors import AttemptsExhausted, MirrorError, NotAuthorized
from mirror.shipping import own_code, package_zip

log = logging.getLogger(__name__)

Spec = TypeVar("Spec")
Result = TypeVar("Result")

# Plain local[*] never retries a task: a Python worker that is killed would fail the whole run.
LOCAL_MASTER = "local[*,4]"
# For the JVMs of a driver on this machine. They start tasks and see no record: compiling them well takes more CPU than
# the whole copy of a million records. No collector is named, because a second one in somebody's own options would
# keep the JVM from starting.
QUICK_START = {"SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1", "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1"}
# Seconds for cancelled tasks to end: Spark gives a Python worker two before it kills it.
CANCEL_S = 10.0


class SparkExecutor:
    """One Spark application; started when slots are first asked for, stopped with the context."""

    def __init__(self, *, master: str | None = None, name: str = "airmirror", flow: Flow | None = None) -> None:
        self._master = master
        self._flow = flow
        self._name = name
        self._context: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> SparkExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        if self._context is not None:
            self._context.stop()
        if self._folder is not None:
            self._folder.cleanup()

    def slot_count(self) -> int:
        return int(self._spark().defaultParallelism)

    def run(self, specs: Sequence[SlotSpec], watch: Callable[[], bool]) -> list[SlotResult]:
        """One task per slot; when `watch` says no, the job is cancelled and its slots are left to the fence."""
        results = self.run_each(_run_slot, specs, watch)
        return [SlotResult(slot=spec.slot) for spec in specs] if results is None else results

    def host(self) -> str:
        """The address under which executors reach this process."""
        return str(self._spark().getConf().get("spark.driver.host", "127.0.0.1"))

    def run_each(
        self, function: Callable[[Spec], Result], specs: Sequence[Spec], watch: Callable[[], bool]
    ) -> list[Result] | None:
        """One task per spec; None when `watch` said no and the job was cancelled."""
        context = self._spark()
        outcome: dict[str, Any] = {}

        def job() -> None:
            try:
                outcome["results"] = (
                    context.parallelize(list(specs), len(specs)).map(partial(_leashed, function)).collect()
                )
            except Exception as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
                outcome["error"] = error

        thread = threading.Thread(target=job, name="slots", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(WATCH_S)
                if thread.is_alive() and not watch():
                    context.cancelAllJobs()
                    thread.join()
                    return None
        except KeyboardInterrupt:
            # The workers first: whoever ends this run must not leave its writers behind.
            context.cancelAllJobs()
            thread.join(CANCEL_S)
            raise
        if "error" in outcome:
            raise _told(outcome["error"]) from outcome["error"]
        results: list[Result] = outcome["results"]
        return results

    def _spark(self) -> Any:
        if self._context is None:
            self._context = _start(self._master, self._name)
            self._folder = tempfile.TemporaryDirectory(prefix="airmirror-")
            self._ship(Path(self._folder.name))
        return self._context

    def _ship(self, directory: Path) -> None:
        """Bring the library to executors on other disks, and the flow's own modules to all."""
        brought = {
            name.rpartition("/")[2] for name in self._context.getConf().get("spark.submit.pyFiles", "").split(",")
        }
        files = [] if _is_local(self._context) else [package_zip(directory)]
        if self._flow is not None:
            files += own_code(self._flow, directory)
        for file in files:
            if file.name not in brought:  # by spark-submit
                self._context.addPyFile(str(file))


def _start(master: str | None, name: str) -> Any:
    # The workers must be this Python: another one lacks the packages. Spark reads it from the environment.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1") if (master or "").startswith("local") else None
    for key, value in QUICK_START.items():
        os.environ.setdefault(key, value)
    from py4j.protocol import INPUT_CONVERTER
    from pyspark import SparkConf, SparkContext

    # No array of numpy's is ever handed to the JVM here, and to look for one PySpark loads pandas: a second and a half.
    INPUT_CONVERTER[:] = [one for one in INPUT_CONVERTER if not type(one).__name__.startswith("Numpy")]
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()  # else a SparkConf does not know what spark-submit was told
    conf = SparkConf().setAppName(name)
    if master is not None:
        conf.setMaster(master)
    conf.setIfMissing("spark.master", LOCAL_MASTER)
    if conf.get("spark.master", LOCAL_MASTER).startswith("local"):
        conf.setIfMissing("spark.python.daemon.module", "mirror.spark_daemon")
    conf.setExecutorEnv("AIRMIRROR_DRIVER_PID", str(os.getpid()))  # whom the fault suite strikes from a worker
    conf.set("spark.speculation", "false")  # a second attempt beside the first would only fence it
    conf.setIfMissing("spark.ui.enabled", "false")
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    conf.setIfMissing("spark.task.maxFailures", "4")
    # Without it PySpark hands slots, which carry credentials, to the JVM through a file; with it, through a socket.
    conf.setIfMissing("spark.io.encryption.enabled", "true")
    context = SparkContext(conf=conf)
    context.setLogLevel(os.environ.get("AIRMIRROR_SPARK_LOG", "WARN"))
    _require_protection(context)
    return context


def _require_protection(context: Any) -> None:
    """The task closure carries the clusters' credentials: it leaves this machine only sealed."""
    if _is_local(context):
        return
    conf = context.getConf()
    missing = [
        name for name in ("spark.authenticate", "spark.network.crypto.enabled") if conf.get(name, "false") != "true"
    ]
    if missing:
        context.stop()
        settings = ", ".join(f"{name}=true" for name in missing)
        raise NotAuthorized(
            f"Spark master {context.master} would get the clusters' credentials over an open connection",
            next_step=f"set {settings} in the Spark connection's or cluster's configuration",
        )


def _is_local(context: Any) -> bool:
    return str(context.master).startswith("local")


def _leashed(function: Callable[[Spec], Result], spec: Spec) -> Result:
    """In a Python worker: run the function, and leave when Spark leaves."""
    _die_with_parent()
    return function(spec)


def _run_slot(spec: SlotSpec) -> SlotResult:
    """In a Python worker: run the slot."""
    from mirror.copy.slot import run_slot

    return replace(run_slot(spec), executor=_executor_name())


def _die_with_parent() -> None:
    """A worker whose executor is gone would go on copying until it is fenced: end it."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    if not any(thread.name == "parent-watch" for thread in threading.enumerate()):
        threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _executor_name() -> str:
    """Host, executor and process; a standalone executor works in a directory named after its application and number."""
    here = Path.cwd()
    executor = here.name if here.parent.name.startswith("app-") else "local"
    return f"{socket.gethostname()}/{executor}/{os.getpid()}"


def _told(error: Exception) -> MirrorError:
    """A task failed on all its attempts: tell the last line of its own words."""
    if isinstance(error, MirrorError):
        return error
    lines = [line.strip() for line in str(error).splitlines()]
    words = [line for line in lines if line.startswith(("mirror.errors.", "mirror.kafka."))]
    return AttemptsExhausted(
        f"a slot failed on every attempt: {words[0] if words else lines[0] if lines else error}",
        next_step="look into Spark's log for the worker's own traceback, then run this again",
    )
