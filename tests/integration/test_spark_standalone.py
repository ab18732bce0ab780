"""The same copy on a Spark standalone cluster whose executors have the library's zip and nothing else of this disk."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.runs import AIRMIRROR, DEADLINE_S
from faults.scenario import Scenario
from world.kafka import KafkaCluster
from world.spark import SparkStandalone


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkStandalone]:
    with SparkStandalone(tmp_path_factory.mktemp("spark"), encrypt=True) as spark:
        yield spark


@pytest.fixture
def scenario(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Iterator[Scenario]:
    made = Scenario(tmp_path, east, west)
    try:
        yield made
    finally:
        made.runs.end()


def copy(scenario: Scenario, spark: SparkStandalone, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(AIRMIRROR), "--config", str(scenario.mirrored.config), "copy", scenario.mirrored.flow.id]
    return subprocess.run(
        [*command, "--master", spark.master_url, "--json"],
        env={**os.environ, **spark.driver_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def test_a_copy_on_executors_is_exact_and_names_them_and_survives_a_killed_worker(
    scenario: Scenario, spark: SparkStandalone, tmp_path: Path
) -> None:
    killed = scenario.runs.fault("syncs-sent", 2)
    settings = tmp_path / "conf"
    settings.mkdir()
    own = (Path(spark.driver_environment()["SPARK_CONF_DIR"]) / "spark-defaults.conf").read_text()
    (settings / "spark-defaults.conf").write_text(f"{own}spark.executorEnv.AIRMIRROR_FAULT {killed}\n")
    with scenario.growing(first_count=40_000):
        done = copy(scenario, spark, SPARK_CONF_DIR=str(settings))
        assert done.returncode == 0, done.stderr[-3000:]
    assert killed.has_fired
    document = json.loads(done.stdout)
    assert document["records"] >= 40_000
    executors = {slot["slot"]: slot["executor"] for slot in document["slots"]}
    assert sorted(executors) == [0, 1]
    for name in executors.values():
        host, executor, pid = name.split("/")
        assert (host, executor) == (socket.gethostname(), "0")
        assert int(pid) not in (killed.pid, os.getpid())
    scenario.assert_exact()


def test_an_executor_has_the_library_from_the_job_alone(spark: SparkStandalone) -> None:
    # Were the project on the executor's path, the test above would prove nothing about the zip.
    command = [str(spark.executor_python), "-c", "import confluent_kafka, mirror"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "No module named 'mirror'" in found.stderr


def test_credentials_are_not_sent_over_an_open_connection(
    scenario: Scenario, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with scenario.growing(first_count=100), SparkStandalone(tmp_path_factory.mktemp("open")) as spark:
        refused = copy(scenario, spark)
    assert refused.returncode == 1
    assert "spark.authenticate=true, spark.network.crypto.enabled=true" in refused.stderr
    assert not any(scenario.mirrored.downstream_values(topic) for topic in scenario.counts)
