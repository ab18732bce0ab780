"""Copies as processes of their own, struck by faults that are seen to fire, and gone without a trace afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from mirror.shipping import package_zip

AIRMIRROR = Path(sys.executable).with_name("airmirror")
SPARK_SUBMIT = AIRMIRROR.with_name("spark-submit")
JOB = Path(__file__).parents[2] / "spark_jobs" / "copy_flow.py"
IN_PROCESS = Path(__file__).with_name("copy_in_process.py")
OPERATE = Path(__file__).with_name("operate_in_process.py")
DEADLINE_S = 240
KILLED = -signal.SIGKILL


def wait_until(happened: Callable[[], bool], what: str, timeout_s: float = DEADLINE_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s:.0f} s"
        time.sleep(0.02)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is to happen at a named point, from its nth occurrence on; the marker says that it did."""

    point: str
    nth: int = 1
    who: str = "self"
    what: str = "kill"
    marker: Path

    def __str__(self) -> str:
        return f"{self.point}:{self.nth}:{self.who}:{self.what}:{self.marker}"

    @property
    def has_fired(self) -> bool:
        return self.marker.exists() and self.marker.read_text().endswith("\n")

    @property
    def pid(self) -> int:
        """The process that reached the point."""
        return int(self.marker.read_text())


@dataclass(slots=True, kw_only=True)
class Run:
    """One copy, running or ended."""

    process: subprocess.Popen[bytes]
    log: Path
    faults: tuple[Fault, ...]

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait(self, timeout_s: float = DEADLINE_S) -> int:
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"it did not end in {timeout_s:.0f} s:\n{self.output[-3000:]}") from error

    def assert_ends(self, code: int, timeout_s: float = DEADLINE_S) -> None:
        """It ends with this exit code, and every fault fired."""
        ended = self.wait(timeout_s)
        unfired = [str(fault) for fault in self.faults if not fault.has_fired]
        assert not unfired, f"never fired: {unfired}\n{self.output[-3000:]}"
        assert ended == code, f"exit {ended}, expected {code}:\n{self.output[-3000:]}"

    def assert_reaches(self, fault: Fault) -> int:
        """The fault fires while the run is on; gives the process that it struck from."""
        wait_until(lambda: fault.has_fired or self.process.poll() is not None, f"{fault.point} of\n{self.output}")
        assert fault.has_fired, f"{fault} never fired:\n{self.output[-3000:]}"
        return fault.pid


@dataclass(slots=True)
class Runs:
    """Starts copies of one configuration file; all their processes carry its path in their environment."""

    config: Path
    flow: str
    directory: Path
    _started: list[Run] = field(default_factory=list)

    def fault(self, point: str, nth: int = 1, *, who: str = "self", what: str = "kill") -> Fault:
        return Fault(
            point=point, nth=nth, who=who, what=what, marker=self.directory / f"{point}-{uuid.uuid4().hex[:6]}.fired"
        )

    def in_process(
        self, *faults: Fault, on_held: str = "wait", window_s: float = 0, environment: Mapping[str, str] | None = None
    ) -> Run:
        """A copy with its two slots in threads."""
        command = [sys.executable, str(IN_PROCESS), str(self.config), self.flow, on_held, str(window_s)]
        return self.start(command, faults, environment or {})

    def command(
        self,
        *faults: Fault,
        master: str = "local[2,4]",
        window_s: float = 0,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Run:
        """`airmirror copy` with real Spark: its process is the Spark driver."""
        command = [
            *(str(AIRMIRROR), "--config", str(self.config), "copy", self.flow),
            *("--master", master, "--window", str(window_s), "--json", *options),
        ]
        return self.start(command, faults, environment or {})

    def submitted(self, *faults: Fault, master: str = "local[2,4]", window_s: float = 0) -> Run:
        """The job as Airflow starts it: spark-submit's JVM is the parent of the driver."""
        command = [
            *(str(SPARK_SUBMIT), "--master", master, "--py-files", str(package_zip(self.directory))),
            *("--conf", "spark.ui.enabled=false", str(JOB), "--config", str(self.config)),
            *("--run", f"submitted-{len(self._started)}", "--window", str(window_s), self.flow),
        ]
        return self.start(command, faults, {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"})

    def operation(self, name: str, *faults: Fault) -> Run:
        """A failover (unplanned, or `planned`) or failback, with its copies in threads."""
        return self.start([sys.executable, str(OPERATE), str(self.config), self.flow, name], faults, {})

    def start(self, command: Sequence[str], faults: Sequence[Fault], environment: Mapping[str, str]) -> Run:
        log = self.directory / f"run-{len(self._started)}.log"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AIRMIRROR_", "SPARK"))}
        own = {"AIRMIRROR_CONFIG": str(self.config)}
        if faults:
            own["AIRMIRROR_FAULT"] = ";".join(map(str, faults))
        with log.open("wb") as output:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**inherited, **own, **environment},
                start_new_session=True,
            )
        run = Run(process=process, log=log, faults=tuple(faults))
        self._started.append(run)
        return run

    def processes(self) -> list[psutil.Process]:
        """Every living process of ours: drivers, JVMs, Python workers."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            mark = process.environ().get("AIRMIRROR_CONFIG") == str(self.config)
            return mark and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def assert_none_left(self) -> None:
        """Every process of every run is gone by itself, soon."""
        wait_until(lambda: not self.processes(), "no process left", 20)

    def end(self) -> None:
        """Leave nothing behind, whatever a failed test left."""
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        for run in self._started:
            run.process.wait(10)
