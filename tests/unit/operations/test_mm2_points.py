"""The syncs that MM2 gets from us: true ones only, and as many near the head as its store keeps."""

from __future__ import annotations

import pytest

from mirror.groups.mm2_syncs import SyncStore, store_of
from mirror.operations.mm2_points import points_for_mm2
from mirror.wire.history import EMPTY, History
from mirror.wire.offset_sync import OffsetSync
from unit.copy.surveys import state
from unit.wire.histories import Copier


def sync(upstream: int, downstream: int) -> OffsetSync:
    return OffsetSync(topic="orders", partition=0, upstream_offset=upstream, downstream_offset=downstream)


def test_of_one_straight_line_mm2_gets_points_at_growing_distances_from_the_head() -> None:
    copied = state(10_000, history=History(complete_from_start=True).append_run(0, 10_000, 0, 10_000))
    points = points_for_mm2(copied)
    assert [p.upstream_offset for p in points] == sorted(p.upstream_offset for p in points)
    assert all(p.upstream_offset == p.downstream_offset for p in points)
    assert (points[0].upstream_offset, points[-1].upstream_offset) == (0, 9_999)
    store = store_of(points)
    for offset in (9_999, 9_990, 9_000, 5_000, 0):
        told = store.translate(offset)
        assert told is not None
        assert offset - told <= (9_999 - offset) * 2  # MM2's own promise: as early as the group is behind, roughly


@pytest.mark.parametrize("seed", range(60))
def test_mm2_never_goes_behind_a_record_that_a_group_has_not_seen(seed: int) -> None:
    copier = Copier(seed)
    for _ in copier.steps(30):
        known = dict(zip(copier.oracle.upstream, copier.oracle.downstream, strict=True))
        last = copier.oracle.upstream[-1]
        copied = state(copier.position, history=copier.history, upstream_offset=last, downstream_offset=known[last])
        points = points_for_mm2(copied)
        assert points[-1] == copied.offset_sync()
        for point in points:
            assert known[point.upstream_offset] == point.downstream_offset
        store = store_of(points)
        for upstream, downstream in known.items():
            told = store.translate(upstream)
            assert told is None or told <= downstream


def test_what_mm2_knew_of_its_own_time_is_told_again_before_ours() -> None:
    earlier = SyncStore()
    for offset in (0, 20, 49, 120):
        earlier.add(sync(offset, offset))
    copied = state(100, history=EMPTY.append_run(50, 50, 50, 50))
    points = points_for_mm2(copied, earlier)
    assert {0, 20, 49} & {p.upstream_offset for p in points}
    assert points[-1] == sync(99, 99), "a sync of MM2's that lies behind ours is not told"
    assert [p.upstream_offset for p in points] == sorted(p.upstream_offset for p in points)


@pytest.mark.parametrize(
    "nothing",
    [
        pytest.param(state(40, history=EMPTY), id="what was copied was MM2's"),
        pytest.param(state(40, has_record=False), id="only markers were passed"),
    ],
)
def test_where_we_copied_no_record_nothing_is_told(nothing: object) -> None:
    assert points_for_mm2(nothing) == ()  # type: ignore[arg-type]
