"""A real Airflow over two real clusters, and what the tests ask of it."""

from __future__ import annotations

import json
import threading
import time
import urllib.parse
import uuid
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic

import documented
from dags.guarded import ALIAS as GUARDED
from dags.guarded import Guarded
from flow_files import write_file
from integration import records
from integration.records import Sent
from mirror.config import Flow, load
from mirror.kafka.cluster import Cluster
from mirror.topics import apply, discover
from world import project
from world.airflow import AirflowStandalone
from world.airflow_rest import AirflowRest
from world.kafka import KafkaCluster

# Every flow but the first two is `alias->west`, where the alias is another name of east: each has its own state.
SLOW = ("late", "marked", "cleared", "killed")
ODD = ("picky", "anew", "held", "grouped")
REHEARSED = "rehearsed"
TURNED = "turned"  # fails over and comes back, by its Dags
DOWNED = "downed"  # fails over while Airflow is down; alone it has schedules, for who lifts its Dags' pause
OWN = "own"  # has a policy, a filter and a record function of its own, as docs/ shows them
OPERATED = (REHEARSED, TURNED, DOWNED)
LIMIT = "airmirror.copy.max.bytes.per.second"
BYTES_PER_SECOND = 2_000

# Every Dag of the flow within a minute.
SCHEDULED = {
    "airmirror.copy.schedule": "30",
    "refresh.topics.enabled": "true",
    "refresh.topics.interval.seconds": "60",
    "sync.topic.configs.interval.seconds": "60",
    "sync.topic.acls.interval.seconds": "60",
    "sync.group.offsets.enabled": "true",
    "emit.heartbeats.enabled": "true",
}

# The project's Dag file, with a time limit for one flow's copy while the test wants it.
DAG_FILE = """
import runpy
from datetime import timedelta
from pathlib import Path
# Airflow looks for the words airflow and dag in a file before it reads it.
found = runpy.run_path({flows!r})
globals().update({{name: dag for name, dag in found.items() if "-to-" in name}})
limit = Path({limit!r})
if "late-to-west.copy" in found and limit.exists():
    found["late-to-west.copy"].get_task("copy").execution_timeout = timedelta(seconds=float(limit.read_text()))
"""


OPERATIONS_FILE = """
import runpy
# Airflow looks for the words airflow and dag in a file before it reads it.
globals().update({{name: dag for name, dag in runpy.run_path({operations!r}).items() if name.startswith("mirror.")}})
"""


class AirflowWorld:
    """Airflow, its clusters and its flows; topics are prefixed, because other tests use the clusters too."""

    def __init__(self, directory: Path, east: KafkaCluster, west: KafkaCluster) -> None:
        self.east, self.west = east, west
        self.prefix = f"af-{uuid.uuid4().hex[:6]}"
        self.limit = directory / "limit"
        self.guarded = Guarded(directory)
        self._writing = threading.Lock()
        self.config = self._write_config(directory)
        dags = directory / "dags"
        dags.mkdir()
        source = DAG_FILE.format(flows=str(project.root() / "dags" / "flows.py"), limit=str(self.limit))
        (dags / "flows_with_a_limit.py").write_text(source)
        operations = str(project.root() / "dags" / "operations.py")
        (dags / "operations_of_flows.py").write_text(OPERATIONS_FILE.format(operations=operations))
        self.airflow = AirflowStandalone(
            directory / "airflow",
            self.config,
            dags_folder=dags,
            # Paused until a test wants them: no Dag runs by its own schedule.
            environment={
                "AIRFLOW__CORE__PARALLELISM": "8",
                "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
                **self.guarded.environment(),
            },
        )

    def _write_config(self, directory: Path) -> Path:
        servers = {"east": self.east, "west": self.west} | dict.fromkeys((*SLOW, *ODD, *OPERATED, OWN), self.east)
        lines = [
            "replication.factor = 1",
            "airmirror.copy.schedule = none",
            "refresh.topics.enabled = false",
            "emit.heartbeats.enabled = false",
            "airmirror.claim.renew.seconds = 1",
            "grouped->west.sync.group.offsets.enabled = true",
            # Also names of remote topics match: only the rule against cycles keeps them out.
            f"topics = .*{self.prefix}-both-.*",
            *(f"{alias}->west.topics = {self.prefix}-slow" for alias in SLOW),
            *(f"{alias}->west.{LIMIT} = {BYTES_PER_SECOND}" for alias in SLOW),
            *(f"{alias}->west.topics = {self.prefix}-{alias}" for alias in (*ODD, REHEARSED, GUARDED)),
            *(f"{alias}->west.topics = {self.prefix}-{alias}-.*" for alias in (TURNED, DOWNED)),
            *(f"{DOWNED}->west.{name} = {value}" for name, value in SCHEDULED.items()),
            *self.guarded.lines(),
            "checkpoints.topic.replication.factor = 1",
            f"groups = {self.prefix}-.*",
            documented.chosen_classes(directory, "replication.policy", "topic.filter", flow=f"{OWN}->west"),
            documented.record_function(directory, f"{OWN}->west"),
        ]
        (directory / "topics.txt").write_text(f"{self.topic(OWN)}\n")
        return write_file(
            directory,
            "\n".join(lines) + "\n",
            clusters={alias: cluster.bootstrap_servers for alias, cluster in servers.items()}
            | {GUARDED: self.guarded.servers},
            flows=("east->west", "west->east", *(f"{alias}->west" for alias in (*SLOW, *ODD, *OPERATED, OWN, GUARDED))),
        )

    def lift_limit(self, alias: str) -> None:
        """Let the next try of a slow flow copy as fast as it can."""
        with self._writing:
            lines = self.config.read_text().splitlines(keepends=True)
            changed = self.config.with_suffix(".changed")
            changed.write_text("".join(line for line in lines if not line.startswith(f"{alias}->west.{LIMIT}")))
            changed.replace(self.config)  # at once, because Airflow reads it at any time

    @cached_property
    def rest(self) -> AirflowRest:
        return self.airflow.rest  # one login for all

    def start_again(self) -> None:
        """Start Airflow on the database that it left; its tokens are new."""
        self.__dict__.pop("rest", None)
        self.airflow.start()

    def flow(self, name: str) -> Flow:
        return load(self.config).flow(name)

    def topic(self, label: str) -> str:
        return f"{self.prefix}-{label}"

    def create(self, cluster: KafkaCluster, topic: str, partitions: int = 2, **settings: str) -> None:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        config = {name.replace("_", "."): value for name, value in settings.items()}
        admin.create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].result(30)

    def create_remote_topics(self, flow: Flow) -> None:
        with (
            Cluster(flow.source, flow.admin_settings("source")) as source,
            Cluster(flow.target, flow.admin_settings("target")) as target,
        ):
            apply(discover(flow, source, target), source, target)

    def write(self, cluster: KafkaCluster, topic: str, sent: list[Sent]) -> None:
        records.write(cluster.bootstrap_servers, topic, sent)

    def difference(self, topic: str, alias: str, source: KafkaCluster | None = None) -> str:
        """The first thing that is not the same in `alias->west`'s copy of a topic, east's or another cluster's."""
        upstream = records.read((source or self.east).bootstrap_servers, [topic])[topic]
        remote = f"{alias}.{topic}"
        return records.first_difference(upstream, records.read(self.west.bootstrap_servers, [remote])[remote])

    def run(self, dag: str, conf: Mapping[str, Any] | None = None, timeout_s: float = 300) -> tuple[str, str]:
        """Start a run and wait for its end: its id and its state."""
        run = self.trigger(dag, conf)
        return run, self.rest.wait_run(dag, run, timeout_s)

    def trigger(self, dag: str, conf: Mapping[str, Any] | None = None) -> str:
        self.rest.pause(dag, False)
        return self.rest.trigger(dag, conf)

    def task(self, dag: str, run: str, task: str) -> dict[str, Any]:
        return next(each for each in self.rest.task_instances(dag, run) if each["task_id"] == task)

    def states(self, dag: str, run: str) -> dict[str, str]:
        return {task["task_id"]: task["state"] for task in self.rest.task_instances(dag, run)}

    def log(self, dag: str, run: str, task: str, try_number: int = 1) -> str:
        """A try's log with all that Airflow's page shows of it, tracebacks too."""
        run = urllib.parse.quote(run, safe="")
        path = f"/api/v2/dags/{dag}/dagRuns/{run}/taskInstances/{task}/logs/{try_number}"
        return json.dumps(self.rest.get(path, full_content="true")["content"])

    def mark_failed(self, dag: str, run: str, task: str) -> None:
        path = f"/api/v2/dags/{dag}/dagRuns/{urllib.parse.quote(run, safe='')}/taskInstances/{task}"
        self.rest.patch(path, {"new_state": "failed"})

    def clear(self, dag: str, run: str, task: str) -> None:
        body = {"dry_run": False, "dag_run_id": run, "task_ids": [task], "only_failed": False}
        self.rest.post(f"/api/v2/dags/{dag}/clearTaskInstances", body)


def wait_until(happened: Callable[[], bool], what: str, timeout_s: float = 120) -> None:
    deadline = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < deadline, f"not in {timeout_s} s: {what}"
        time.sleep(0.2)
