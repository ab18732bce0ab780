"""What tests between clusters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from world.kafka import KafkaCluster, running


@pytest.fixture(scope="session")
def three_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KafkaCluster]]:
    """For topologies alone: heartbeats topics are selected by every flow, whatever `topics` says."""
    directory = tmp_path_factory.mktemp("three")
    made = {alias: KafkaCluster(alias, directory) for alias in "ABC"}
    with running(*made.values()):
        yield made
