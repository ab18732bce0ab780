"""Follows docs/when-the-source-is-gone.md: its commands in order, typed by somebody whose source was killed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from integration import records
from integration.crossing import Groups
from integration.group_reading import next_values
from integration.records import numbered
from mirror.cli.main import build_parser
from world import project
from world.kafka import KafkaCluster

PAGE = (project.root() / "docs" / "when-the-source-is-gone.md").read_text()
STEPS = re.compile(r"```sh\n(.*?)```|<!-- here: (.*?) -->", re.DOTALL)
AIRMIRROR = Path(sys.executable).with_name("airmirror")
COPIED, UNCOPIED, STOOD_AT = 60, 14, 21
# What a person should see, by command.
SHOWS = {
    "airmirror flows": "forward",
    "airmirror failover 'east->west' --unplanned --dry-run": "at least {missing}, as of",
    "airmirror failover 'east->west' --unplanned --yes --report failover.html": "goes on at",
}


class Night:
    """A flow whose source dies, the person who types what the page says, and applications that want to go on."""

    def __init__(self, groups: Groups, directory: Path) -> None:
        self.groups, self.directory = groups, directory
        self.topic = groups.flow.topic("orders", 2)
        self.billing = groups.name("billing")
        self.environment = {**os.environ, "COLUMNS": "400"}
        groups.flow.write(self.topic, numbered(COPIED, partitions=2))
        groups.flow.mirror().raise_if_incomplete()
        groups.commit(self.billing, dict.fromkeys(groups.partitions(self.topic), STOOD_AT))
        groups.cross()
        groups.flow.write(self.topic, numbered(UNCOPIED, start=COPIED, partitions=2))
        # The last thing that was seen of the source: a copy that had begun to look.
        groups.flow.copy(topics=re.compile("nothing"))

    def happen(self, what: str) -> None:
        happenings: dict[str, Callable[[], None]] = {
            "east is killed": self.groups.flow.upstream.kill,
            "somebody types it, and the machine dies in the middle": self._die_in_the_middle,
            "applications start on west": self._start_applications,
        }
        happenings[what]()

    def type(self, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command as it stands on the page, with the clusters' own names."""
        words = shlex.split(line.replace("east->west", self.groups.flow.flow.id))
        return subprocess.run(
            [str(AIRMIRROR), *words[1:]],
            env={**self.environment, **environment},
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def _die_in_the_middle(self) -> None:
        command = next(line for line in commands() if "--yes" in line)
        struck = self.directory / "struck"
        died = self.type(command, AIRMIRROR_FAULT=f"failover-turn-acted:1:self:kill:{struck}")
        assert (died.returncode < 0, struck.exists()) == (True, True), died.stderr

    def _start_applications(self) -> None:
        """The group goes on at the record it would have read next, and a producer writes behind it."""
        servers, remote = self.groups.flow.downstream.bootstrap_servers, self.groups.flow.remote(self.topic)
        partitions = [self.groups.remote(p) for p in self.groups.partitions(self.topic)]
        for partition, found in next_values(servers, self.billing, partitions, 1).items():
            # Records are spread in turn: the one at this offset of partition p has this number.
            number = 2 * STOOD_AT + partition.partition
            assert [(key, value) for key, value, _ in found] == [(b"key-%d" % number, b"value-%d" % number)]
        records.write(servers, remote, numbered(4, start=1000, partitions=2))


def commands() -> list[str]:
    return [line for block, _ in STEPS.findall(PAGE) for line in block.splitlines() if line.strip()]


@pytest.fixture
def night(tmp_path: Path, fresh_clusters: Callable[..., tuple[KafkaCluster, ...]], west: KafkaCluster) -> Night:
    (doomed,) = fresh_clusters("doomed")
    lines = "airmirror.claim.renew.seconds = 1\nsync.group.offsets.enabled = false"
    return Night(Groups(tmp_path, doomed, west, lines), tmp_path)


def test_who_follows_the_page_has_applications_at_work_on_the_target(night: Night) -> None:
    typed: list[str] = []
    partitions = night.groups.partitions(night.topic)
    night.groups.partitions = lambda *_: partitions  # type: ignore[method-assign]  # the source cannot be asked
    for block, happening in STEPS.findall(PAGE):
        if happening:
            night.happen(happening)
        for line in filter(None, block.splitlines()):
            if line.startswith("export "):
                night.environment["AIRMIRROR_CONFIG"] = str(night.groups.flow.config)
                continue
            done = night.type(line)
            assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
            shows = "failed-over since" if line in typed else SHOWS[line].format(missing=UNCOPIED // 2)
            assert shows in done.stdout, f"{line}: {done.stdout}"
            typed.append(line)
    assert night.billing in (night.directory / "failover.html").read_text()
    # Whoever comes back late changes nothing, as the page says.
    night.groups.flow.upstream.start()
    late = night.type("airmirror copy 'east->west'")
    assert (late.returncode, "failed over since" in late.stderr) == (1, True), late.stderr


def test_every_command_of_the_page_is_understood_and_its_sight_is_known() -> None:
    typed = [line for line in commands() if line.startswith("airmirror")]
    for line in typed:
        build_parser().parse_args(shlex.split(line)[1:])
    assert set(typed) == SHOWS.keys()
    assert [happening for _, happening in STEPS.findall(PAGE) if happening] == [
        "east is killed",
        "somebody types it, and the machine dies in the middle",
        "applications start on west",
    ]
