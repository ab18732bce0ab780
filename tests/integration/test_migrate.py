"""Follows docs/migrate.md: its file, its commands in order, and applications that move when it says so."""

from __future__ import annotations

import re
import shlex
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from integration import records
from integration.command import slots_in_threads
from integration.copying import make_topic
from integration.records import DEADLINE_S, numbered
from mirror.cli.main import main
from mirror.kafka.cluster import Cluster
from world import project
from world.kafka import KafkaCluster

PAGE = (project.root() / "docs" / "migrate.md").read_text()
STEPS = re.compile(r"```(\w+)\n(.*?)```|<!-- here: (.*?) -->", re.DOTALL)


class Shop:
    """One application that writes and one that reads, each on the cluster that it was told."""

    def __init__(self, prefix: str, old: KafkaCluster, new: KafkaCluster) -> None:
        self.orders, self.group = f"{prefix}-orders", f"{prefix}-billing"
        self.clusters = {"old": old, "new": new}
        self.written = 0
        self.seen: list[bytes | None] = []
        self._writes_to: KafkaCluster | None = old

    def write(self, count: int = 50) -> None:
        if self._writes_to is not None:
            sent = numbered(count, start=self.written, partitions=2)
            records.write(self._writes_to.bootstrap_servers, self.orders, sent)
            self.written += count

    def read(self, name: str, at_least: int) -> None:
        """Join the group, read some records, commit them and leave."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.clusters[name].bootstrap_servers,
                "group.id": self.group,
                "auto.offset.reset": "error",  # going on anywhere else than at its offset is a failure
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
            }
        )
        try:
            consumer.subscribe([self.orders])
            while len(self.seen) < at_least:
                (message,) = consumer.consume(1, DEADLINE_S) or [None]
                assert message is not None, f"{len(self.seen)} of {at_least} records on {name}"
                assert message.error() is None, message.error()
                self.seen.append(message.value())
            consumer.commit(asynchronous=False)
        finally:
            consumer.close()

    def begin(self) -> None:
        """The group has read a part of what is there before the move."""
        client = Consumer({"bootstrap.servers": self.clusters["old"].bootstrap_servers, "group.id": self.group})
        for partition in records.read(self.clusters["old"].bootstrap_servers, [self.orders])[self.orders]:
            client.commit(offsets=[_place(self.orders, partition, 0)], asynchronous=False)
        client.close()

    def happen(self, what: str, config: Path) -> None:
        """What the page says that applications do at this point."""
        happenings: dict[str, Callable[[], None]] = {
            "the consumers of shop-billing stop on old": lambda: self.read("old", 70),
            "the consumers of shop-billing start on new": lambda: self.read("new", 90),
            "the producers stop on old": self._stop_writing,
            "the producers start on new": self._write_to_new,
            "the flow is switched off": lambda: _switch_off(config),
        }
        happenings[what]()

    def _stop_writing(self) -> None:
        self.write()
        self._writes_to = None

    def _write_to_new(self) -> None:
        self._writes_to = self.clusters["new"]
        self.write()


def _place(topic: str, partition: int, offset: int) -> object:
    from confluent_kafka import TopicPartition

    return TopicPartition(topic, partition, offset)


def _switch_off(config: Path) -> None:
    config.write_text(config.read_text().replace("old->new.enabled = true", "old->new.enabled = false"))


def steps(mark: str) -> Iterator[tuple[str, str]]:
    """The page's blocks and happenings in order; topics and groups get names that no other test has."""
    for kind, block, happening in STEPS.findall(PAGE):
        text = happening or re.sub(r"\bshop(?=[-.])", f"shop-{mark}", block)
        yield kind or "here", text


@pytest.fixture
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    slots_in_threads(monkeypatch)


@pytest.mark.usefixtures("_in_this_process")
def test_an_application_that_moves_by_the_page_loses_and_repeats_nothing(
    tmp_path: Path,
    east: KafkaCluster,
    west: KafkaCluster,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    mark = uuid.uuid4().hex[:6]
    shop, config = Shop(f"shop-{mark}", east, west), tmp_path / "mm2.properties"
    make_topic(Cluster("old", {"bootstrap.servers": east.bootstrap_servers}), shop.orders, 2)
    shop.write()
    shop.begin()
    for kind, text in steps(mark):
        if kind == "properties":
            servers = text.replace("old-1:9092", east.bootstrap_servers).replace("new-1:9092", west.bootstrap_servers)
            config.write_text(servers)
        elif kind == "here":
            shop.happen(text, config)
        else:
            for command in filter(None, text.splitlines()):
                shop.write()  # between any two steps
                capsys.readouterr()
                code = main(["--config", str(config), *shlex.split(command)[1:]])
                told = capsys.readouterr()
                assert code == 0, f"{command}: {told.out}{told.err}"
                _check(command, told.out)
    shop.read("new", shop.written)
    assert sorted(shop.seen) == sorted(record.value for record in numbered(shop.written))
    assert "DIFFERENT" not in (tmp_path / "moved.html").read_text()


def _check(command: str, out: str) -> None:
    """What the page says that a command must show."""
    if "translate" in command:
        assert "exact" in out
        assert "early" not in out
    if "lag" in command:
        assert re.search(r"0 records behind|\b0\b", out)
    if "flows" in command:
        assert "old->new" in out


def test_every_command_of_the_page_is_followed() -> None:
    assert [kind for kind, _ in steps("x")] == ["properties", "sh", "sh", "here", "sh", "here", "here", "sh", "here",
                                                "here", "sh"]  # fmt: skip
