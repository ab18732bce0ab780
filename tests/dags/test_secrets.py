"""A flow with TLS, a login and secrets of every provider, on a real Airflow and Spark: they turn up nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dags.airflow_world import AirflowWorld
from dags.guarded import ALIAS, CONNECTION, ProcessList, files_with, tables_with
from integration.records import numbered
from mirror import naming
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import read_log
from mirror.kafka.values import TopicPartition

pytestmark = pytest.mark.long("a cluster of its own behind TLS, and a search through everything")

DAG = f"{ALIAS}-to-west.copy"
# Goes in as a param of the run, and so on to the command line: the search has to find it wherever it looks.
PLANTED = f"planted{uuid.uuid4().hex}"
AIRMIRROR = Path(sys.executable).with_name("airmirror")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What was seen of the runs."""

    world: AirflowWorld
    processes: ProcessList
    run: str
    refused_log: str
    command: subprocess.CompletedProcess[str]

    def places_with(self, word: str) -> list[str]:
        """Everywhere that a word stands: logs, database, Spark's event log and files, process list, control topic."""
        home, guarded = self.world.airflow.home, self.world.guarded
        found = [f"airflow: {name}" for name in files_with(home, word)]
        found += [f"database: {name}" for name in tables_with(home / "airflow.db", word)]
        found += [f"event log: {name}" for name in files_with(guarded.events, word)]
        found += [f"left by Spark: {name}" for name in files_with(guarded.spark_files, word)]
        found += [f"temporary file: {name}" for name in files_with(guarded.temporary, word)]
        found += [f"process list: {line}" for line in self.processes.lines if word in line]
        if word in self.command.stdout + self.command.stderr:
            found.append("airmirror config")
        if word in _control_topic(self.world):
            found.append("control topic")
        return found


def _control_topic(world: AirflowWorld) -> str:
    partition = TopicPartition(naming.control_topic(ALIAS), 0)
    settings = {"bootstrap.servers": world.west.bootstrap_servers}
    bounds = Cluster("west", settings).bounds(partition)
    return "".join(str(record.value) for record in read_log(settings, "west", {partition: bounds}, committed=False))


@pytest.fixture(scope="module")
def ran(airflow_world: AirflowWorld) -> Iterator[Ran]:
    """One run that copies, and one whose login is refused."""
    world, guarded = airflow_world, airflow_world.guarded
    guarded.start()
    try:
        world.rest.post("/api/v2/connections", guarded.connection(guarded.secrets["scram"]))
        cluster, topic = guarded.secured.cluster, world.topic(ALIAS)
        world.create(cluster, topic)
        world.write(cluster, topic, numbered(30, partitions=2))
        assert world.run(f"{ALIAS}-to-west.topics")[1] == "success"
        with ProcessList() as processes:
            config = ["--config", str(world.config), "config", f"{ALIAS}->west"]
            command = subprocess.Popen(
                [str(AIRMIRROR), *config], env={**os.environ, **world.airflow.environment()}, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            run, state = world.run(DAG, {"topics": f"{topic}|{PLANTED}"})
            assert state == "success", world.states(DAG, run)
            told = command.communicate(timeout=120)
        path = f"/api/v2/connections/{CONNECTION}"
        world.rest.patch(path, guarded.connection(guarded.secrets["wrong"]))
        refused, state = world.run(DAG)
        assert state == "failed"
        assert world.task(DAG, refused, "look")["try_number"] == 1  # nobody tries again with the same password
        yield Ran(
            world=world,
            processes=processes,
            run=run,
            refused_log=world.log(DAG, refused, "look"),
            command=subprocess.CompletedProcess(config, command.returncode, *told),
        )
    finally:
        guarded.secured.cluster.kill()


def test_the_flow_copies_with_secrets_that_only_its_worker_asked_for(ran: Ran) -> None:
    assert ran.world.difference(ran.world.topic(ALIAS), ALIAS, ran.world.guarded.secured.cluster) == ""
    assert ran.world.rest.xcom(DAG, ran.run, "copy")["records"] == 30


def test_a_search_finds_what_was_planted_in_each_place(ran: Ran) -> None:
    found = ran.places_with(PLANTED)
    for place in ("airflow: logs/", "database: dag_run", "event log: ", "process list: "):
        assert any(each.startswith(place) for each in found), (place, found)
    # The list was watched while Spark's driver and its workers ran.
    for program in ("copy_flow.py", "mirror.spark_daemon", "org.apache.spark.deploy.SparkSubmit"):
        assert any(program in line for line in ran.processes.lines), program


@pytest.mark.parametrize("name", ["store", "key", "scram", "wrong", "private key"])
def test_no_secret_is_anywhere(ran: Ran, name: str) -> None:
    secret = ran.world.guarded.secrets[name]
    assert len(secret) > 20
    assert ran.places_with(secret) == []


def test_a_refused_login_is_told_with_the_brokers_word_and_the_option(ran: Ran) -> None:
    assert "its brokers refused the login" in ran.refused_log
    assert f"{ALIAS}.sasl.jaas.config" in ran.refused_log


def test_the_command_gets_connections_from_airflow_and_shows_no_answer_of_a_provider(ran: Ran) -> None:
    assert ran.command.returncode == 0, ran.command.stderr
    assert "cannot be used" not in ran.command.stdout
    assert "ssl.ca.pem" in ran.command.stdout
    assert "********" in ran.command.stdout
