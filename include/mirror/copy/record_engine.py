"""The engine that reads and writes record by record."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mirror.copy.bandwidth import Bandwidth
from mirror.copy.engine import Limits, Move, Moved, Range, Refusal, Run, StateRecord
from mirror.copy.points import reached
from mirror.errors import LogTruncated, MirrorError, NotAuthorized, TopicNotFound
from mirror.kafka.errors import kafka_error_in
from mirror.kafka.reader import Met, SourceReader, met
from mirror.kafka.values import TopicPartition
from mirror.kafka.writer import Abortable, TransactionalWriter

# Messages asked of the client at once: more makes no difference to the rate, and delays delivery reports.
BATCH_COUNT = 4000
# Records of a partition between two confirmations while a refused one is looked for.
CAREFUL_STEP = 100
# Seconds to wait for a first message: it bounds how late the loop sees its deadline.
WAIT_S = 0.1


@dataclass(slots=True)
class _Track:
    """One partition on its way: where it stands in this transaction, and which records' reports are awaited."""

    wanted: Range
    move: Move
    suspects: range = range(0)
    is_closed: bool = False
    pending: list[_PendingRun] = field(default_factory=list)


@dataclass(slots=True)
class _PendingRun:
    upstream_start: int
    length: int
    downstream_start: int = -1
    downstream_last: int = -1


@dataclass(slots=True)
class _Failure:
    """The first delivery report that was bad."""

    partition: TopicPartition
    start: int
    end: int
    error: Any


class RecordEngine:
    """Copies with one consumer and one transactional producer; order per partition is the source's."""

    def __init__(self, reader: SourceReader, writer: TransactionalWriter, bandwidth: Bandwidth) -> None:
        self._reader = reader
        self._writer = writer
        self._bandwidth = bandwidth
        self._tracks: dict[TopicPartition, _Track] = {}
        self._met: dict[TopicPartition, MirrorError | None] = {}
        self._failures: list[_Failure] = []
        self._careful = False
        self._sent = False
        # Reports of an aborted transaction may come while the next one is open: each knows which one it belongs to.
        self._transaction = 0

    def open(self) -> None:
        self._writer.init()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def assign(self, ranges: Sequence[Range], suspects: Mapping[TopicPartition, range], *, careful: bool) -> None:
        self._careful = careful
        self._met = {}
        self._tracks = {
            r.partition: _Track(
                wanted=r, move=Move(position=r.start), suspects=suspects.get(r.partition, range(0)), is_closed=False
            )
            for r in ranges
        }
        self._reader.assign({r.partition: r.start for r in ranges if r.start < r.end})
        for track in self._tracks.values():
            track.is_closed = track.wanted.start >= track.wanted.end

    def move(self, limits: Limits) -> Moved:
        deadline = time.monotonic() + limits.seconds
        self._transaction += 1
        self._failures = []
        self._sent = False
        for track in self._tracks.values():
            track.move = Move(position=track.move.position)
            track.pending = []
        self._writer.begin()
        moved_bytes = 0
        while not self._is_done() and moved_bytes < limits.byte_count and time.monotonic() < deadline:
            messages = self._reader.read(self._bandwidth.batch_count(BATCH_COUNT), WAIT_S)
            batch_bytes = self._pump(messages)
            moved_bytes += batch_bytes
            self._writer.poll(0)
            self._raise_failure()
            self._bandwidth.spend(len(messages), batch_bytes, self._writer.poll)
        if self._sent:
            reached("produced")
            self._flush()
            reached("flushed")
        return self._moved()

    def commit(self, state: Sequence[StateRecord]) -> None:
        for record in state:
            self._writer.produce(
                record.partition.topic,
                record.value,
                record.key,
                record.partition.partition,
                self._state_report(record.partition),
            )
            self._sent = True
        if state:
            self._flush()
            reached("syncs-sent")
        self._writer.commit()
        if state:
            reached("committed")

    def abort(self) -> None:
        self._writer.abort(sent=self._sent)
        self._sent = False

    def _flush(self) -> None:
        """Wait for all reports; a bad one tells more than the transaction's error, which names no offset."""
        try:
            self._writer.flush()
        except Abortable:
            self._raise_failure()
            raise
        self._raise_failure()

    def _is_done(self) -> bool:
        return all(track.is_closed for track in self._tracks.values())

    def _moved(self) -> Moved:
        for track in self._tracks.values():
            for run in track.pending:
                if run.downstream_start < 0 or run.downstream_last < 0:
                    raise Abortable(None, f"no delivery report for {track.wanted.partition} at {run.upstream_start}")
                track.move.runs.append(
                    Run(run.upstream_start, run.length, run.downstream_start, run.downstream_last + 1)
                )
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

    def _pass_on(self, track: _Track, messages: list[Any], offset: int) -> int:
        """Write the records of a run that lie inside the range; beyond it the partition is done."""
        room = track.wanted.end - offset
        if room < len(messages):
            messages = messages[: max(room, 0)]
            self._close(track)
        moved_bytes = 0
        while messages:
            step = self._step(track, offset, len(messages))
            moved_bytes += self._write(track, messages[:step], offset)
            offset += step
            messages = messages[step:]
            if self._careful:
                self._flush()
        if track.is_closed:
            track.move.position = track.wanted.end
        else:
            track.move.position = offset
            if offset >= track.wanted.end:
                self._close(track)
        return moved_bytes

    def _step(self, track: _Track, offset: int, available: int) -> int:
        if not self._careful:
            return available
        if offset in track.suspects:
            return 1
        return min(available, CAREFUL_STEP, max(track.suspects.start - offset, 0) or CAREFUL_STEP)

    def _write(self, track: _Track, messages: list[Any], offset: int) -> int:
        """The hot loop. Reports are wanted for the first and the last record, which tell where the run landed."""
        produce = self._writer.produce
        topic, number = track.wanted.remote
        run = _PendingRun(offset, len(messages))
        track.pending.append(run)
        last = len(messages) - 1
        moved_bytes = 0
        for index, message in enumerate(messages):
            report = self._run_report(track, run, index, last) if index in (0, last) or self._careful else None
            timestamp = message.timestamp()[1]
            if timestamp <= 0:
                track.move.altered.append(offset + index)
                timestamp = 0
            value = message.value()
            while True:
                try:
                    # Positional, in the client's own order: keywords cost half a microsecond a record.
                    produce(topic, value, message.key(), number, report, None, timestamp, message.headers())
                    break
                except BufferError:
                    self._writer.poll(0.01)
                except Exception as error:
                    # Those before it are in the transaction: it must be aborted, not ended as an empty one.
                    self._sent = self._sent or index > 0
                    raise self._not_taken(track, offset + index, error) from error
            if value is not None:
                moved_bytes += len(value)
        self._sent = True
        move = track.move
        move.record_count += len(messages)
        move.byte_count += moved_bytes
        epoch = messages[-1].leader_epoch()
        move.leader_epoch = epoch if epoch is not None and epoch >= 0 else None
        return moved_bytes

    def _not_taken(self, track: _Track, offset: int, error: Exception) -> Exception:
        """What a raised produce() means. The record is not in the transaction, so a commit would lose it in silence."""
        inner: Any = kafka_error_in(error)
        if inner is None:
            unreadable = isinstance(error, UnicodeDecodeError) or isinstance(error.__cause__, UnicodeDecodeError)
            reason = "a header's name is not UTF-8, and the client cannot read it"
            return (
                Refusal(track.wanted.partition, offset, offset + 1, "UNREADABLE_HEADER", reason)
                if unreadable
                else error
            )
        meaning = self._writer.meaning_of(inner, f"write to {track.wanted.remote}")
        if isinstance(meaning, Abortable) and meaning.is_refusal and meaning.code == inner.name():
            return Refusal(track.wanted.partition, offset, offset + 1, inner.name(), inner.str())
        return meaning

    def _run_report(self, track: _Track, run: _PendingRun, index: int, last: int) -> Callable[[Any, Any], None]:
        partition, offset = track.wanted.partition, run.upstream_start + index
        # In careful mode a step is one batch, and the broker refuses a batch as a whole.
        suspect = range(run.upstream_start, run.upstream_start + run.length) if self._careful else range(offset, offset)

        transaction = self._transaction

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                if transaction == self._transaction:
                    self._failures.append(_Failure(partition, suspect.start, suspect.stop, error))
                return
            if index == 0:
                run.downstream_start = message.offset()
            if index == last:
                run.downstream_last = message.offset()

        return delivered

    def _state_report(self, partition: TopicPartition) -> Callable[[Any, Any], None]:
        transaction = self._transaction

        def delivered(error: Any, _: Any) -> None:
            if error is not None and transaction == self._transaction:
                self._failures.append(_Failure(partition, 0, 0, error))

        return delivered

    def _raise_failure(self) -> None:
        """Turn the first bad report into what it asks for; a refusal says among which offsets."""
        if not self._failures:
            return
        for failure in self._failures:
            meaning = self._writer.meaning_of_report(failure.error, f"write records of {failure.partition}")
            if isinstance(meaning, Abortable) and meaning.is_refusal and failure.end > failure.start:
                raise Refusal(failure.partition, failure.start, failure.end, failure.error.name(), failure.error.str())
        first = self._failures[0]
        raise self._writer.meaning_of_report(first.error, f"write records of {first.partition}")

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

    def _close(self, track: _Track) -> None:
        track.is_closed = True
        self._reader.pause([track.wanted.partition])


def _error_of(what: Met, alias: str, partition: TopicPartition, error: Any) -> MirrorError | None:
    about: dict[str, Any] = {"cluster": alias, "topic": partition.topic, "partition": partition.partition}
    if what is Met.OUT_OF_RANGE:
        return None
    if what is Met.TRUNCATED:
        return LogTruncated(f"{partition} on {alias}: {error.str()}", **about)
    if what is Met.DENIED:
        return NotAuthorized(f"could not read {partition} on cluster {alias}: {error.str()}", **about)
    return TopicNotFound(f"{partition} is gone from cluster {alias}: {error.str()}", **about)
