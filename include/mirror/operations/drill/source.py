"""What the source has where the groups stand: asked for the comparison alone, never for the translation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mirror.config import Flow
from mirror.copy.spec import FlowLinks
from mirror.errors import MirrorError
from mirror.groups.ground import name_remotes
from mirror.kafka.cluster import Cluster
from mirror.kafka.groups import GroupCluster, Offsets
from mirror.kafka.samples import Sample, SampleReader, Stretch
from mirror.kafka.values import ConfigEntry, TopicPartition
from mirror.wire.gaps import Gap

# Bytes read of one partition at one offset: a handful of records.
STRETCH_BYTES = 8 * 1024 * 1024

Place = tuple[TopicPartition, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSide:
    """The source around the groups' offsets; partitions are its own."""

    # By remote partition: where its records come from.
    upstream: Mapping[TopicPartition, TopicPartition]
    committed: Mapping[str, Offsets | MirrorError]
    log_starts: Mapping[TopicPartition, int]
    # Of topics that brokers may clean in the middle.
    compacted: frozenset[str]
    # Topics whose records get the broker's time as they are written: their copies cannot have the same.
    append_time: frozenset[str]


def look_at_source(flow: Flow, source: GroupCluster, target: Cluster, groups: Iterable[str]) -> SourceSide:
    """Names, settings and what the groups have committed by now."""
    described = source.topics().values()
    everything = [TopicPartition(t.name, n) for t in described for n in range(t.partition_count)]
    remotes = name_remotes(flow, everything).remotes
    upstream = {remote: partition for partition, remote in remotes.items()}
    there = target.configs({remote.topic for remote in upstream})
    here = source.configs({partition.topic for partition in remotes})
    return SourceSide(
        upstream=upstream,
        committed=source.committed(groups),
        log_starts=source.log_starts(remotes),
        compacted=frozenset(name for name, entries in here.items() if "compact" in _value(entries, "cleanup.policy")),
        append_time=frozenset(
            name
            for name, entries in {**there, **here}.items()
            if _value(entries, "message.timestamp.type") == "LogAppendTime"
        ),
    )


def _value(entries: Mapping[str, ConfigEntry], name: str) -> str:
    entry = entries.get(name)
    return (entry.value or "") if entry else ""


def read_places(
    flow: Flow,
    links: FlowLinks,
    source: Cluster,
    side: SourceSide,
    places: Iterable[Place],
    *,
    record_count: int,
    gaps: Mapping[TopicPartition, tuple[Gap, ...]],
) -> dict[Place, list[Sample]]:
    """The first records from each offset on, without those that a gap leaves out of the copy."""
    waiting: dict[TopicPartition, list[int]] = defaultdict(list)
    for partition, offset in sorted(set(places), reverse=True):
        waiting[partition].append(offset)
    ends = source.stable_ends(waiting)
    found: dict[Place, list[Sample]] = {}
    reader = SampleReader(links.source, links.source_consumer, isolation_level=flow.isolation_level)
    try:
        # One offset of each partition per turn: many groups at different places in one topic take as many turns.
        while waiting:
            turn = {partition: offsets.pop() for partition, offsets in waiting.items()}
            stretches = {
                p: Stretch(
                    _behind_gaps(max(at, side.log_starts.get(p, 0)), gaps.get(p, ())),
                    ends.get(p, 0),
                    record_count,
                    STRETCH_BYTES,
                )
                for p, at in turn.items()
            }
            for partition, samples in reader.read(stretches).items():
                skipped = gaps.get(partition, ())
                found[partition, turn[partition]] = [
                    s for s in samples.records if not any(gap.start <= s.offset < gap.end for gap in skipped)
                ]
            waiting = defaultdict(list, {p: offsets for p, offsets in waiting.items() if offsets})
    finally:
        reader.close()
    return found


def _behind_gaps(offset: int, gaps: tuple[Gap, ...]) -> int:
    """The first offset from here on that was to be copied."""
    for gap in sorted(gaps, key=lambda gap: gap.start):
        if gap.start <= offset < gap.end:
            offset = gap.end
    return offset
