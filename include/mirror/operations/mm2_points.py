"""The offset syncs that let MM2 translate behind us as well as it can: those that its own store would keep.

MM2 knows a partition by 64 syncs at most, dense near the head and at distances that grow like powers of two behind it,
and answers with a sync's place or the one behind it. Of an exact segment any record can be told, of a thinned one only
its first and its last.
"""

from __future__ import annotations

from collections.abc import Iterator

from mirror.groups.mm2_syncs import SyncStore
from mirror.wire.offset_sync import OffsetSync
from mirror.wire.partition_state import PartitionState


def points_for_mm2(state: PartitionState, earlier: SyncStore | None = None) -> tuple[OffsetSync, ...]:
    """What to write for a partition, oldest first; `earlier` is what MM2 knows of the time before our segments.

    Nothing where we copied no record: a sync names one.
    """
    if not state.has_record or not state.history.segments:
        return ()
    first = state.history.segments[0]
    store = SyncStore()
    for sync in reversed(earlier.distinct) if earlier is not None else ():
        if sync.upstream_offset < first.upstream_start and sync.downstream_offset < first.downstream_start:
            store.add(sync)
    for upstream, downstream in sorted(set(_known_records(state))):
        store.add(
            OffsetSync(
                topic=state.topic, partition=state.partition, upstream_offset=upstream, downstream_offset=downstream
            )
        )
    return tuple(reversed(store.distinct))


def _known_records(state: PartitionState) -> Iterator[tuple[int, int]]:
    """Records whose offsets are known on both sides: the ends of segments, and some inside exact ones."""
    segments = state.history.segments
    head = segments[-1].upstream_end - 1
    for segment in segments:
        yield segment.upstream_start, segment.downstream_start
        yield segment.upstream_end - 1, segment.downstream_end - 1
        if not segment.is_exact:
            continue
        distance = 1
        while head - distance >= segment.upstream_start:
            upstream = head - distance
            if upstream < segment.upstream_end:
                yield upstream, segment.downstream_start + upstream - segment.upstream_start
            distance *= 2
