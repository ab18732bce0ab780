"""How a copy goes, on stderr: bars for a terminal, a line every few seconds for a log."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from mirror.cli.quantities import count_text, counted
from mirror.copy.engine import OPEN_END
from mirror.copy.progress import Progress
from mirror.copy.spec import PartitionSpec
from mirror.kafka.values import TopicPartition

# Bars that fit on a screen; with more partitions, one bar per topic.
BARS_AT_MOST = 12
# Seconds between two lines where there is no terminal: often enough to see life, rare enough for a log.
LINE_S = 5.0


class Way:
    """How much of its partitions' ranges a copy has behind it; offsets, from committed positions."""

    def __init__(self, partitions: Sequence[PartitionSpec]) -> None:
        self._specs = {spec.partition: spec for spec in partitions}
        self._at = {spec.partition: spec.position for spec in partitions}

    def update(self, positions: Mapping[TopicPartition, int]) -> None:
        for partition in self._at.keys() & positions.keys():
            self._at[partition] = max(self._at[partition], positions[partition])

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        return tuple(sorted(self._specs))

    @property
    def is_open(self) -> bool:
        """Whether it goes on with what arrives, so that there is no total."""
        return any(spec.end == OPEN_END for spec in self._specs.values())

    def copied(self, partitions: Sequence[TopicPartition] | None = None) -> int:
        return sum(self._at[p] - self._specs[p].position for p in partitions or self._specs)

    def total(self, partitions: Sequence[TopicPartition] | None = None) -> int | None:
        """Offsets to copy in all; None where the end is open."""
        if self.is_open:
            return None
        return sum(max(self._specs[p].end - self._specs[p].position, 0) for p in partitions or self._specs)

    def done(self) -> int:
        return sum(self._at[p] >= spec.end for p, spec in self._specs.items())

    def line(self) -> str:
        copied, total = self.copied(), self.total()
        if total is None:
            return f"{counted(copied, 'offset')} copied in {counted(len(self._specs), 'partition')}, more may arrive"
        share = f" ({100 * copied // total} %)" if total else ""
        partitions = f"{self.done()} of {counted(len(self._specs), 'partition')} done"
        return f"{count_text(copied)} of {counted(total, 'offset')} copied{share}, {partitions}"


class LineProgress:
    """For logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._way: Way | None = None
        self._said_at = 0.0

    def say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def begin(self, partitions: Sequence[PartitionSpec]) -> None:
        self._way = Way(partitions)
        self._said_at = time.monotonic()
        topics = len({spec.partition.topic for spec in partitions})
        self.say(f"copying {counted(len(partitions), 'partition')} of {counted(topics, 'topic')}")

    def update(self, positions: Mapping[TopicPartition, int]) -> None:
        if self._way is None:
            return
        self._way.update(positions)
        if time.monotonic() - self._said_at >= LINE_S:
            self._said_at = time.monotonic()
            self.say(self._way.line())

    def end(self) -> None:
        self._way = None


class BarProgress:
    """For people at a terminal: a bar per partition, or per topic when there are many."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}", justify="right"),
            TimeElapsedColumn(),
            console=console,
        )
        self._way: Way | None = None
        self._tasks: list[tuple[TaskID, list[TopicPartition]]] = []

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)

    def begin(self, partitions: Sequence[PartitionSpec]) -> None:
        self._way = Way(partitions)
        for name, members in bars_of(self._way.partitions).items():
            total = self._way.total(members)
            self._tasks.append((self._bars.add_task(name, total=total, count=""), members))
        self._bars.start()

    def update(self, positions: Mapping[TopicPartition, int]) -> None:
        if self._way is None:
            return
        self._way.update(positions)
        for task, members in self._tasks:
            copied, total = self._way.copied(members), self._way.total(members)
            count = count_text(copied) + (f" of {count_text(total)}" if total is not None else "")
            self._bars.update(task, completed=copied, count=count)

    def end(self) -> None:
        self._bars.stop()


def bars_of(partitions: Sequence[TopicPartition]) -> dict[str, list[TopicPartition]]:
    """Which partitions share a bar, by its name."""
    if len(partitions) <= BARS_AT_MOST:
        return {str(partition): [partition] for partition in partitions}
    by_topic: dict[str, list[TopicPartition]] = {}
    for partition in partitions:
        by_topic.setdefault(partition.topic, []).append(partition)
    return {f"{topic} ({len(members)})": members for topic, members in by_topic.items()}


@contextmanager
def progress_on(stream: TextIO) -> Iterator[Progress]:
    """Progress for whoever reads the stream; the terminal is itself again at the end, however it comes."""
    progress = BarProgress(Console(file=stream)) if stream.isatty() else LineProgress(stream)
    try:
        yield progress
    finally:
        progress.end()
