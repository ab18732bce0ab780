"""Random lives of one copied partition: both logs record by record, and the state that the real copy would have kept.

Few different contents and timestamps, so that equal neighbours abound. Upstream a record may be plain, aborted or a
marker; downstream a copy, a foreign record, or what an aborted attempt left. A filter, which may be changed in between,
leaves some records out. Logs lose their heads, a compacted source
loses records in its middle, the remote topic is made anew, copying starts over or skips.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mirror.copy.judge import forgotten
from mirror.copy.resume_plan import started_over
from mirror.groups.ground import Ground
from mirror.kafka.samples import Sample, Samples, Stretch
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.wire.control import FirstPosition
from mirror.wire.gaps import Gap, GapReason
from mirror.wire.history import History
from mirror.wire.partition_state import PartitionState

PARTITION, REMOTE = TopicPartition("orders", 0), TopicPartition("A.orders", 0)
FOREIGN = -1
# Another application's records equal none of ours.
FOREIGN_CONTENT = 10**9


@dataclass(frozen=True)
class Record:
    """What lies at an offset; `upstream` says of a copy which record it is of."""

    content: int
    timestamp_ms: int
    is_visible: bool = True
    upstream: int = FOREIGN


@dataclass
class Log:
    """One side: offsets and what is left at them."""

    start: int = 0
    end: int = 0
    records: dict[int, Record] = field(default_factory=dict)

    def append(self, record: Record | None) -> int:
        """Add a record, or a marker."""
        if record is not None:
            self.records[self.end] = record
        self.end += 1
        return self.end - 1

    def visible(self, start: int, end: int | None = None) -> list[tuple[int, Record]]:
        stop = self.end if end is None else end
        return [(o, r) for o, r in sorted(self.records.items()) if start <= o < stop and r.is_visible]

    def delete_head(self, start: int) -> None:
        self.start = max(self.start, start)
        self.records = {o: r for o, r in self.records.items() if o >= self.start}

    def read(self, stretches: Mapping[TopicPartition, Stretch]) -> dict[TopicPartition, Samples]:
        """As a reader of committed records would see the stretch."""
        return {partition: self._read(stretch) for partition, stretch in stretches.items()}

    def _read(self, stretch: Stretch) -> Samples:
        if stretch.start < self.start:
            return Samples()
        found = self.visible(stretch.start, stretch.end)
        taken = found[: stretch.record_count]
        samples = [Sample(offset, b"%d" % r.content, r.timestamp_ms) for offset, r in taken]
        return Samples(records=samples, is_whole=len(taken) == len(found) and stretch.end <= self.end)


@dataclass
class Filter:
    """Leaves out some records, whatever they hold; today's file may leave out others than yesterday's."""

    rng: random.Random
    share: float = 0.0
    salt: int = 0

    def drops(self, offset: int) -> bool:
        return self.share > 0 and random.Random(offset * 31 + self.salt).random() < self.share

    def change(self) -> None:
        self.share, self.salt = self.rng.choice([0.0, 0.2, 0.7]), self.salt + 1


class CopiedPartition:
    """The two logs, the state, and steps that change them."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.is_compacted = rng.random() < 0.25
        self.has_foreign_writer = rng.random() < 0.25
        self.filter = Filter(random.Random(seed + 10**6))
        self.has_filter = self.filter.rng.random() < 0.4
        if self.has_filter:
            self.filter.change()
        self.starts_latest = rng.random() < 0.2
        self.alphabet = rng.choice([1, 2, 3, 50, 10**6])
        self.cap = rng.choice([4, 6, 16, 64])
        self.source, self.target = Log(), Log()
        self.source.start = self.source.end = rng.choice([0, 0, 40])
        for _ in range(rng.choice([0, 0, 7])):
            self.target.append(Record(FOREIGN_CONTENT, 1))
        self.target_id = 1
        if self.starts_latest:
            self.produce(20)
        self.first = self.source.end if self.starts_latest else self.source.start
        self.state: PartitionState | None = None
        self.again_from = self.again_at = 0

    def _content(self) -> int:
        return self.rng.randrange(self.alphabet)

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.produce(self.rng.randint(0, 12))
            event = self.rng.random()
            if event < 0.02:
                self.make_remote_anew()
            elif event < 0.03:
                self.start_over()
            elif event < 0.05:
                self.skip()
            if self.has_filter and self.filter.rng.random() < 0.1:
                self.filter.change()
            self.copy()
            if self.rng.random() < 0.08:
                self.source.delete_head(self.rng.randint(self.source.start, self.source.end))
            if self.rng.random() < 0.04:
                self.target.delete_head(self.rng.randint(self.target.start, self.target.end))
            if self.is_compacted and self.rng.random() < 0.1:
                self.compact()
        self.produce(self.rng.randint(0, 5))

    def produce(self, count: int) -> None:
        """Transactions, committed or aborted, and plain records."""
        while count > 0:
            length = self.rng.randint(1, 6)
            is_transaction, is_aborted = self.rng.random() < 0.6, self.rng.random() < 0.25
            for _ in range(length):
                record = Record(self._content(), self.rng.choice([1, 1, 2]))
                self.source.append(replace(record, is_visible=not (is_transaction and is_aborted)))
            if is_transaction:
                self.source.append(None)
            count -= length

    def compact(self) -> None:
        for offset in self.rng.sample(sorted(self.source.records), len(self.source.records) // 4):
            del self.source.records[offset]

    def make_remote_anew(self) -> None:
        """Deleted, made again, and copied anew from the source's start, as on.recreated = restart says."""
        self.target, self.target_id = Log(), self.target_id + 1
        self.again_from = self.again_at = 0
        if self.state is not None:
            self.state = forgotten(self.state, self.source.start, self.target.end)

    def start_over(self) -> None:
        """A person says so: all that the source has is copied once more."""
        self.again_from, self.again_at = self.source.start, self.target.end
        if self.state is not None:
            self.state = started_over(self.state, self.source.start, self.target.end)

    def skip(self) -> None:
        """A person leaves out what a copy would come to next."""
        if self.state is not None:
            position = self.rng.randint(self.state.position, self.source.end)
            gap = Gap(start=self.state.position, end=position, reason=GapReason.SKIPPED, at_ms=0)
            self.state = replace(self.state, position=position).with_gap(gap)

    def copy(self) -> None:
        """One run: a few transactions, one of them perhaps aborted, up to somewhere before the source's end."""
        state = self.state or self._first_state()
        end = self.rng.randint(min(state.position, self.source.end), self.source.end)
        position = max(state.position, self.source.start)
        while position < end:
            stop = min(end, position + self.rng.randint(1, 15))
            if self.rng.random() < 0.15:
                self._write(position, stop, is_visible=False)
                self.target.append(None)
            copied = self._write(position, stop, is_visible=True)
            self.target.append(None)
            state = self._next_state(state, stop, copied)
            position = stop
        if position > state.position:
            state = replace(state, position=position)
        if state.position > self.first or self.state is not None:
            self.state = state

    def _first_state(self) -> PartitionState:
        return PartitionState(
            topic=PARTITION.topic,
            partition=0,
            upstream_offset=self.first,
            downstream_offset=self.target.end,
            position=self.first,
            has_record=False,
            history=History(complete_from_start=not self.starts_latest),
        )

    def _write(self, start: int, end: int, *, is_visible: bool) -> list[tuple[int, int]]:
        written = []
        for offset, record in self.source.visible(start, end):
            if self.filter.drops(offset):
                continue
            if self.has_foreign_writer and self.rng.random() < 0.1:
                self.target.append(Record(FOREIGN_CONTENT, 1))
            copy = Record(record.content, record.timestamp_ms, is_visible, offset)
            written.append((offset, self.target.append(copy)))
        return written

    def _next_state(self, state: PartitionState, position: int, copied: list[tuple[int, int]]) -> PartitionState:
        is_transformed = state.is_transformed or self.filter.share > 0
        state = replace(
            state,
            position=position,
            run="r",
            is_transformed=is_transformed,
            target_topic_id=f"{self.target_id:>22}".replace(" ", "A"),
        )
        if not copied:
            return state if state.has_record else replace(state, upstream_offset=position)
        history = state.history.builder(cap=self.cap)
        runs: list[list[tuple[int, int]]] = []
        for pair in copied:  # as the engine does: a run is of consecutive upstream offsets
            if runs and runs[-1][-1][0] + 1 == pair[0]:
                runs[-1].append(pair)
            else:
                runs.append([pair])
        for run in runs:
            (up, down), (last_up, last_down) = run[0], run[-1]
            history.append_run(up, last_up - up + 1, down, last_down - down + 1)
        return replace(
            state,
            upstream_offset=copied[-1][0],
            downstream_offset=copied[-1][1],
            has_record=True,
            history=history.freeze(),
            record_count=state.record_count + len(copied),
        )

    @property
    def ground(self) -> Ground:
        topic_id = f"{self.target_id:>22}".replace(" ", "A")
        first = FirstPosition(
            flow="A->B",
            topic=PARTITION.topic,
            partition=0,
            position=self.first,
            source_topic_id="",
            chosen_by="latest" if self.starts_latest else "earliest",
        )
        return Ground(
            target="B",
            remotes={PARTITION: REMOTE},
            states={PARTITION: self.state} if self.state else {},
            first_positions={PARTITION: first},
            source_topics={PARTITION.topic: TopicDescription(name=PARTITION.topic, id="", partition_count=1)},
            source_starts={PARTITION: self.source.start},
            target_topics={REMOTE.topic: TopicDescription(name=REMOTE.topic, id=topic_id, partition_count=1)},
            target_starts={REMOTE: self.target.start},
            target_ends={REMOTE: self.target.end},
            earlier_ends={REMOTE: self.target.end},
        )

    @property
    def ground_back(self) -> Ground:
        """The same seen from the other side: a group of the source reads the copy, and the target has the original."""
        state = self.state or self._first_state()
        return Ground(
            target="B",
            remotes={REMOTE: PARTITION},
            returning=frozenset({REMOTE.topic}),
            opposite_states={PARTITION: state},
            source_topics={REMOTE.topic: TopicDescription(name=REMOTE.topic, id="", partition_count=1)},
            source_starts={REMOTE: self.target.start},
            target_topics={PARTITION.topic: TopicDescription(name=PARTITION.topic, id="", partition_count=1)},
            target_starts={PARTITION: self.source.start},
            target_ends={PARTITION: self.source.end},
        )

    def unread(self, offset: int) -> list[tuple[int, Record]]:
        """The copies, on the target now, of records at or behind the offset: of each record the newest, in order."""
        wanted = [(o, r) for o, r in self.target.visible(0) if r.upstream >= offset]
        # Of what is copied once more only the new copies count: what they lack is yet to come, a gap that was told, or
        # was cleaned away and has a later record of its key.
        newest = {r.upstream: o for o, r in wanted if o >= self.again_at or r.upstream < self.again_from}
        return [(at, self.target.records[at]) for _, at in sorted(newest.items())]
