"""The port of MM2's sync store holds the tables that MM2's own tests and a live run were seen to hold."""

from __future__ import annotations

import random
from bisect import bisect_left

import pytest

from mirror.groups.mm2_syncs import SLOTS, SyncStore, store_of
from mirror.wire.history import Early, Exact, Unknown
from mirror.wire.offset_sync import OffsetSync


def sync(upstream: int, downstream: int | None = None) -> OffsetSync:
    at = upstream if downstream is None else downstream
    return OffsetSync(topic="t", partition=0, upstream_offset=upstream, downstream_offset=at)


def fed(*offsets: int) -> SyncStore:
    store = SyncStore()
    for offset in offsets:
        store.add(sync(offset))
    return store


def kept(store: SyncStore) -> list[int]:
    return [entry.upstream_offset for entry in store.distinct]


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        pytest.param(
            [1000, *range(1010, 10_001, 10)],
            [10000, 9990, 9970, 9940, 9880, 9640, 9160, 8680, 6760, 4840, 1000],
            id="the newest alone at the start, then live",
        ),
        pytest.param(range(0, 1001, 10), [1000, 990, 960, 900, 840, 720, 480, 0], id="the whole history"),
        pytest.param(
            [*range(0, 1001, 10), *range(1000, 10_001, 10)],
            [10000, 9990, 9960, 9900, 9840, 9600, 9120, 8640, 7680, 3840, 0],
            id="the whole history, then live",
        ),
        pytest.param(
            range(0, 100_001, 100),
            [100000, 99900, 99800, 99600, 99200, 97600, 96000, 89600, 76800, 51200, 0],
            id="steps of a hundred",
        ),
        pytest.param(
            [0, 101, 202, 303, 404, 505, 606, 707, 808, 909, 999], [999, 909, 808, 404, 0], id="the live run of 4.3.1"
        ),
    ],
)
def test_store_keeps_what_mm2_keeps(offsets: list[int], expected: list[int]) -> None:
    assert kept(fed(*offsets)) == expected


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(0, 0), (10, 1), (100, 1), (404, 404), (500, 405), (700, 405), (999, 999), (1000, 1000)],
)
def test_translation_is_that_of_the_live_run(offset: int, expected: int) -> None:
    assert fed(0, 101, 202, 303, 404, 505, 606, 707, 808, 909, 999).translate(offset) == expected


def test_sync_upstream_of_the_newest_drops_all_before_it() -> None:
    assert kept(fed(0, 100, 200, 150)) == [150]
    assert kept(fed(0, 100, 200, 200))[:2] == [200, 200]
    assert fed(100).translate(99) is None


def test_table_never_breaks_mm2s_spacing_and_keeps_the_first_sync() -> None:
    rng = random.Random(11)
    for _ in range(40):
        store, at = SyncStore(), rng.randint(0, 50)
        first = at
        for _ in range(300):
            store.add(sync(at))
            at += rng.choice([1, 2, rng.randint(1, 1000), rng.randint(1, 1 << rng.randint(1, 40))])
            slots = store._slots
            for k in range(SLOTS - 1):
                newer, older = slots[k].upstream_offset, slots[k + 1].upstream_offset
                assert slots[k] is slots[k + 1] or newer - older <= 2**k
                assert slots[k] is slots[k + 1] or newer - older >= 2 ** max(k - 2, 0)
            assert slots[-1].upstream_offset == first


def test_bracket_holds_the_truth_on_random_copies() -> None:
    rng = random.Random(5)
    for _ in range(60):
        upstream: list[int] = []
        downstream: list[int] = []
        up = down = 0
        store = SyncStore()
        for _ in range(400):
            up += rng.choice([1, 1, 1, 2, 7])
            down += rng.choice([1, 1, 1, 3])
            upstream.append(up)
            downstream.append(down)
            if rng.random() < 0.1:
                store.add(sync(up, down))
        end = down + 1
        for _ in range(50):
            offset = rng.randint(0, up + 1)
            at = bisect_left(upstream, offset)
            truth = downstream[at] if at < len(upstream) else end
            match store.bracket(offset, known_end=end):
                case Exact(answer):
                    assert answer == truth
                case Early(answer, at_most):
                    assert answer <= truth <= answer + at_most
                case Unknown():
                    assert offset < min(entry.upstream_offset for entry in store.distinct)


def test_remote_topic_made_anew_drops_what_was_known_of_the_old_one() -> None:
    store = store_of([sync(0, 0), sync(49, 49), sync(50, 0), sync(59, 9)])
    assert [(s.upstream_offset, s.downstream_offset) for s in store.distinct] == [(59, 9), (50, 0)]
    assert store.translate(49) is None
