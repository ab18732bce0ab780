"""Clusters of the interop tests alone: MM2's heartbeats are copied by every flow between the clusters they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.copying import Mirrored
from world.kafka import KafkaCluster, running


@pytest.fixture(scope="package")
def interop_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KafkaCluster, KafkaCluster]]:
    directory = tmp_path_factory.mktemp("interop")
    pair = (KafkaCluster("east", directory), KafkaCluster("west", directory))
    with running(*pair):
        yield pair


@pytest.fixture
def flow(tmp_path: Path, interop_clusters: tuple[KafkaCluster, KafkaCluster]) -> Mirrored:
    return Mirrored(tmp_path, *interop_clusters)
