"""MM2, Spark standalone and the life of processes: what interop, Spark and fault tests stand on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import mirror
from world.mm2 import MirrorMaker2
from world.process import Process, stop_detached
from world.spark import SparkStandalone

Clusters = Callable[..., tuple[object, ...]]

LOOK = """
import json, sys
from pyspark.sql import SparkSession

def look(_):
    import confluent_kafka
    try:
        import mirror
    except ImportError:
        return ["no mirror"]
    return [mirror.__file__]

context = SparkSession.builder.getOrCreate().sparkContext
print("SAW", json.dumps(context.parallelize([1], 1).mapPartitions(look).collect()))
"""


def wait_until(happened: Callable[[], bool], timeout_s: float = 20) -> None:
    deadline = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.long("the tests of interop stand on it")
def test_mm2_copies_a_record(fresh_clusters: Clusters, tmp_path: Path) -> None:
    source, target = fresh_clusters("a", "b")
    admin = AdminClient({"bootstrap.servers": source.bootstrap_servers})
    admin.create_topics([NewTopic("orders", 1)])["orders"].result(15)
    producer = Producer({"bootstrap.servers": source.bootstrap_servers})
    producer.produce("orders", "one")
    assert producer.flush(15) == 0
    properties = f"""
clusters = a, b
a.bootstrap.servers = {source.bootstrap_servers}
b.bootstrap.servers = {target.bootstrap_servers}
a->b.enabled = true
replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
offset-syncs.topic.replication.factor = 1
offset.storage.replication.factor = 1
status.storage.replication.factor = 1
config.storage.replication.factor = 1
"""
    with MirrorMaker2(properties, tmp_path / "mm2") as mm2:
        settings = {
            "bootstrap.servers": target.bootstrap_servers,
            "group.id": "r",
            "topic.metadata.refresh.interval.ms": 500,
        }
        consumer = Consumer(settings)
        viewer = AdminClient({"bootstrap.servers": target.bootstrap_servers})
        wait_until(lambda: "a.orders" in viewer.list_topics(timeout=10).topics, 60)
        consumer.assign([TopicPartition("a.orders", 0, 0)])
        (record,) = consumer.consume(1, 60)
        assert record.value() == b"one"
        consumer.close()
        assert mm2.cpu_seconds() > 0
    assert not mm2.is_running()
    assert mm2.log_path.stat().st_size > 0


@pytest.mark.long("the tests of executors stand on it")
class TestSpark:
    @pytest.fixture(scope="class")
    @staticmethod
    def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkStandalone]:
        with SparkStandalone(tmp_path_factory.mktemp("spark"), encrypt=True) as spark:
            yield spark

    @staticmethod
    def submit(spark: SparkStandalone, directory: Path, *options: str) -> str:
        job = directory / "look_around.py"
        job.write_text(LOOK)
        command = [str(Path(sys.executable).parent / "spark-submit"), "--master", spark.master_url, *options, str(job)]
        environment = {**os.environ, **spark.driver_environment()}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return next(line for line in done.stdout.splitlines() if line.startswith("SAW"))

    def test_an_executor_has_the_packages_but_not_the_project(self, spark: SparkStandalone, tmp_path: Path) -> None:
        assert self.submit(spark, tmp_path) == 'SAW ["no mirror"]'

    def test_an_executor_finds_the_project_in_its_zip(self, spark: SparkStandalone, tmp_path: Path) -> None:
        package = Path(mirror.__file__).parent
        with zipfile.ZipFile(tmp_path / "mirror.zip", "w") as archive:
            archive.write(package / "__init__.py", "mirror/__init__.py")
        saw = self.submit(spark, tmp_path, "--py-files", str(tmp_path / "mirror.zip"))
        assert "mirror.zip/mirror/__init__.py" in saw
        assert str(package) not in saw

    def test_the_secret_is_on_no_command_line(self, spark: SparkStandalone) -> None:
        conf = Path(spark.driver_environment()["SPARK_CONF_DIR"]) / "spark-defaults.conf"
        settings = dict(line.split(" ", 1) for line in conf.read_text().splitlines())
        secret = settings["spark.authenticate.secret"]
        command_lines = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
        assert any(str(spark.master_url) in line for line in command_lines)  # the worker's: we do see them
        assert not any(secret in line for line in command_lines)
        assert conf.stat().st_mode & 0o077 == 0


PARENT = """
import os, signal, sys
from pathlib import Path
from world.process import Process
stop = signal.SIGINT if sys.argv[2] == "slow to end" else signal.SIGTERM
command = ["sh", "-c", "trap 'sleep 1; exit' INT; sleep 600 & wait"] if stop is signal.SIGINT else ["sleep", "600"]
child = Process("sleeper", command, directory=Path(sys.argv[1]), detach=sys.argv[2] == "detached", stop_signal=stop)
child.start()
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def start_and_lose_parent(directory: Path, how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", PARENT, str(directory), how], capture_output=True, text=True, timeout=30, check=False
    )
    return int(done.stdout)


@pytest.mark.parametrize("how", ["attached", pytest.param("slow to end", marks=pytest.mark.long("is slow to end"))])
def test_a_process_dies_with_its_killed_parent(tmp_path: Path, how: str) -> None:
    pid = start_and_lose_parent(tmp_path, how)
    wait_until(lambda: not is_alive(pid))


def test_a_detached_process_outlives_its_parent_until_it_is_stopped(tmp_path: Path) -> None:
    pid = start_and_lose_parent(tmp_path, "detached")
    assert is_alive(pid)
    assert stop_detached(tmp_path) == ["sleeper"]
    assert not is_alive(pid)
    assert stop_detached(tmp_path) == []


def test_stopping_leaves_a_stranger_with_a_reused_number_alone(tmp_path: Path) -> None:
    stranger = Process("stranger", ["sleep", "600"], directory=tmp_path / "elsewhere")
    stranger.start()
    try:
        (tmp_path / "old.process.json").write_text(f'{{"pid": {stranger.pid}, "created": 1.0, "signal": 15}}')
        assert stop_detached(tmp_path) == []
        assert stranger.is_running()
        assert not (tmp_path / "old.process.json").exists()
    finally:
        stranger.kill()
