"""Reads one partition's range as batches of entries, small fetches at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
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


class RangeReader:
    """Gives all records of a partition's `[start, end)` as batches, oldest first.

    `content_of` may give None for a record that is not to be compared; `moved_on` gives the log's start when retention
    took what was to be read next.
    """

    def __init__(
        self,
        reader: SourceReader,
        partition: TopicPartition,
        end: int,
        content_of: Callable[[Any], Content | None],
        moved_on: Callable[[], int],
    ) -> None:
        self._reader = reader
        self._partition = partition
        self._end = end
        self._content_of = content_of
        self._moved_on = moved_on
        self._is_done = False
        self._is_short = False

    def batches(self, start: int) -> Iterator[Batch]:
        if start >= self._end:
            return
        self._reader.assign({self._partition: start})
        heard = time.monotonic()
        while not self._is_done:
            messages = self._reader.read(BATCH_COUNT, WAIT_S)
            if messages:
                heard = time.monotonic()
                batch = self._take(messages)
                if batch[0]:
                    yield batch
            elif self._is_short and time.monotonic() - heard > SHORT_S:
                return  # the log ends before it should: what is missing is told as missing
            elif time.monotonic() - heard > SILENCE_S:
                raise ClusterUnreachable(
                    f"cluster {self._reader.alias} gave nothing of {self._partition} for {SILENCE_S:.0f} s",
                    next_step="run this again",
                    cluster=self._reader.alias,
                )

    def _take(self, messages: list[Any]) -> Batch:
        offsets: list[int] = []
        contents: list[Content] = []
        for message in messages:
            if message.partition() != self._partition.partition or message.topic() != self._partition.topic:
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
                self._is_short = False
            if self._is_done or offset >= self._end - 1:
                self._is_done = True
                break
        return offsets, contents

    def _meet(self, what: Met, offset: int) -> None:
        """Take in what the client says instead of giving a record; raises where the range cannot be read."""
        partition, alias = self._partition, self._reader.alias
        about: dict[str, Any] = {"cluster": alias, "topic": partition.topic, "partition": partition.partition}
        match what:
            case Met.END:
                self._is_done = offset >= self._end
                self._is_short = not self._is_done
            case Met.OUT_OF_RANGE:
                start = self._moved_on()
                self._is_done = start >= self._end
                if not self._is_done:
                    self._reader.assign({partition: start})
            case Met.DENIED:
                raise NotAuthorized(f"not allowed to read {partition} on cluster {alias}", **about)
            case Met.MISSING:
                raise TopicNotFound(f"{partition} is gone from cluster {alias}", **about)
            case Met.TRUNCATED:
                raise ClusterBusy(f"{partition} on cluster {alias} lost its end while it was read", **about)
            case Met.PASSING:
                pass
