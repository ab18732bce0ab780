"""From what was read on both sides to what is said of each group; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mirror.errors import MirrorError
from mirror.kafka.group_member import MemberReading
from mirror.kafka.samples import Sample
from mirror.kafka.values import TopicPartition
from mirror.operations.drill.compare import Comparison, Sides, compare
from mirror.operations.drill.plan import GroupDrill
from mirror.operations.drill.report import GroupFinding, PartitionFinding
from mirror.operations.drill.source import Place, SourceSide
from mirror.wire.history import Early, Exact
from mirror.wire.partition_state import PartitionState

# Records that one partition is searched for the right one, where the translation is early or its bound is not known.
DEEP = 2_000


@dataclass(frozen=True, slots=True)
class Bound:
    """By how many records a group may be early, and how far the copy was, upstream and downstream."""

    early_by: int = DEEP
    position: int = 0
    end: int = 0


def bound_of(state: PartitionState | None, upstream_offset: int, offset: int) -> Bound:
    """By what is stored; where that says nothing, as with what MM2 copied, the search is as deep as it may be."""
    found = None if state is None else state.translate(upstream_offset)
    if state is None or not isinstance(found, (Exact, Early)):
        return Bound()
    latest = found.downstream + (found.at_most if isinstance(found, Early) else 0)
    return Bound(max(min(latest, state.downstream_end) - offset, 0), state.position, state.downstream_end)


Bounds = Mapping[tuple[str, TopicPartition], Bound]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What a group's consumer read, or why it could not."""

    reading: MemberReading | None = None
    error: str = ""


def finding_of(
    group: GroupDrill, rehearsed: Rehearsed, side: SourceSide, here: Mapping[Place, list[Sample]], bounds: Bounds
) -> GroupFinding:
    """One group: every partition of it judged, and how long its consumer took."""
    reading = rehearsed.reading
    partitions = tuple(
        PartitionFinding(
            remote=remote,
            upstream_offset=group.upstream_offsets[remote],
            offset=offset,
            comparison=_judge(group, remote, reading, side, here, bounds),
            behind_checkpoint=_behind_checkpoint(group, remote, side),
        )
        for remote, offset in sorted(group.offsets.items())
        if reading is not None
    )
    return GroupFinding(
        group=group.group,
        partitions=partitions,
        without_offset=tuple(sorted(group.without_offset.items())),
        left_alone=group.left_alone,
        joined_s=reading.joined_s if reading else None,
        first_record_s=reading.first_record_s if reading else None,
        error=rehearsed.error,
    )


def _judge(
    group: GroupDrill,
    remote: TopicPartition,
    reading: MemberReading,
    side: SourceSide,
    here: Mapping[Place, list[Sample]],
    bounds: Bounds,
) -> Comparison:
    if remote in reading.refused:
        return Comparison(verdict="differs", reason=f"the consumer was refused: {reading.refused[remote]}")
    if remote in reading.late:
        joined = "no record came in time" if reading.joined_s is not None else "the group could not be joined in time"
        return Comparison(verdict="differs", reason=joined)
    upstream = side.upstream.get(remote)
    if upstream is None:
        return Comparison(verdict="not compared", reason="its topic is not on the source any more")
    bound, offset = bounds[group.group, remote], group.upstream_offsets[remote]
    return compare(
        Sides(
            here=here[upstream, offset],
            there=reading.records[remote],
            is_whole_there=remote in reading.ended,
            upstream_offset=offset,
            position=bound.position,
            log_start=side.log_starts.get(upstream, 0),
            early_by=bound.early_by,
            is_compacted=upstream.topic in side.compacted,
            compares_time=not {upstream.topic, remote.topic} & side.append_time,
        )
    )


def _behind_checkpoint(group: GroupDrill, remote: TopicPartition, side: SourceSide) -> int | None:
    """Offsets that the group went on by since its checkpoint was written."""
    committed = side.committed.get(group.group)
    upstream = side.upstream.get(remote)
    if committed is None or isinstance(committed, MirrorError) or upstream is None or upstream not in committed:
        return None
    return max(committed[upstream].offset - group.upstream_offsets[remote], 0)
