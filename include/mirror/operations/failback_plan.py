"""What a failback finds on both sides, and what it makes of each partition; pure.

upstream (A)     0 . . . . . . x | s s s |             x: the first offset that is not what was copied; s: survivors
downstream (B)   0 . . . . . . b | w w w w w |          b: the boundary; w: written there since the failover

The same logs: x is the position, b the end of what was copied. A lost its tail: x is where its log is another one now,
b the copy of what was there; so copies of lost records return with the rest. A made anew: x and b are the beginnings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from mirror.copy.control import ControlState
from mirror.errors import LogTruncated, MirrorError
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.operations.made_there import MadeThere
from mirror.wire import stretches as ours
from mirror.wire.history import Exact, History
from mirror.wire.partition_state import PartitionState


class Log(Enum):
    """How the log on A relates to the one that was copied from."""

    SAME = "the same"
    TAIL_LOST = "its tail is lost"
    REBUILT = "made anew"
    NEW = "never copied"


@dataclass(frozen=True, slots=True, kw_only=True)
class BothSides:
    """Everything a failback is planned from. Partitions are A's, remote ones are B's."""

    flow: str
    source: str
    target: str
    control: ControlState
    states: Mapping[TopicPartition, PartitionState]
    # Of the returning flow, by B's partitions; from earlier failbacks, or from this one.
    return_states: Mapping[TopicPartition, PartitionState]
    # A topic on A, and its name on B.
    names: Mapping[str, str]
    source_topics: Mapping[str, TopicDescription]
    source_starts: Mapping[TopicPartition, int]
    source_ends: Mapping[TopicPartition, int]
    target_topics: Mapping[str, TopicDescription]
    target_starts: Mapping[TopicPartition, int]
    target_ends: Mapping[TopicPartition, int]
    # Where A's log is another one than was copied from, by epochs and ends.
    cuts: Mapping[TopicPartition, int] = field(default_factory=dict)
    # Topics of B's that nothing was copied to yet, made since the failover.
    made_there: tuple[MadeThere, ...] = ()

    @property
    def partitions(self) -> list[TopicPartition]:
        """Every partition that either side has."""
        found = set()
        for topic, remote in self.names.items():
            counts = [t.partition_count for t in (self.source_topics.get(topic), self.target_topics.get(remote)) if t]
            found |= {TopicPartition(topic, number) for number in range(max(counts, default=0))}
        return sorted(found)

    def remote(self, partition: TopicPartition) -> TopicPartition:
        return TopicPartition(self.names[partition.topic], partition.partition)

    def returned_to(self, partition: TopicPartition) -> PartitionState | None:
        """The returning flow's state, if it speaks of A's topic as it is now."""
        state, topic = self.return_states.get(self.remote(partition)), self.source_topics.get(partition.topic)
        if state is None or topic is None or (state.target_topic_id and topic.id and state.target_topic_id != topic.id):
            return None
        return state


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReturn:
    """One partition: what goes to B first, and from where on B's records return."""

    partition: TopicPartition
    remote: TopicPartition
    log: Log
    boundary: int
    survivors_start: int
    survivors_end: int
    remote_end: int
    # Records that the returning flow had copied before, over all earlier failbacks.
    returned_before: int = 0

    @property
    def to_return(self) -> int:
        """Offsets behind the boundary; an upper bound of the records among them."""
        return max(self.remote_end - self.boundary, 0)

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "remote_topic": self.remote.topic,
            "log": self.log.value,
            "boundary": self.boundary,
            "remote_end": self.remote_end,
            "survivors": {"from": self.survivors_start, "to": self.survivors_end},
        }


def plan_partition(sides: BothSides, partition: TopicPartition) -> PartitionReturn | MirrorError:
    """Decide about one partition; an error where nothing can be decided without a person."""
    remote = sides.remote(partition)
    state = sides.states.get(partition)
    start, end = sides.source_starts.get(partition, 0), sides.source_ends.get(partition, 0)
    log = _log(sides, partition, state)
    boundary, survivors = sides.target_starts.get(remote, 0), start
    if state is None:
        first = sides.control.first_positions.get(partition)
        survivors = max(first.position, start) if first is not None and partition in sides.source_ends else start
    elif log is Log.SAME:
        boundary, survivors = known_end(state), state.position
    elif log is Log.TAIL_LOST:
        survivors = sides.cuts[partition]
        found = state.translate(survivors)
        if not isinstance(found, Exact):
            return _unclear(sides, partition, survivors)
        boundary = found.downstream
    return PartitionReturn(
        partition=partition,
        remote=remote,
        log=log,
        boundary=max(boundary, sides.target_starts.get(remote, 0)),
        survivors_start=survivors,
        survivors_end=max(end, survivors),
        remote_end=sides.target_ends.get(remote, 0),
        returned_before=returned.record_count if (returned := sides.return_states.get(remote)) else 0,
    )


def known_end(state: PartitionState) -> int:
    """Where B goes on behind all that is on A too: brought from there, or returned to it."""
    returned = state.returned.segments
    return max(state.downstream_end, returned[-1].upstream_end) if returned else state.downstream_end


def survivor_runs(sides: BothSides, plan: PartitionReturn, runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Which of these runs of records survived: all but what an earlier return put there.

    Where the tail was lost, nothing of that return is left behind the cut: its offsets hold other records now.
    """
    state = sides.returned_to(plan.partition)
    back = () if state is None or plan.log is Log.TAIL_LOST else state.stretches
    return [part for start, end in runs for part in ours.outside(back, start, end)]


def _log(sides: BothSides, partition: TopicPartition, state: PartitionState | None) -> Log:
    if state is None:
        return Log.NEW
    topic = sides.source_topics.get(partition.topic)
    if topic is None or partition.partition >= topic.partition_count:
        return Log.REBUILT
    if state.source_topic_id and topic.id and state.source_topic_id != topic.id:
        return Log.REBUILT
    return Log.TAIL_LOST if partition in sides.cuts else Log.SAME


def _unclear(sides: BothSides, partition: TopicPartition, cut: int) -> LogTruncated:
    return LogTruncated(
        f"{partition} on cluster {sides.source} lost what was written from offset {cut} on, and the history is too "
        f"coarse there to say which record of {sides.remote(partition)} was the first of it",
        next_step=f"delete and make topic {partition.topic} on {sides.source}, then run this again: all of it returns",
        cluster=sides.source,
        topic=partition.topic,
        partition=partition.partition,
        offset=cut,
    )


def mended(state: PartitionState, plan: PartitionReturn, source_topic_id: str, run: str) -> PartitionState:
    """The forward state of a partition whose log on A is another one now: only what is still true of it."""
    if plan.log is Log.REBUILT:
        history, returned = History(complete_from_start=True), History()
        kept: ours.Stretches = ()
    else:
        history = state.history.cut(plan.survivors_start)
        returned = state.returned.cut_back(plan.survivors_start)
        kept = ours.cut(state.stretches, history.segments[-1].downstream_end if history.segments else plan.boundary)
    last = history.segments[-1] if history.segments else None
    return replace(
        state,
        position=plan.survivors_start,
        upstream_offset=last.upstream_end - 1 if last else plan.survivors_start,
        downstream_offset=last.downstream_end - 1 if last else plan.boundary,
        has_record=last is not None,
        source_topic_id=source_topic_id,
        leader_epoch=None,
        history=history,
        returned=returned,
        stretches=kept,
        record_count=sum(s.upstream_length for s in history.segments) if history.is_exact else state.record_count,
        left_out_offset=None,
        run=run,
    )


def mended_return(state: PartitionState, plan: PartitionReturn, source_topic_id: str, run: str) -> PartitionState:
    """The returning flow's state for such a partition: it goes on at the boundary, and knows only what A still has."""
    rebuilt = plan.log is Log.REBUILT
    history = History() if rebuilt else state.history.cut_back(plan.survivors_start)
    last = history.segments[-1] if history.segments else None
    return replace(
        state,
        position=plan.boundary,
        upstream_offset=last.upstream_end - 1 if last else plan.boundary,
        downstream_offset=last.downstream_end - 1 if last else plan.survivors_start,
        has_record=last is not None,
        target_topic_id=source_topic_id,
        leader_epoch=None,
        history=history,
        stretches=() if rebuilt else ours.cut(state.stretches, plan.survivors_start),
        left_out_offset=None,
        run=run,
    )
