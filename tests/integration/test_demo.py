"""The demo as `make demo` runs it: a table that is true when Kafka's own tools count again, and nothing left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from world import down
from world.demo import __main__ as demo
from world.demo.replicated import Replicated, replicated
from world.demo.services import find
from world.demo.shop import EAST, SITES, Site
from world.kafka import run_tool
from world.running import stop_services

CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


def counted_by_kafka(servers: str, logs: Path, topic: str) -> int:
    """One line per record, in the console consumer's own words."""
    arguments = ("--topic", topic, "--from-beginning", "--isolation-level", "read_committed", "--timeout-ms", "6000")
    return len(run_tool(servers, logs, CONSUMER, *arguments).splitlines())


def end_offsets(servers: str, logs: Path, topic: str) -> int:
    return sum(int(line.rpartition(":")[2]) for line in run_tool(servers, logs, OFFSETS, "--topic", topic).splitlines())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place of its own for the demo, where nothing stays running."""
    for module in (demo, down):
        monkeypatch.setattr(module, "demo_home", lambda: tmp_path / "demo")
    monkeypatch.setattr(down, "up_home", lambda: tmp_path / "up")
    yield tmp_path / "demo"
    stop_services(tmp_path / "demo")


@pytest.mark.long("the whole demo")
@pytest.mark.timeout(900)
def test_a_demo_and_another_print_tables_that_are_true_when_kafkas_own_tools_count_again(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for waves in (1, 2):
        assert demo.main() == 0
        services = find(home)
        assert services is not None
        rows = replicated(services.configuration())
        assert len(rows) == sum(len(site.topics) for site in SITES)
        printed = capsys.readouterr().out
        for row in rows:
            assert re.search(rf"{row.remote_topic} .* {row.source_records:,} +{row.target_records:,} +0 ", printed)
        for site in SITES:
            for topic in site.topics:
                (row,) = (row for row in rows if row.topic == topic.name and row.flow.startswith(site.cluster))
                whole = waves * topic.record_count
                assert row.source_records < whole if topic.abort_every else row.source_records == whole
    for row in rows:
        source, _, target = row.flow.partition("->")
        recount(row, services.servers(source), services.servers(target), home)
    assert_groups_stand_in_the_middle(EAST, services.servers("east"), home)

    assert down.main() == 0
    assert find(home) is None
    assert [process.pid for process in psutil.process_iter(["cmdline"]) if str(home) in str(process.info)] == []


def recount(row: Replicated, source: str, target: str, logs: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        upstream = threads.submit(counted_by_kafka, source, logs, row.topic)
        downstream = threads.submit(counted_by_kafka, target, logs, row.remote_topic)
        assert (upstream.result(), downstream.result()) == (row.source_records, row.target_records)
    # What the table's footnote says: offsets would have told something else.
    assert (end_offsets(target, logs, row.remote_topic) > row.target_records) == (row.target_records > 0)


def assert_groups_stand_in_the_middle(site: Site, servers: str, logs: Path) -> None:
    told = run_tool(servers, logs, GROUPS, "--describe", "--all-groups")
    for group in site.groups:
        lines = re.findall(rf"^{group.name} +{group.topic} +\d+ +(\d+) +(\d+)", told, re.MULTILINE)
        assert lines, f"{group.name} has no offsets:\n{told}"
        assert all(0 < int(offset) < int(end) for offset, end in lines)


def test_nothing_is_found_running_where_nothing_was_started(tmp_path: Path) -> None:
    assert find(tmp_path) is None
    (tmp_path / "demo.json").write_text('{"airflow_url": "http://127.0.0.1:9"}')
    assert find(tmp_path) is None
