"""One Airflow for all tests that need a real one: it takes most of a minute to start."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest

from dags.airflow_world import AirflowWorld
from dags.rehearsed import make_rehearsed
from mirror.config import Flow
from world.kafka import KafkaCluster

# For Dags parsed in this process; before anything imports Airflow.
os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airmirror-tests-"))
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"


@pytest.fixture(scope="session")
def airflow_world(
    tmp_path_factory: pytest.TempPathFactory, east: KafkaCluster, west: KafkaCluster
) -> Iterator[AirflowWorld]:
    """Airflow with the flows of `AirflowWorld`, none of which runs by itself."""
    world = AirflowWorld(tmp_path_factory.mktemp("airflow"), east, west)
    with world.airflow:
        yield world


@pytest.fixture(scope="session")
def rehearsed(airflow_world: AirflowWorld) -> Flow:
    """A flow that is copied but for its last records, and has three groups with checkpoints."""
    return make_rehearsed(airflow_world)
