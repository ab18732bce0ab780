"""Writes what a flow's transformation makes of records: fewer, or changed; positions go past those left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mirror.copy.engine import FUNCTION_FAILED, Refusal
from mirror.copy.run_writer import PendingRun, RunWriter, Track, epoch_of
from mirror.kafka.writer import TransactionalWriter
from mirror.records import LeftOut, Record, Transformation, TransformationFailed

# An upstream offset and what is written for it.
Kept = tuple[int, Record]


class TransformingWriter(RunWriter):
    """As RunWriter, with every record looked at before any of its step is written."""

    def __init__(self, writer: TransactionalWriter, transformation: Transformation) -> None:
        super().__init__(writer)
        self._transformation = transformation

    def write(self, track: Track, messages: list[Any], offset: int) -> int:
        kept = self._look_at(track, messages, offset)
        among = range(offset, offset + len(messages))
        moved_bytes = sum(self._write_run(track, run, among) for run in _runs(kept))
        # The epoch belongs to the newest record that was read, wherever it ended.
        track.move.leader_epoch = epoch_of(messages[-1])
        track.move.left_out_offset = None if kept and kept[-1][0] == among[-1] else among[-1]
        return moved_bytes

    def _look_at(self, track: Track, messages: list[Any], offset: int) -> list[Kept]:
        """What the transformation leaves of a step; each record left out is counted."""
        topic, partition = track.wanted.partition
        remote_topic, outcome_of, move = track.wanted.remote.topic, self._transformation.outcome, track.move
        kept: list[Kept] = []
        for at, message in enumerate(messages, offset):
            try:
                headers = tuple(message.headers() or ())
            except Exception as error:
                raise self.not_taken(track, at, error) from error
            record = Record(
                topic, remote_topic, partition, at, message.key(), message.value(), headers, message.timestamp()[1]
            )
            try:
                outcome = outcome_of(record)
            except TransformationFailed as failed:
                raise Refusal(track.wanted.partition, at, at + 1, FUNCTION_FAILED, str(failed)) from None
            if outcome is LeftOut.DROPPED:
                move.dropped_count += 1
            elif outcome is LeftOut.THERE_ALREADY:
                move.there_already_count += 1
            else:
                kept.append((at, outcome))
        return kept

    def _write_run(self, track: Track, kept: list[Kept], among: range) -> int:
        """Write records with consecutive upstream offsets; as in RunWriter.write."""
        topic, number = track.wanted.remote
        asks_all = self.is_careful or track.wanted.is_exact
        run = PendingRun(kept[0][0], len(kept), landed=[-1] * len(kept) if track.wanted.is_exact else None)
        track.pending.append(run)
        last, moved_bytes = len(kept) - 1, 0
        for index, (offset, record) in enumerate(kept):
            report = self.report(track, run, index, among) if index in (0, last) or asks_all else None
            timestamp = record.timestamp_ms
            if timestamp <= 0:
                track.move.altered.append(offset)
                timestamp = 0
            value = record.value
            headers: list[tuple[str, str | bytes | None]] | None = [*record.headers] or None
            while True:
                try:
                    self._writer.produce(topic, value, record.key, number, report, None, timestamp, headers)
                    break
                except BufferError:
                    self._writer.poll(0.01)
                except Exception as error:
                    self.has_sent = self.has_sent or index > 0
                    raise self.not_taken(track, offset, error) from error
            if value is not None:
                moved_bytes += len(value)
        self.has_sent = True
        track.move.record_count += len(kept)
        track.move.byte_count += moved_bytes
        return moved_bytes


def _runs(kept: list[Kept]) -> Iterator[list[Kept]]:
    """Stretches of consecutive upstream offsets."""
    start = 0
    for at in range(1, len(kept) + 1):
        if at == len(kept) or kept[at][0] != kept[at - 1][0] + 1:
            yield kept[start:at]
            start = at
