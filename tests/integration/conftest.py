"""What tests between clusters share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.command import Command
from integration.copying import Mirrored
from integration.crossing import Groups
from world.kafka import KafkaCluster, running
from world.server_properties import Security


@pytest.fixture(scope="session")
def three_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KafkaCluster]]:
    """For topologies alone: heartbeats topics are selected by every flow, whatever `topics` says."""
    directory = tmp_path_factory.mktemp("three")
    made = {alias: KafkaCluster(alias, directory) for alias in "ABC"}
    with running(*made.values()):
        yield made


@pytest.fixture
def flow(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Mirrored:
    """From one of the session's clusters to the other; tests name topics of their own."""
    return Mirrored(tmp_path, east, west)


@pytest.fixture
def airmirror(flow: Mirrored, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command on that flow's file."""
    return Command(flow, capsys, monkeypatch)


@pytest.fixture
def groups(tmp_path: Path, east: KafkaCluster, west: KafkaCluster) -> Groups:
    """Such a flow with consumer groups."""
    return Groups(tmp_path, east, west)


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KafkaCluster, KafkaCluster]]:
    """Two clusters that check rights; tests use topics of their own."""
    security = Security(listeners=("SASL_PLAINTEXT",), users={"nobody": "nobody-secret"}, authorizer=True)
    directory = tmp_path_factory.mktemp("guarded")
    source, target = (KafkaCluster(name, directory, security=security) for name in ("source", "target"))
    with running(source, target):
        yield source, target
