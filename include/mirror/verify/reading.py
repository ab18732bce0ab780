"""Reads one partition's range as batches of entries, small fetches at a time."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mirror.errors import ClusterBusy, ClusterUnreachable, NotAuthorized, TopicNotFound
from mirror.kafka.reader import Met, SourceReader, met
from mirror.kafka.values import TopicPartition
from mirror.verify.entries import Batch, Content

# Fetch sizes for two readers in each of a few workers: larger ones were not faster, and take their multiple in memory.
FETCHES: Mapping[str, Any] = {
    "fetch.wait.max.ms": 20,
    "fetch.max.bytes": 8 * 1024 * 1024,
    "max.partition.fetch.bytes": 4 * 1024 * 1024,
    "queued.min.messages": 20_000,
    "queued.max.messages.kbytes": 16 * 1024,
}
BATCH_COUNT = 4_000
WAIT_S = 0.2
# Seconds without a word before a partition is given up; brokers may be restarting.
SILENCE_S = 120.0
# Seconds to wait at a log's end that is short of where it should be: a commit's markers come a moment after it.
SHORT_S = 10.0


class LogMoved(Exception):
    """Retention took what was to be read next of one of several partitions: each is to be read by itself."""


class RangeReader:
    """Gives all records of a partition's `[start, end)` as batches, oldest first.

    `content_of` may give None for a record that is not to be compared; `moved_on` gives the log's start when retention
    took what was to be read next.
    """

    def __init__(
        self,
        reader: SourceReader,
        partition: TopicPartition,
        offsets: tuple[int, int],
        content_of: Callable[[Any], Content | None],
        moved_on: Callable[[], int],
    ) -> None:
        self._reader = reader
        self.partition = partition
        self.start, self._end = offsets
        self._content_of = content_of
        self._moved_on = moved_on
        self.is_done = self.start >= self._end
        self.is_short = False
        self._is_alone = False
        self._collected: list[Batch] = []

    def begin(self) -> None:
        """Let the client fetch it, and nothing else."""
        self._is_alone = True
        if not self.is_done:
            self._reader.assign({self.partition: self.start})

    def batches(self) -> Iterator[Batch]:
        """What was collected, or what comes now."""
        yield from self._collected
        heard = time.monotonic()
        while not self.is_done:
            messages = self._reader.read(BATCH_COUNT, WAIT_S)
            if messages:
                heard = time.monotonic()
                batch = self._take(messages)
                if batch[0]:
                    yield batch
            elif _gives_up(self._reader.alias, [self], time.monotonic() - heard):
                return

    def collect(self, messages: list[Any]) -> None:
        """Keep what these messages hold, for a range so small that it fits into memory beside others."""
        batch = self._take(messages)
        if batch[0]:
            self._collected.append(batch)

    def _take(self, messages: list[Any]) -> Batch:
        offsets: list[int] = []
        contents: list[Content] = []
        for message in messages:
            if message.partition() != self.partition.partition or message.topic() != self.partition.topic:
                continue  # fetched for the partition before this one
            offset = message.offset()
            error = message.error()
            if error is not None:
                self._meet(met(error), offset)
            elif offset < self._end:
                content = self._content_of(message)
                if content is not None:
                    offsets.append(offset)
                    contents.append(content)
                self.is_short = False
            if self.is_done or offset >= self._end - 1:
                self.is_done = True
                break
        return offsets, contents

    def _meet(self, what: Met, offset: int) -> None:
        """Take in what the client says instead of giving a record; raises where the range cannot be read."""
        partition, alias = self.partition, self._reader.alias
        about: dict[str, Any] = {"cluster": alias, "topic": partition.topic, "partition": partition.partition}
        match what:
            case Met.END:
                self.is_done = offset >= self._end
                self.is_short = not self.is_done
            case Met.OUT_OF_RANGE:
                if not self._is_alone:
                    raise LogMoved
                start = self._moved_on()
                self.is_done = start >= self._end
                if not self.is_done:
                    self._reader.assign({partition: start})
            case Met.DENIED:
                raise NotAuthorized(f"not allowed to read {partition} on cluster {alias}", **about)
            case Met.MISSING:
                raise TopicNotFound(f"{partition} is gone from cluster {alias}", **about)
            case Met.TRUNCATED:
                raise ClusterBusy(f"{partition} on cluster {alias} lost its end while it was read", **about)
            case Met.PASSING:
                pass


def read_together(reader: SourceReader, ranges: Sequence[RangeReader]) -> None:
    """Collect several small ranges at once: one by one, each would wait for its first fetch."""
    waiting = {r.partition: r for r in ranges if not r.is_done}
    heard = time.monotonic()
    while waiting:
        messages = reader.read(BATCH_COUNT, WAIT_S)
        if not messages:
            if _gives_up(reader.alias, list(waiting.values()), time.monotonic() - heard):
                return
            continue
        heard = time.monotonic()
        own: dict[TopicPartition, list[Any]] = defaultdict(list)
        for message in messages:
            own[TopicPartition(str(message.topic()), int(message.partition() or 0))].append(message)
        for partition in waiting.keys() & own.keys():
            waiting[partition].collect(own[partition])
        finished = [partition for partition, r in waiting.items() if r.is_done]
        for partition in finished:
            del waiting[partition]
        if finished:
            reader.pause(finished)


def _gives_up(alias: str, ranges: Sequence[RangeReader], silence_s: float) -> bool:
    """Whether all logs end before they should, so that what is missing is told as missing; raises on long silence."""
    if silence_s > SHORT_S and all(r.is_short for r in ranges):
        for r in ranges:
            r.is_done = True
        return True
    if silence_s > SILENCE_S:
        names = ", ".join(str(r.partition) for r in ranges[:3])
        raise ClusterUnreachable(
            f"cluster {alias} gave nothing of {names} for {SILENCE_S:.0f} s", next_step="run this again", cluster=alias
        )
    return False
