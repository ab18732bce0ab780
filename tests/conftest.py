"""Real clusters for every test that needs them: two for the session, or fresh ones where a test breaks its own."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from world.kafka import KafkaCluster, start_together

# What takes longest goes first, so that no worker is left with it at the end.
_LONGEST_FIRST = ("dags", "faults", "interop", "integration", "unit")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker per file, since files share clusters; one for all of Airflow, since it takes a minute to start."""

    def file(item: pytest.Item) -> Path:
        return item.path.relative_to(Path(__file__).parent)

    order = {name: place for place, name in enumerate(_LONGEST_FIRST)}
    items.sort(key=lambda item: order.get(file(item).parts[0], len(order)))  # stable: files stay whole
    for item in items:
        group = "airflow" if "airflow_world" in getattr(item, "fixturenames", ()) else file(item).as_posix()
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def _clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KafkaCluster]]:
    directory = tmp_path_factory.mktemp("clusters")
    made = {name: KafkaCluster(name, directory) for name in ("east", "west")}
    try:
        start_together(*made.values())
        yield made
    finally:
        for cluster in made.values():
            cluster.kill()


@pytest.fixture(scope="session")
def east(_clusters: dict[str, KafkaCluster]) -> KafkaCluster:
    """A single-broker cluster shared by the session: use topics of your own, and leave it running."""
    return _clusters["east"]


@pytest.fixture(scope="session")
def west(_clusters: dict[str, KafkaCluster]) -> KafkaCluster:
    """The other one."""
    return _clusters["west"]


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> Callable[..., str]:
    """Names that no other test uses: `topic_name()`, `topic_name("orders")`."""
    test = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name)[:60]
    return lambda label="topic": f"{test}-{label}-{uuid.uuid4().hex[:6]}"


@pytest.fixture
def fresh_clusters(tmp_path: Path) -> Iterator[Callable[..., tuple[KafkaCluster, ...]]]:
    """Clusters of one test alone: `(a, b) = fresh_clusters("a", "b", brokers=3, properties={...})`."""
    with ExitStack() as stack:

        def start(*names: str, **options: Any) -> tuple[KafkaCluster, ...]:
            made = tuple(KafkaCluster(name, tmp_path, **options) for name in names)
            for cluster in made:
                stack.callback(cluster.kill)
            start_together(*made)
            return made

        yield start
