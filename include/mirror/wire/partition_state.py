"""What airmirror remembers of one partition: MM2's offset sync with our extension behind it.

    upstream offset INT64, downstream offset INT64            MM2's sixteen bytes
    "AM" version INT8 flags INT8             flags: 1 has a record, 2 has an epoch, 4 left some out, 8 transformed,
                                             16 marked, 32 a remote end
    position INT64, leader epoch INT32, source topic id, target topic id
    run STRING, records and bytes copied so far
    where some were left out: how many were dropped, how many were there already, the newest if it is the witness
    where others write beside us: the remote end
    gaps, [stretches, returned], history (to the end)

Version 2 has what is in brackets: only partitions that an operation copied have it.

MM2's readers ignore what lies behind their sixteen bytes, and a value without an extension is theirs.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from mirror.errors import StateUnreadable
from mirror.wire.gaps import Gap, add_gap, decode_gaps, encode_gaps
from mirror.wire.history import EMPTY, Early, Exact, History, Translation, Unknown, Upstream
from mirror.wire.offset_sync import OFFSETS, OffsetSync, decode_key, encode_key
from mirror.wire.primitives import read_string, read_unsigned_varint, unreadable, write_string, write_unsigned_varint
from mirror.wire.round_trip import translate_both, translate_both_back
from mirror.wire.stretches import Stretches, decode_stretches, encode_stretches
from mirror.wire.topic_ids import decode_topic_id, encode_topic_id

VERSION = 1
VERSION_WITH_RETURN = 2
_MAGIC = b"AM"
_HEAD = struct.Struct(">qq2sBBqi16s16s")
_HAS_RECORD = 1
_HAS_EPOCH = 2
_LEFT_OUT = 4
_TRANSFORMED = 8
_MARKED = 16
_HAS_REMOTE_END = 32
_VERSION_AT = OFFSETS.size + len(_MAGIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """The authority on one partition, written in the transaction that copies its records.

    The offsets are those of the newest copied record. While there is none (`has_record` is False: only markers and
    aborted records were passed), they are the position and the target's end.
    """

    topic: str
    partition: int
    upstream_offset: int
    downstream_offset: int
    position: int
    has_record: bool = True
    source_topic_id: str = ""
    target_topic_id: str = ""
    leader_epoch: int | None = None
    history: History = EMPTY
    gaps: tuple[Gap, ...] = ()
    run: str = ""
    # What was copied of the partition since its first position: a run's own share is the difference, also when an
    # attempt of it died after a commit.
    record_count: int = 0
    byte_count: int = 0
    # Records that were read and not copied: dropped by the flow's filters or function; or of the target's own kind.
    dropped_count: int = 0
    there_already_count: int = 0
    # Whether records were ever left out or changed on the way: those of the two sides cannot be compared then.
    is_transformed: bool = False
    # Whether every copy bears the header that says which clusters it has been on.
    is_marked: bool = False
    # Where others write into the remote partition too: its end as of this state. What we copy next lies there or later.
    remote_end: int = 0
    # The newest record that was read, where it was left out; the epoch is that record's then.
    left_out_offset: int | None = None
    # Downstream offsets that hold nothing but our copies: kept while an operation copies, the opposite flow skips them.
    stretches: Stretches = ()
    # What came back from the target after a failover, as the returning flow knows it: its upstream is our downstream.
    returned: History = EMPTY

    @property
    def witness(self) -> int | None:
        """The newest record that was read: seen again with its epoch, it proves the log unchanged."""
        if self.left_out_offset is not None:
            return self.left_out_offset
        return self.upstream_offset if self.has_record else None

    @property
    def holds_all_copies(self) -> bool:
        """Whether the history knows of every record ever copied: no rewind dropped a part of it.

        Told only of exact histories, where a segment has as many records as offsets; of an empty one if nothing was
        copied.
        """
        return self.history.is_exact and sum(s.upstream_length for s in self.history.segments) == self.record_count

    @property
    def downstream_end(self) -> int:
        """Where the target goes on behind the newest copied record."""
        return self.downstream_offset + 1 if self.has_record else self.downstream_offset

    @property
    def is_from_mm2(self) -> bool:
        """Whether the value had no extension of ours: no run of airmirror wrote it."""
        return not self.run

    def standing_at(self, position: int, downstream_end: int, history: History) -> PartitionState:
        """The state of a partition that goes on at `position`, with no record yet behind the target's end."""
        return replace(
            self,
            position=position,
            upstream_offset=position,
            downstream_offset=downstream_end,
            has_record=False,
            leader_epoch=None,
            history=history,
        )

    def with_gap(self, gap: Gap) -> PartitionState:
        return replace(self, gaps=add_gap(self.gaps, gap))

    def translate(self, offset: int) -> Translation:
        """Where a group at this upstream offset goes on downstream; also while there are no segments yet."""
        if self.returned.segments:
            end = max(self.downstream_end, self.returned.segments[-1].upstream_end)
            return translate_both(self.history, self.returned, offset, position=self.position, end=end)
        segments = self.history.segments
        if segments and offset < segments[-1].upstream_end:
            return self.history.translate(offset, position=self.position)
        end = max(self.downstream_end, self.remote_end)
        if offset > self.position:
            return Early(end, offset - self.position)
        if segments or offset == self.position or (self.history.complete_from_start and not self.has_record):
            return Exact(end)
        return Unknown("the offset lies before what airmirror passed, and it copied nothing here yet")

    def translate_back(self, downstream: int) -> Upstream | Unknown:
        if self.returned.segments:
            return translate_both_back(self.history, self.returned, downstream, position=self.position)
        return self.history.translate_back(downstream, position=self.position)

    def offset_sync(self) -> OffsetSync:
        """The same as MM2 knows it, for its own topic; only of use when there is a record."""
        return OffsetSync(
            topic=self.topic,
            partition=self.partition,
            upstream_offset=self.upstream_offset,
            downstream_offset=self.downstream_offset,
        )

    def encode_key(self) -> bytes:
        return encode_key(self.topic, self.partition)

    def encode_value(self) -> bytes:
        if not self.run:
            raise ValueError(f"the state of {self.topic}-{self.partition} names no run")
        left_out = self.left_out_offset is not None or self.dropped_count > 0 or self.there_already_count > 0
        out = bytearray(
            _HEAD.pack(
                self.upstream_offset,
                self.downstream_offset,
                _MAGIC,
                VERSION_WITH_RETURN if self._has_return else VERSION,
                self._flags(left_out),
                self.position,
                self.leader_epoch or 0,
                encode_topic_id(self.source_topic_id),
                encode_topic_id(self.target_topic_id),
            )
        )
        out += write_string(self.run)
        write_unsigned_varint(out, self.record_count)
        write_unsigned_varint(out, self.byte_count)
        if left_out:
            write_unsigned_varint(out, self.dropped_count)
            write_unsigned_varint(out, self.there_already_count)
            write_unsigned_varint(out, 0 if self.left_out_offset is None else self.left_out_offset + 1)
        if self.remote_end:
            write_unsigned_varint(out, self.remote_end)
        encode_gaps(out, self.gaps)
        if self._has_return:
            encode_stretches(out, self.stretches)
            returned = self.returned.encode()
            write_unsigned_varint(out, len(returned))
            out += returned
        out += self.history.encode()
        return bytes(out)

    def _flags(self, left_out: bool) -> int:
        has_epoch = self.leader_epoch is not None
        told = {
            _HAS_RECORD: self.has_record,
            _HAS_EPOCH: has_epoch,
            _LEFT_OUT: left_out,
            _TRANSFORMED: self.is_transformed,
            _MARKED: self.is_marked,
            _HAS_REMOTE_END: self.remote_end > 0,
        }
        return sum(flag for flag, is_so in told.items() if is_so)

    @property
    def _has_return(self) -> bool:
        return bool(self.stretches or self.returned.segments)

    @staticmethod
    def decode(key: bytes, value: bytes) -> PartitionState:
        """Read a state; its segments are decoded when first looked at."""
        topic, partition = decode_key(key)
        if len(value) == OFFSETS.size:
            return _from_mm2(OffsetSync.decode(key, value))
        _check_extension(f"{topic}-{partition}", value)
        up, down, _, version, flags, position, epoch, source_id, target_id = _HEAD.unpack_from(value)
        run, at = read_string(value, _HEAD.size)
        record_count, at = read_unsigned_varint(value, at)
        byte_count, at = read_unsigned_varint(value, at)
        dropped_count = there_already_count = left_out = 0
        if flags & _LEFT_OUT:
            dropped_count, at = read_unsigned_varint(value, at)
            there_already_count, at = read_unsigned_varint(value, at)
            left_out, at = read_unsigned_varint(value, at)
        remote_end, at = read_unsigned_varint(value, at) if flags & _HAS_REMOTE_END else (0, at)
        gaps, at = decode_gaps(value, at)
        stretches: Stretches = ()
        returned = EMPTY
        if version == VERSION_WITH_RETURN:
            stretches, at = decode_stretches(value, at)
            length, at = read_unsigned_varint(value, at)
            returned, at = History.decode(value[at : at + length]), at + length
        return PartitionState(
            topic=topic,
            partition=partition,
            upstream_offset=up,
            downstream_offset=down,
            position=position,
            has_record=bool(flags & _HAS_RECORD),
            source_topic_id=decode_topic_id(source_id),
            target_topic_id=decode_topic_id(target_id),
            leader_epoch=epoch if flags & _HAS_EPOCH else None,
            history=History.decode(value[at:]),
            gaps=gaps,
            run=run,
            record_count=record_count,
            byte_count=byte_count,
            dropped_count=dropped_count,
            there_already_count=there_already_count,
            is_transformed=bool(flags & _TRANSFORMED),
            is_marked=bool(flags & _MARKED),
            remote_end=remote_end,
            left_out_offset=left_out - 1 if left_out else None,
            stretches=stretches,
            returned=returned,
        )


def _from_mm2(sync: OffsetSync) -> PartitionState:
    # A sync is written for some records only, so what MM2 copied ends here or later: a caller who takes over
    # looks into the Connect offsets as well.
    return PartitionState(
        topic=sync.topic,
        partition=sync.partition,
        upstream_offset=sync.upstream_offset,
        downstream_offset=sync.downstream_offset,
        position=sync.upstream_offset + 1,
    )


def _check_extension(partition: str, value: bytes) -> None:
    # A guessed position would lose or repeat records, so anything unexpected stops here.
    if value[OFFSETS.size : _VERSION_AT] != _MAGIC or len(value) <= _VERSION_AT:
        raise unreadable(f"the state of {partition} has {len(value)} bytes and no extension of airmirror's")
    if value[_VERSION_AT] not in (VERSION, VERSION_WITH_RETURN):
        raise StateUnreadable(
            f"the state of {partition} has version {value[_VERSION_AT]}; this airmirror knows {VERSION_WITH_RETURN}",
            next_step="run the airmirror that wrote it, or a newer one: airmirror --version",
            partition=partition,
        )
    if len(value) < _HEAD.size:
        raise unreadable(f"the state of {partition} ends after {len(value)} bytes")
