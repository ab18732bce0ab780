"""What MirrorMaker 1 was started with: a consumer's file, a producer's file, and its flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mirror.config import properties
from mirror.config.properties import Entry
from mirror.errors import ConfigurationRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyFlags:
    """MirrorMaker 1's flags, by its own names with `_` for the dots; None where one was not given."""

    include: str | None = None
    exclude: str | None = None
    num_streams: int = 1
    abort_on_send_failure: bool = True
    message_handler: str | None = None
    rebalance_listener: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyFiles:
    """Both files' entries by name; of duplicates the last one counts, as in Java."""

    consumer_path: Path
    producer_path: Path
    consumer: Mapping[str, Entry] = field(repr=False)
    producer: Mapping[str, Entry] = field(repr=False)

    @property
    def group(self) -> str:
        """The consumer group in which MirrorMaker 1 kept its progress; empty where the file names none."""
        entry = self.consumer.get("group.id")
        return entry.value.strip() if entry else ""


def read_files(consumer: Path, producer: Path) -> LegacyFiles:
    """Read both; everything that is wrong with either is told at once."""
    problems: list[str] = []
    found = [_read(path, problems) for path in (consumer, producer)]
    if problems:
        raise ConfigurationRefused(
            "\n".join(problems), next_step="airmirror legacy --help shows how it is called", problems=problems
        )
    return LegacyFiles(consumer_path=consumer, producer_path=producer, consumer=found[0], producer=found[1])


def _read(path: Path, problems: list[str]) -> dict[str, Entry]:
    try:
        entries = properties.parse(path.read_bytes())
    except OSError as error:
        problems.append(f"cannot read {path}: {error.strerror}")
        return {}
    problems += [f"{path}, line {entry.line}: {entry.key}: {entry.mistake}" for entry in entries if entry.mistake]
    return {entry.key: entry for entry in entries}
