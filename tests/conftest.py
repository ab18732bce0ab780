"""Real clusters for every test that needs them: two for the session, or fresh ones where a test breaks its own."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from world.kafka import KafkaCluster, running

# What takes longest goes first, so that no worker is left with it at the end.
_LONGEST_FIRST = ("dags", "faults", "interop", "integration", "unit")
IS_LONG = int(os.environ.get("AIRMIRROR_FAULT_REPEATS", "1")) > 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: place for place, name in enumerate(_LONGEST_FIRST)}
    for item in items:
        if _room(item) == "faults":
            item.add_marker("faults")
        long = item.get_closest_marker("long")
        if long is not None and not IS_LONG:
            item.add_marker(pytest.mark.skip(reason=f"in make test-faults: {long.args[0]}"))
    items.sort(key=lambda item: order.get(_room(item), len(order)))  # stable: files stay whole


def _room(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).parts[0]


# Files that stand on the same costly ground: Airflow takes a minute to start, brokers ten seconds each.
_TOGETHER = {
    "tests/dags/": "Airflow",
    "tests/interop/": "the clusters beside MM2",
    "tests/integration/test_acls.py": "clusters that check rights",
    "tests/integration/test_verify_structure.py": "clusters that check rights",
    "tests/integration/test_provenance.py": "three clusters",
    "tests/integration/test_topologies.py": "three clusters",
}


class OneWorkerPerFile(LoadScopeScheduling):  # type: ignore[misc]  # has no types
    """Tests of a file share clusters, so they stay together; so do files that share more."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        if IS_LONG and file.startswith("tests/faults/"):
            return nodeid.split("[", 1)[0]  # five times at each point, a file would be a worker's whole hour
        return next((ground for start, ground in _TOGETHER.items() if file.startswith(start)), file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneWorkerPerFile:
    return OneWorkerPerFile(config, log)


@pytest.fixture(autouse=True)
def _own_code_is_forgotten() -> Iterator[None]:
    """A test's own classes lie in its directory: the next test may have others of the same names."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    new = set(sys.modules) - modules
    for name in [name for name in new if _lies_in_a_tests_directory(name)]:
        del sys.modules[name]


def _lies_in_a_tests_directory(name: str) -> bool:
    module = sys.modules[name]
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    return any(place.startswith(tempfile.gettempdir()) for place in places)


@pytest.fixture(scope="session")
def _clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KafkaCluster]]:
    directory = tmp_path_factory.mktemp("clusters")
    made = {name: KafkaCluster(name, directory) for name in ("east", "west")}
    with running(*made.values()):
        yield made


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
            stack.enter_context(running(*made))
            return made

        yield start
