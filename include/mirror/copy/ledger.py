"""A slot's books: per partition where it stands, what is drafted in the open transaction, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mirror.copy.engine import FUNCTION_FAILED, Move, Moved, Range, Refusal, StateRecord
from mirror.copy.result import PartitionResult, joined
from mirror.copy.spec import FlowLinks, PartitionSpec, SlotSpec
from mirror.errors import MirrorError, RecordFunctionFailed, RecordRefused
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap
from mirror.wire.history import History
from mirror.wire.partition_state import PartitionState
from mirror.wire.stretches import Stretches, with_run


@dataclass(slots=True)
class _Entry:
    """One partition: what is committed, and what the open transaction would make of it."""

    spec: PartitionSpec
    position: int
    end: int
    state: PartitionState | None
    draft: PartitionState | None = None
    draft_move: Move | None = None
    unwritten: list[Gap] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    altered: list[int] = field(default_factory=list)
    error: MirrorError | None = None
    refusal: MirrorError | None = None  # what stands at `end`, once the partition is copied up to it

    @property
    def is_open(self) -> bool:
        return self.error is None and self.position < self.end


class Ledger:
    """Everything a slot remembers between two transactions."""

    def __init__(self, spec: SlotSpec) -> None:
        self._spec = spec
        self._entries = {
            p.partition: _Entry(p, p.position, p.end, p.state, unwritten=[p.gap] if p.gap else [])
            for p in spec.partitions
        }
        self.suspects: dict[TopicPartition, range] = {}
        self.is_careful = False
        self.advanced = False

    def adopt(self, states: Mapping[TopicPartition, PartitionState]) -> None:
        """Go on from newer states: an earlier attempt of this task committed them."""
        for partition, entry in self._entries.items():
            state = states.get(partition)
            if state is not None and state.run == self._spec.run:
                entry.state = state
                entry.position = state.position
                entry.gaps, entry.unwritten = list(entry.unwritten), []

    @property
    def open(self) -> tuple[TopicPartition, ...]:
        return tuple(partition for partition, entry in self._entries.items() if entry.is_open)

    @property
    def is_finished(self) -> bool:
        return not any(entry.is_open or (entry.unwritten and not entry.error) for entry in self._entries.values())

    @property
    def is_drained(self) -> bool:
        """Whether all that the plan saw is copied; what arrives since is the window's."""
        return all(entry.position >= entry.spec.drain_to for entry in self._entries.values() if entry.is_open)

    def position(self, partition: TopicPartition) -> int:
        return self._entries[partition].position

    def remote(self, partition: TopicPartition) -> TopicPartition:
        return self._entries[partition].spec.remote

    def ranges(self) -> list[Range]:
        return [
            Range(
                partition=partition,
                remote=entry.spec.remote,
                start=entry.position,
                end=entry.end,
                skips=entry.spec.skips,
                is_exact=entry.spec.is_exact,
            )
            for partition, entry in self._entries.items()
            if entry.is_open
        ]

    def advancing(self, moved: Moved) -> tuple[TopicPartition, ...]:
        """The partitions whose position the open transaction would move."""
        return tuple(p for p, move in moved.moves.items() if move.position > self._entries[p].position)

    def draft(self, moved: Moved, remote_ends: Mapping[TopicPartition, int] | None = None) -> list[StateRecord]:
        """The states to be committed with what was moved; MM2's own syncs beside them where they are published.

        Where others write too, with the remote partitions' ends as of now: what is copied later lies behind them."""
        records: list[StateRecord] = []
        self.advanced = False
        for partition, entry in self._entries.items():
            move = moved.moves.get(partition) or Move(position=entry.position)
            if entry.error is not None or not (move.position > entry.position or entry.unwritten):
                continue
            self.advanced = True
            entry.draft, entry.draft_move = self._next_state(entry, move), move
            if remote_ends and entry.spec.remote in remote_ends:
                entry.draft = replace(entry.draft, remote_end=remote_ends[entry.spec.remote])
            records.append(StateRecord(self._spec.links.syncs, entry.draft.encode_key(), entry.draft.encode_value()))
            if self._spec.links.published_location == "target" and move.runs:
                sync = entry.draft.offset_sync()
                published = TopicPartition(self._spec.links.published_topic, 0)
                records.append(StateRecord(published, sync.encode_key(), sync.encode_value()))
        return records

    def _next_state(self, entry: _Entry, move: Move) -> PartitionState:
        state = entry.state or _first_state(entry.spec)
        state = replace(
            state,
            position=move.position,
            source_topic_id=entry.spec.source_topic_id,
            target_topic_id=entry.spec.target_topic_id,
            run=self._spec.run,
            record_count=state.record_count + move.record_count,
            byte_count=state.byte_count + move.byte_count,
            dropped_count=state.dropped_count + move.dropped_count,
            there_already_count=state.there_already_count + move.there_already_count,
            is_transformed=state.is_transformed or self._spec.transformation is not None,
            returned=state.returned if entry.spec.returned is None else entry.spec.returned,
            stretches=_stretches(state, move) if entry.spec.is_exact else state.stretches,
            is_marked=self._is_marked(state, move),
        )
        if move.runs or move.left_out_offset is not None:
            state = replace(state, leader_epoch=move.leader_epoch, left_out_offset=move.left_out_offset)
        for gap in entry.unwritten:
            state = state.with_gap(gap)
        if not move.runs:
            return state if state.has_record else replace(state, upstream_offset=move.position)
        history = state.history.builder(cap=self._spec.segments_cap)
        for run in move.runs:
            history.append_run(run.upstream_start, run.length, run.downstream_start, run.downstream_length)
        last = move.runs[-1]
        return replace(
            state,
            upstream_offset=last.upstream_start + last.length - 1,
            downstream_offset=last.downstream_end - 1,
            has_record=True,
            history=history.freeze(),
        )

    def _is_marked(self, state: PartitionState, move: Move) -> bool:
        """Whether every copy so far, and each of these, says where it comes from; before the first one, by the file."""
        marks = self._spec.transformation is not None and self._spec.transformation.marks_origin
        return state.is_marked and (marks or not move.record_count) if state.record_count else marks

    def accept(self) -> list[tuple[TopicPartition, bytes, bytes]]:
        """The transaction stands: its drafts are the state now. Gives the syncs to publish on the source."""
        published: list[tuple[TopicPartition, bytes, bytes]] = []
        for entry in self._entries.values():
            draft, move = entry.draft, entry.draft_move
            entry.draft = entry.draft_move = None
            if draft is None or move is None:
                continue
            entry.state, entry.position = draft, draft.position
            entry.altered += move.altered
            entry.gaps += entry.unwritten
            entry.unwritten = []
            if move.runs and self._spec.links.published_location == "source":
                sync = draft.offset_sync()
                topic = TopicPartition(self._spec.links.published_topic, 0)
                published.append((topic, sync.encode_key(), sync.encode_value()))
        return published

    def stop(self, errors: Mapping[TopicPartition, MirrorError]) -> None:
        """Leave partitions out; the others go on."""
        for partition, error in errors.items():
            self._entries[partition].error = error

    def skip(self, partition: TopicPartition, gap: Gap) -> None:
        """Go on behind records that are gone; the gap is remembered with the next commit."""
        entry = self._entries[partition]
        entry.unwritten.append(gap)
        entry.position = gap.end

    def be_careful(self) -> None:
        self.is_careful = True

    def suspect(self, refusal: Refusal) -> None:
        """Among these offsets a record was refused: next time one by one."""
        self.is_careful = True
        self.suspects[refusal.partition] = range(refusal.start, refusal.end)

    def refuse(self, refusal: Refusal) -> None:
        """This very record is refused: copy up to it, then stop the partition there."""
        entry = self._entries[refusal.partition]
        entry.end = refusal.start
        entry.refusal = _refused(self._spec.links, entry.spec, refusal)
        self.suspects.pop(refusal.partition, None)

    def calm_down(self) -> bool:
        """End careful mode once nothing is suspected any more; says whether ranges are to be assigned anew."""
        self.suspects = {p: among for p, among in self.suspects.items() if self._entries[p].position < among.stop}
        if self.is_careful and not self.suspects:
            self.is_careful = False
            return True
        return False

    def results(self) -> tuple[PartitionResult, ...]:
        """What this run did, the commits of an earlier attempt of it included."""
        return joined(_result(entry) for entry in self._entries.values())


def _stretches(state: PartitionState, move: Move) -> Stretches:
    """What is ours downstream; a hole of one offset before a transaction's first run is the marker of the last one."""
    stretches = state.stretches
    for number, run in enumerate(move.runs):
        start, end = run.downstream_start, run.downstream_end
        stretches = with_run(stretches, start, end, follows_commit=number == 0)
    return stretches


def _result(entry: _Entry) -> PartitionResult:
    before = entry.spec.state or _first_state(entry.spec)
    after = entry.state or before
    return PartitionResult(
        partition=entry.spec.partition,
        remote=entry.spec.remote,
        start=entry.spec.position,
        end=entry.position,
        record_count=after.record_count - before.record_count,
        byte_count=after.byte_count - before.byte_count,
        dropped_count=after.dropped_count - before.dropped_count,
        there_already_count=after.there_already_count - before.there_already_count,
        gaps=tuple(entry.gaps),
        altered=tuple(entry.altered[:10]),
        error=entry.error or entry.refusal,
    )


def _refused(links: FlowLinks, spec: PartitionSpec, refusal: Refusal) -> MirrorError:
    topic, number = refusal.partition
    if refusal.code == FUNCTION_FAILED:
        return RecordFunctionFailed(
            f"{refusal.partition}: the record function failed at offset {refusal.start}: {refusal.reason}",
            next_step=f"mend the function and copy again, or leave the record out: "
            f"airmirror resume '{links.flow}' --topic {topic} --partition {number} --skip-to {refusal.start + 1}",
            cluster=links.source,
            topic=topic,
            partition=number,
            offset=refusal.start,
        )
    return RecordRefused(
        f"{refusal.partition}: cluster {links.target} refuses the record at offset {refusal.start} "
        f"in {spec.remote}: {refusal.code}: {refusal.reason}",
        next_step=f"let {spec.remote.topic} take it (max.message.bytes, message.timestamp.*), or leave it out: "
        f"airmirror resume '{links.flow}' --topic {topic} --partition {number} --skip-to {refusal.start + 1}",
        cluster=links.target,
        topic=topic,
        partition=number,
        offset=refusal.start,
        code=refusal.code,
    )


def _first_state(spec: PartitionSpec) -> PartitionState:
    """The state of a partition from which nothing was copied yet."""
    return PartitionState(
        topic=spec.partition.topic,
        partition=spec.partition.partition,
        upstream_offset=spec.position,
        downstream_offset=spec.remote_end,
        has_record=False,
        position=spec.position,
        history=History(complete_from_start=spec.starts_at_log_start),
    )
