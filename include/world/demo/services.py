"""The demo's services: both clusters and Airflow, started side by side or found running."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mirror.config import Configuration, load
from world.airflow import AirflowStandalone
from world.airflow_rest import AirflowRest
from world.demo.shop import SITES
from world.kafka import KafkaCluster
from world.process import running_detached
from world.running import mark, preferred_port

PROPERTIES = """\
# Two sites, each replicated to the other (active/active). `make demo` wrote this file; MirrorMaker 2 can read it too.
clusters = east, west
east.bootstrap.servers = {east}
west.bootstrap.servers = {west}

east->west.enabled = true
west->east.enabled = true
topics = .*
groups = .*

# One broker each.
replication.factor = 1
offset-syncs.topic.replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1

# New topics are seen within two minutes; copies start every minute.
refresh.topics.interval.seconds = 120
airmirror.copy.schedule = * * * * *
"""
# Dags wait until the demo wants them, so that topics come before copies and every step can be seen.
_PAUSED = {"AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The demo as it stands below its home."""

    home: Path
    airflow_url: str
    passwords: dict[str, str]

    @property
    def config_path(self) -> Path:
        return self.home / "mm2.properties"

    @property
    def airflow_log(self) -> Path:
        return _airflow_home(self.home) / "standalone.log"

    @property
    def task_logs(self) -> Path:
        return _airflow_home(self.home) / "logs"

    def configuration(self) -> Configuration:
        return load(self.config_path)

    def servers(self, cluster: str) -> str:
        flow = next(f for f in self.configuration().flows if f.source == cluster)
        return str(flow.admin_settings("source")["bootstrap.servers"])

    def rest(self) -> AirflowRest:
        return AirflowRest(self.airflow_url, "admin", self.passwords["admin"])

    def next_wave(self) -> int:
        """The number of the wave to write now; each run of the demo adds one."""
        path = self.home / "waves"
        wave = int(path.read_text()) if path.is_file() else 0
        path.write_text(str(wave + 1))
        return wave


def find(home: Path) -> Services | None:
    """The services of an earlier demo, if every one of them is running and answers."""
    state = home / "demo.json"
    expected = {"standalone", *(f"{site.cluster}/broker-1" for site in SITES)}
    if not state.is_file() or not expected <= _running(home):
        return None
    url = json.loads(state.read_text())["airflow_url"]
    health = AirflowRest(url, "", "").health()
    if any(health.get(name) != "healthy" for name in ("metadatabase", "scheduler", "dag_processor")):
        return None
    return Services(home=home, airflow_url=url, passwords=_passwords(home))


def clear(home: Path) -> None:
    """Forget an earlier demo: its topics, its Airflow, its logs; the lock file is ours and stays."""
    for path in home.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "lock":
            path.unlink()


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """Services on their way up: the clusters serve, Airflow still starts."""

    services: Services
    airflow: AirflowStandalone

    def wait_for_airflow(self) -> None:
        self.airflow.wait_until_ready()


def start(home: Path) -> Starting:
    """Start everything side by side, and return when the clusters serve."""
    clusters = {site.cluster: KafkaCluster(site.cluster, home, detach=True) for site in SITES}
    with ThreadPoolExecutor(len(clusters)) as threads:
        list(threads.map(KafkaCluster.launch, clusters.values()))
    _write_properties(home, clusters)
    airflow = AirflowStandalone(
        _airflow_home(home),
        home / "mm2.properties",
        port=preferred_port(),
        detach=True,
        environment={**_PAUSED, **mark(home)},
    )
    airflow.launch()
    for cluster in clusters.values():
        cluster.wait_until_ready()
    _write_properties(home, clusters)  # a port that was taken meanwhile was changed for another
    (home / "demo.json").write_text(json.dumps({"airflow_url": airflow.url}))
    services = Services(home=home, airflow_url=airflow.url, passwords=airflow.passwords)
    return Starting(services=services, airflow=airflow)


def _write_properties(home: Path, clusters: dict[str, KafkaCluster]) -> None:
    text = PROPERTIES.format(**{name: cluster.bootstrap_servers for name, cluster in clusters.items()})
    (home / "mm2.properties").write_text(text)


def _airflow_home(home: Path) -> Path:
    return home / "airflow"


def _passwords(home: Path) -> dict[str, str]:
    return dict(json.loads((_airflow_home(home) / "passwords.json").read_text()))


def _running(home: Path) -> set[str]:
    """Names of what runs: a broker's with its cluster's, since all first brokers are called the same."""
    return {
        name if directory.name == "airflow" else f"{directory.name}/{name}"
        for directory, name, _ in running_detached(home)
    }
