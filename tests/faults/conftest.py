"""What every fault test stands on: a flow of its own on the session's clusters, and nobody left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.scenario import Scenario
from world.kafka import KafkaCluster


@pytest.fixture
def scenario(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Iterator[Scenario]:
    made = Scenario(tmp_path, east, west)
    try:
        yield made
    finally:
        made.runs.end()
