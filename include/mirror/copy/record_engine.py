"""The engine that reads and writes record by record."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from mirror.copy.bandwidth import Bandwidth
from mirror.copy.engine import Limits, Move, Moved, Range, StateRecord
from mirror.copy.points import reached
from mirror.copy.run_writer import RunWriter, Track, epoch_of
from mirror.copy.transforming_writer import TransformingWriter
from mirror.errors import LogTruncated, MirrorError, NotAuthorized, TopicNotFound
from mirror.kafka.reader import Met, SourceReader, met
from mirror.kafka.values import TopicPartition
from mirror.kafka.writer import TransactionalWriter
from mirror.records import Transformation
from mirror.wire.stretches import outside, past

# Messages asked of the client at once: more makes no difference to the rate, and delays delivery reports.
BATCH_COUNT = 4000
# Records of a partition between two confirmations while a refused one is looked for.
CAREFUL_STEP = 100
# Seconds to wait for a first message: it bounds how late the loop sees its deadline.
WAIT_S = 0.1


class RecordEngine:
    """Copies with one consumer and one transactional producer; order per partition is the source's."""

    def __init__(
        self,
        reader: SourceReader,
        writer: TransactionalWriter,
        bandwidth: Bandwidth,
        transformation: Transformation | None = None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._runs = RunWriter(writer) if transformation is None else TransformingWriter(writer, transformation)
        self._bandwidth = bandwidth
        self._tracks: dict[TopicPartition, Track] = {}
        self._met: dict[TopicPartition, MirrorError | None] = {}

    def open(self) -> None:
        self._writer.init()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def assign(self, ranges: Sequence[Range], suspects: Mapping[TopicPartition, range], *, careful: bool) -> None:
        self._runs.is_careful = careful
        self._met = {}
        starts = {r.partition: _first_wanted(r) for r in ranges}
        self._tracks = {
            r.partition: Track(
                wanted=r,
                move=Move(position=starts[r.partition]),
                suspects=suspects.get(r.partition, range(0)),
                is_closed=starts[r.partition] >= r.end,
            )
            for r in ranges
        }
        self._reader.assign({r.partition: starts[r.partition] for r in ranges if starts[r.partition] < r.end})

    def move(self, limits: Limits) -> Moved:
        deadline = time.monotonic() + limits.seconds
        for track in self._tracks.values():
            track.move = Move(position=track.move.position)
            track.pending = []
        self._runs.begin()
        moved_bytes = 0
        while not self._is_done() and moved_bytes < limits.byte_count and time.monotonic() < deadline:
            messages = self._reader.read(self._bandwidth.batch_count(BATCH_COUNT), WAIT_S)
            batch_bytes = self._pump(messages)
            moved_bytes += batch_bytes
            self._runs.poll()
            self._bandwidth.spend(len(messages), batch_bytes, self._writer.poll)
        if self._runs.has_sent:
            reached("produced")
            self._runs.flush()
            reached("flushed")
        return self._moved()

    def commit(self, state: Sequence[StateRecord]) -> None:
        self._runs.write_states(state)
        if state:
            self._runs.flush()
            reached("syncs-sent")
        self._writer.commit()
        if state:
            reached("committed")

    def abort(self) -> None:
        self._runs.abort()

    def _is_done(self) -> bool:
        return all(track.is_closed for track in self._tracks.values())

    def _moved(self) -> Moved:
        for track in self._tracks.values():
            self._runs.settle(track)
        met_now, self._met = self._met, {}
        moves = {partition: track.move for partition, track in self._tracks.items()}
        return Moved(moves=moves, met=met_now, is_done=self._is_done())

    # From here on, once per message.

    def _pump(self, messages: list[Any]) -> int:
        """Hand messages on in runs: of one partition, with consecutive offsets, below the end."""
        index, count, moved_bytes = 0, len(messages), 0
        while index < count:
            message = messages[index]
            error = message.error()
            if error is not None:
                self._event(message, error)
                index += 1
                continue
            topic, number, offset = message.topic(), message.partition(), message.offset()
            track = self._tracks[TopicPartition(topic, number)]
            stop = index + 1
            expected = offset + 1
            # An end-of-partition event carries the expected offset too: only a record has no error.
            while stop < count:
                candidate = messages[stop]
                if (
                    candidate.offset() != expected
                    or candidate.partition() != number
                    or candidate.error() is not None
                    or candidate.topic() != topic
                ):
                    break
                expected += 1
                stop += 1
            if not track.is_closed:
                moved_bytes += self._pass_on(track, messages[index:stop], offset)
            index = stop
        return moved_bytes

    def _pass_on(self, track: Track, messages: list[Any], offset: int) -> int:
        """Write the records of a run that lie inside the range; beyond it the partition is done."""
        room = track.wanted.end - offset
        if room < len(messages):
            messages = messages[: max(room, 0)]
            self._close(track)
        moved_bytes, stop = 0, offset + len(messages)
        if track.wanted.skips:
            moved_bytes = self._write_outside(track, messages, offset)
        else:
            moved_bytes = self._write(track, messages, offset)
        if track.is_closed:
            track.move.position = track.wanted.end
        else:
            track.move.position = stop
            if stop >= track.wanted.end:
                self._close(track)
        return moved_bytes

    def _write_outside(self, track: Track, messages: list[Any], offset: int) -> int:
        """Write what the opposite flow did not; the newest record that was read is the log's witness all the same."""
        moved_bytes, written_to = 0, offset
        for at, end in outside(track.wanted.skips, offset, offset + len(messages)):
            moved_bytes += self._write(track, messages[at - offset : end - offset], at)
            written_to = end
        is_left_out = bool(messages) and written_to < offset + len(messages)
        track.move.left_out_offset = offset + len(messages) - 1 if is_left_out else track.move.left_out_offset
        if is_left_out:
            track.move.leader_epoch = epoch_of(messages[-1])
        return moved_bytes

    def _write(self, track: Track, messages: list[Any], offset: int) -> int:
        moved_bytes = 0
        while messages:
            step = self._step(track, offset, len(messages))
            moved_bytes += self._runs.write(track, messages[:step], offset)
            offset += step
            messages = messages[step:]
            if self._runs.is_careful:
                self._runs.flush()
        return moved_bytes

    def _step(self, track: Track, offset: int, available: int) -> int:
        if not self._runs.is_careful:
            return available
        if offset in track.suspects:
            return 1
        return min(available, CAREFUL_STEP, max(track.suspects.start - offset, 0) or CAREFUL_STEP)

    def _event(self, message: Any, error: Any) -> None:
        """Take in what the client says of a partition instead of giving a record."""
        partition = TopicPartition(message.topic() or "", message.partition() or 0)
        track = self._tracks.get(partition)
        what = met(error)
        if track is None or track.is_closed or what is Met.PASSING:
            return
        if what is Met.END:
            # The end is past markers and aborted records: positions to step over, not records.
            track.move.position = max(track.move.position, min(message.offset(), track.wanted.end))
            if track.move.position >= track.wanted.end:
                self._close(track)
            return
        self._close(track)
        self._met[partition] = _error_of(what, self._reader.alias, partition, error)

    def _close(self, track: Track) -> None:
        track.is_closed = True
        self._reader.pause([track.wanted.partition])


def _first_wanted(wanted: Range) -> int:
    """Where to begin reading: of a stretch that is passed over, its last record alone is read, to know its epoch."""
    behind = past(wanted.skips, wanted.start)
    return max(min(behind, wanted.end) - 1, wanted.start) if behind > wanted.start else wanted.start


def _error_of(what: Met, alias: str, partition: TopicPartition, error: Any) -> MirrorError | None:
    about: dict[str, Any] = {"cluster": alias, "topic": partition.topic, "partition": partition.partition}
    if what is Met.OUT_OF_RANGE:
        return None
    if what is Met.TRUNCATED:
        return LogTruncated(f"{partition} on {alias}: {error.str()}", **about)
    if what is Met.DENIED:
        return NotAuthorized(f"could not read {partition} on cluster {alias}: {error.str()}", **about)
    return TopicNotFound(f"{partition} is gone from cluster {alias}: {error.str()}", **about)
