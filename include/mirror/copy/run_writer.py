"""Writes runs of records into the open transaction, and learns from delivery reports where they landed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mirror.copy.engine import Move, Range, Refusal, Run, StateRecord
from mirror.kafka.errors import kafka_error_in
from mirror.kafka.values import TopicPartition
from mirror.kafka.writer import Abortable, TransactionalWriter


@dataclass(slots=True)
class Track:
    """One partition on its way: where it stands in this transaction, and which records' reports are awaited."""

    wanted: Range
    move: Move
    suspects: range = range(0)
    is_closed: bool = False
    pending: list[PendingRun] = field(default_factory=list)


@dataclass(slots=True)
class PendingRun:
    """A run whose first and last record are on their way."""

    upstream_start: int
    length: int
    downstream_start: int = -1
    downstream_last: int = -1
    # Where each record landed, where every one is asked for.
    landed: list[int] | None = None

    def settled(self) -> list[Run]:
        """The run as it landed; in parts, where somebody wrote between our records and every one was asked for."""
        if self.landed is None:
            return [Run(self.upstream_start, self.length, self.downstream_start, self.downstream_last + 1)]
        parts: list[Run] = []
        first = 0
        for index in range(1, self.length + 1):
            if index == self.length or self.landed[index] != self.landed[index - 1] + 1:
                start = self.landed[first]
                parts.append(Run(self.upstream_start + first, index - first, start, start + index - first))
                first = index
        return parts

    @property
    def is_known(self) -> bool:
        return self.downstream_start >= 0 and self.downstream_last >= 0 and min(self.landed or [0]) >= 0


@dataclass(slots=True)
class _Failure:
    """The first delivery report that was bad."""

    partition: TopicPartition
    start: int
    end: int
    error: Any


class RunWriter:
    """Hands records to the client as they are; one transaction at a time."""

    def __init__(self, writer: TransactionalWriter) -> None:
        self._writer = writer
        # Small steps, each confirmed: a refused record is looked for.
        self.is_careful = False
        self.has_sent = False
        self._failures: list[_Failure] = []
        # Reports of an aborted transaction may come while the next one is open: each knows which one it belongs to.
        self._transaction = 0

    def begin(self) -> None:
        self._transaction += 1
        self._failures = []
        self.has_sent = False
        self._writer.begin()

    def poll(self) -> None:
        self._writer.poll(0)
        self._raise_failure()

    def flush(self) -> None:
        """Wait for all reports; a bad one tells more than the transaction's error, which names no offset."""
        try:
            self._writer.flush()
        except Abortable:
            self._raise_failure()
            raise
        self._raise_failure()

    def abort(self) -> None:
        self._writer.abort(sent=self.has_sent)
        self.has_sent = False

    def write_states(self, states: Sequence[StateRecord]) -> None:
        for state in states:
            topic, number = state.partition
            self._writer.produce(topic, state.value, state.key, number, self._state_report(state.partition))
            self.has_sent = True

    def settle(self, track: Track) -> None:
        """Turn what was confirmed into the runs of the move; every report that is awaited must have come."""
        for run in track.pending:
            if not run.is_known:
                raise Abortable(None, f"no delivery report for {track.wanted.partition} at {run.upstream_start}")
            track.move.runs += run.settled()

    # From here on, once per run or record.

    def write(self, track: Track, messages: list[Any], offset: int) -> int:
        """Write messages with consecutive offsets. Reports of the first and last tell where the run landed."""
        produce = self._writer.produce
        topic, number = track.wanted.remote
        asks_all = self.is_careful or track.wanted.is_exact
        run = PendingRun(offset, len(messages), landed=[-1] * len(messages) if track.wanted.is_exact else None)
        track.pending.append(run)
        last = len(messages) - 1
        suspects = range(offset, offset + len(messages))
        moved_bytes = 0
        for index, message in enumerate(messages):
            report = self.report(track, run, index, suspects) if index in (0, last) or asks_all else None
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
                    self.has_sent = self.has_sent or index > 0
                    raise self.not_taken(track, offset + index, error) from error
            if value is not None:
                moved_bytes += len(value)
        self.has_sent = True
        move = track.move
        move.record_count += len(messages)
        move.byte_count += moved_bytes
        move.leader_epoch = epoch_of(messages[-1])
        move.left_out_offset = None  # the newest record read is a copied one again
        return moved_bytes

    def not_taken(self, track: Track, offset: int, error: Exception) -> Exception:
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

    def report(self, track: Track, run: PendingRun, index: int, among: range) -> Callable[[Any, Any], None]:
        """What a delivery report does; `among` are the offsets of the step that the record belongs to."""
        partition, last = track.wanted.partition, run.length - 1
        # In careful mode a step is one batch, and the broker refuses a batch as a whole.
        suspect = among if self.is_careful else range(0)
        transaction = self._transaction

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                if transaction == self._transaction:
                    self._failures.append(_Failure(partition, suspect.start, suspect.stop, error))
                return
            if run.landed is not None:
                run.landed[index] = message.offset()
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


def epoch_of(message: Any) -> int | None:
    """The leader epoch that a message was written under; some brokers give none."""
    epoch = message.leader_epoch()
    return epoch if epoch is not None and epoch >= 0 else None
