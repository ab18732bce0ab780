"""However a copy's task ends, nothing of its Spark job stays behind, and what follows ends exact.

The endings happen side by side, because each waits most of its time for Spark to start. Four jobs at once need minutes:
make test has the roughest alone.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition

from dags.airflow_world import SLOW, AirflowWorld, wait_until
from faults.scenario import IS_LONG
from integration.records import numbered

pytestmark = pytest.mark.slow

ROUGHEST = "killed"
ENDINGS = SLOW if IS_LONG else (ROUGHEST,)
MILDER = [pytest.param(alias, marks=pytest.mark.long("four jobs at once")) for alias in SLOW if alias != ROUGHEST]

# At the flows' limit, seven minutes of copying: a job that goes on after its task is seen to.
RECORDS, SIZE = 900, 1000
# Strikes in mid-copy on an idle machine; on a busy one while Spark starts, and nothing may stay then either.
TIME_LIMIT_S = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What was seen of a flow whose first try was ended."""

    before: list[str]  # the try's processes
    left: list[str]  # those of them that did not end
    run_state: str
    tries: int
    difference: str


def processes_of(job: str) -> list[psutil.Process]:
    """Everything that a try's job started, down to Python workers: all inherit the run's id."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("AIRMIRROR_RUN") == job and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def kinds(processes: list[psutil.Process]) -> list[str]:
    words = {"copy_flow.py": "job", "mirror.spark_daemon": "python worker"}
    told = []
    for process in processes:
        try:
            line = " ".join(process.cmdline())
            kind = next((kind for word, kind in words.items() if word in line), line)
            told.append(f"{process.name()} {kind}")
        except psutil.Error:
            continue
    return told


class Try:
    """The first try of one flow's copy, and what follows it."""

    def __init__(self, world: AirflowWorld, alias: str) -> None:
        self._world, self._alias = world, alias
        self._dag = f"{alias}-to-west.copy"
        self._run = world.trigger(self._dag)
        self._job = re.sub(r"[^A-Za-z0-9_.-]", "_", self._run) + "_try1"
        self._seen: list[str] = []

    def end_and_follow(self) -> Ending:
        wait_until(self._is_over if self._alias == "late" else self._is_copying, f"{self._alias} copies", 240)
        before = self._seen
        self._world.lift_limit(self._alias)
        getattr(self, f"_be_{self._alias}")()
        try:
            wait_until(lambda: not processes_of(self._job), "the job's end", 60)
        except AssertionError:
            pass  # told as what is left
        left = kinds(processes_of(self._job))
        if left:  # what follows would wait for minutes for what should not be there
            return Ending(before=before, left=left, run_state="", tries=0, difference="")
        run_state = self._world.rest.wait_run(self._dag, self._run, 300)
        if self._alias == "marked":
            self._copy_again()
        return Ending(
            before=before,
            left=left,
            run_state=run_state,
            tries=int(self._task()["try_number"]),
            difference=self._world.difference(self._world.topic("slow"), self._alias),
        )

    def _be_late(self) -> None:
        self._world.limit.unlink()  # for the next try

    def _be_marked(self) -> None:
        self._world.mark_failed(self._dag, self._run, "copy")

    def _be_cleared(self) -> None:
        self._world.clear(self._dag, self._run, "copy")

    def _be_killed(self) -> None:
        jvm = next(process for process in processes_of(self._job) if process.name() == "java")
        task = psutil.Process(jvm.ppid())
        assert "airflow worker" in " ".join(task.cmdline())
        os.kill(task.pid, signal.SIGKILL)

    def _task(self) -> dict[str, Any]:
        return self._world.task(self._dag, self._run, "copy")

    def _is_copying(self) -> bool:
        self._seen = kinds(processes_of(self._job))
        return any("python worker" in kind for kind in self._seen) and self._has_arrived()

    def _has_arrived(self) -> bool:
        consumer = Consumer({"bootstrap.servers": self._world.west.bootstrap_servers, "group.id": "none"})
        try:
            remote = f"{self._alias}.{self._world.topic('slow')}"
            return any(consumer.get_watermark_offsets(TopicPartition(remote, n), 30)[1] > 0 for n in (0, 1))
        finally:
            consumer.close()

    def _is_over(self) -> bool:
        """Whether Airflow gave the first try up."""
        self._seen = kinds(processes_of(self._job)) or self._seen
        task = self._task()
        return task["state"] in ("up_for_retry", "failed", "success") or task["try_number"] > 1

    def _copy_again(self) -> None:
        """The next run; one that comes so soon that the ended try's claim still counts as living steps aside."""

        def has_copied() -> bool:
            run, state = self._world.run(self._dag)
            assert state == "success"
            return self._world.states(self._dag, run)["look"] == "success"

        wait_until(has_copied, "the claim's death", 240)


@pytest.fixture(scope="module")
def endings(airflow_world: AirflowWorld) -> Iterator[dict[str, Future[Ending]]]:
    """All of them, begun together."""
    topic = airflow_world.topic("slow")
    airflow_world.create(airflow_world.east, topic)
    airflow_world.write(airflow_world.east, topic, numbered(RECORDS, partitions=2, size=SIZE))
    airflow_world.limit.write_text(str(TIME_LIMIT_S))
    for alias in ENDINGS:
        airflow_world.create_remote_topics(airflow_world.flow(f"{alias}->west"))
    with ThreadPoolExecutor(len(ENDINGS)) as threads:
        yield {alias: threads.submit(Try(airflow_world, alias).end_and_follow) for alias in ENDINGS}


@pytest.mark.parametrize("alias", [ROUGHEST, *MILDER])
def test_nothing_stays_and_what_follows_ends_exact(endings: dict[str, Future[Ending]], alias: str) -> None:
    ending = endings[alias].result()
    assert any(kind.startswith("java") for kind in ending.before)
    assert ending.left == []
    # One that a person marked is left alone by Airflow; the next run goes on. The others are tried again.
    assert (ending.run_state, ending.tries) == (("failed", 1) if alias == "marked" else ("success", 2))
    assert ending.difference == ""
