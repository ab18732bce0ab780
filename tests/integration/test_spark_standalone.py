"""The same copy on a Spark standalone cluster whose executors have the library's zip and nothing else of this disk."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import documented
from faults.runs import AIRMIRROR, DEADLINE_S, JOB, SPARK_SUBMIT
from faults.scenario import Scenario
from integration import records
from integration.copying import Mirrored
from integration.records import Sent, numbered
from mirror.shipping import shipped
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


@pytest.mark.long("a Spark cluster to be refused by")
def test_credentials_are_not_sent_over_an_open_connection(
    scenario: Scenario, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with scenario.growing(first_count=100), SparkStandalone(tmp_path_factory.mktemp("open")) as spark:
        refused = copy(scenario, spark)
    assert refused.returncode == 1
    assert "spark.authenticate=true, spark.network.crypto.enabled=true" in refused.stderr
    assert not any(scenario.mirrored.downstream_values(topic) for topic in scenario.counts)


@pytest.mark.parametrize(
    "by", [pytest.param("airmirror copy", marks=pytest.mark.long("Spark on a cluster")), "spark-submit"]
)
def test_own_classes_and_functions_reach_executors_that_share_no_disk_with_us(
    tmp_path: Path, spark: SparkStandalone, east: KafkaCluster, west: KafkaCluster, by: str
) -> None:
    lines = documented.chosen_classes(tmp_path, "replication.policy", "topic.filter") + documented.record_function(
        tmp_path
    )
    mirrored = Mirrored(tmp_path, east, west, lines)
    topic = mirrored.topic("orders", 2)
    (tmp_path / "topics.txt").write_text(f"{topic}\n")
    plain = numbered(100, partitions=2)
    internal = [Sent(value=b"not for others", headers=(("internal", b""),), partition=n % 2) for n in range(10)]
    mirrored.write(topic, [*plain[:50], *internal, *plain[50:]])
    mirrored.make_remote_topics()
    config, flow = str(mirrored.config), mirrored.flow
    command = [str(AIRMIRROR), "--config", config, "copy", flow.id, "--master", spark.master_url, "--json"]
    last_word = tmp_path / "last-word.json"
    if by == "spark-submit":  # as the Airflow task does
        files = ",".join(str(file) for file in shipped(flow, tmp_path))
        command = [str(SPARK_SUBMIT), "--master", spark.master_url, "--py-files", files, str(JOB)]
        command += ["--config", config, "--run", "by-hand", "--last-word", str(last_word), flow.id]
    done = subprocess.run(
        command,
        env={**os.environ, **spark.driver_environment()},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    document = json.loads(last_word.read_text() if by == "spark-submit" else done.stdout)
    assert {slot["executor"].rpartition("/")[0] for slot in document["slots"]} == {f"{socket.gethostname()}/0"}
    remote = f"{topic}-copied-from-{mirrored.aliases[0]}"
    copied = records.read(west.bootstrap_servers, [remote])[remote]
    assert {n: [r.value for r in found] for n, found in copied.items()} == {
        n: [sent.value for sent in plain if sent.partition == n] for n in (0, 1)
    }
