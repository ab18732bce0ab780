"""Translation is exact where it says so, never late, and early by no more than it says: the promise of failover."""

from __future__ import annotations

import random

import pytest

from mirror.errors import StateUnreadable
from mirror.wire.history import Early, Exact, History, Unknown, Upstream
from mirror.wire.segments import Segment, merge
from unit.wire.histories import Copier

# Enough to meet every event of the copier many times, at a few seconds.
HISTORY_COUNT = 300
STEP_COUNT = 40


def _interesting_offsets(copier: Copier) -> list[int]:
    first, last = copier.oracle.upstream[0], copier.oracle.upstream[-1]
    some = copier.rng.sample(copier.history.segments, min(2, len(copier.history.segments)))
    edges = [
        edge for s in some for edge in (s.upstream_start, s.upstream_start + 1, s.upstream_end - 1, s.upstream_end)
    ]
    return [copier.rng.randint(first, last) for _ in range(6)] + edges + [first, last, last + 1, copier.position]


def _check_forth(copier: Copier) -> None:
    newest = copier.history.segments[-(copier.cap // 4) :][0].upstream_start
    should_be_exact = not copier.has_foreign_writer
    for offset in _interesting_offsets(copier):
        truth = copier.oracle.next_downstream(offset)
        match copier.history.translate(offset, position=copier.position):
            case Exact(downstream):
                assert downstream == truth, offset
            case Early(downstream, at_most):
                assert downstream <= truth, f"{offset} skips records"
                assert truth - downstream <= at_most, f"{offset} is earlier than it says"
                assert not (should_be_exact and offset >= newest), f"{offset} is near the head"
                assert not (should_be_exact and copier.run_count <= copier.cap), f"{offset}: there was room"
            case Unknown(reason):
                pytest.fail(f"{offset}: {reason}")


def _check_back(copier: Copier) -> None:
    first, last = copier.oracle.downstream[0], copier.oracle.downstream[-1]
    for offset in [copier.rng.randint(first, last) for _ in range(6)] + [first, last, last + 1, last + 2]:
        truth = copier.oracle.next_upstream(offset, copier.position)
        back = copier.history.translate_back(offset, position=copier.position)
        assert isinstance(back, Upstream)
        assert back.offset <= truth, f"{offset} skips records on the way back"
        assert copier.oracle.records_between(back.offset, truth) <= back.at_most


@pytest.mark.parametrize("block", range(10))
def test_translation_is_never_late_and_within_its_bound_after_every_append(block: int) -> None:
    for seed in range(block, HISTORY_COUNT, 10):
        copier = Copier(seed)
        for _ in copier.steps(STEP_COUNT):
            history = copier.history
            assert len(history.segments) <= copier.cap
            assert history.segments[0].upstream_start == copier.oracle.upstream[0]
            assert history.segments[0].downstream_start == copier.oracle.downstream[0]
            assert History.decode(history.encode()) == history
            _check_forth(copier)
            _check_back(copier)


def test_random_histories_meet_what_they_are_meant_to_meet() -> None:
    thinned = inexact_runs = filtered = 0
    for seed in range(50):
        copier = Copier(seed)
        list(copier.steps(STEP_COUNT))
        filtered += copier.filter_share > 0
        thinned += copier.run_count > copier.cap
        inexact_runs += any(s.downstream_length > s.upstream_length for s in copier.history.segments)
    assert thinned > 20
    assert filtered > 15
    assert inexact_runs > 5


MARKERS = History([Segment(10, 5, 100, 5), Segment(16, 4, 105, 4), Segment(30, 10, 120, 10)], complete_from_start=True)


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        pytest.param(3, Exact(100), id="before the first copied record"),
        pytest.param(10, Exact(100), id="the first record"),
        pytest.param(14, Exact(104), id="inside"),
        pytest.param(15, Exact(105), id="a marker: the record behind it"),
        pytest.param(19, Exact(108), id="the last before a gap"),
        pytest.param(20, Exact(120), id="the start of a source gap: the next copied record"),
        pytest.param(29, Exact(120), id="the end of a source gap"),
        pytest.param(39, Exact(129), id="the newest record"),
        pytest.param(40, Exact(130), id="behind it, before the position: the end"),
        pytest.param(42, Exact(130), id="the position: the end"),
        pytest.param(45, Early(130, 3), id="beyond the position: early by what is not copied"),
    ],
)
def test_offset_leads_to_the_next_copied_record(offset: int, expected: Exact | Early) -> None:
    assert MARKERS.translate(offset, position=42) == expected


@pytest.mark.parametrize(
    ("downstream", "upstream"),
    [(0, 10), (100, 10), (104, 14), (105, 16), (109, 30), (119, 30), (120, 30), (129, 39), (130, 42), (131, 42)],
)
def test_way_back_leads_to_the_same_record(downstream: int, upstream: int) -> None:
    assert MARKERS.translate_back(downstream, position=42) == Upstream(upstream, 0)


def test_offset_before_an_incomplete_history_is_refused_with_a_reason() -> None:
    history = History([Segment(10, 5, 100, 5)])
    refused = [history.translate(9, position=15), history.translate_back(99, position=15)]
    assert all(isinstance(answer, Unknown) and "before" in answer.reason for answer in refused)
    assert isinstance(History().translate(0, position=0), Unknown)
    assert isinstance(History().translate_back(0, position=0), Unknown)


def test_runs_on_one_line_become_one_segment() -> None:
    history = History()
    for start in range(0, 1000, 10):
        history = history.append_run(start, 10, start + 5, 10)
    assert history.segments == (Segment(0, 1000, 5, 1000),)


@pytest.mark.parametrize(
    ("upstream_start", "downstream_start"),
    [
        pytest.param(11, 15, id="source gap"),
        pytest.param(10, 16, id="target gap"),
        pytest.param(11, 16, id="both alike"),
    ],
)
def test_run_behind_a_gap_is_a_new_segment(upstream_start: int, downstream_start: int) -> None:
    history = History([Segment(0, 10, 5, 10)]).append_run(upstream_start, 3, downstream_start, 3)
    assert history.segments == (Segment(0, 10, 5, 10), Segment(upstream_start, 3, downstream_start, 3))


@pytest.mark.parametrize(("upstream_start", "downstream_start"), [(99, 200), (100, 149), (0, 150)])
def test_run_below_the_head_of_either_side_drops_what_was_known(upstream_start: int, downstream_start: int) -> None:
    history = History([Segment(0, 100, 50, 100)], complete_from_start=True)
    rewound = history.append_run(upstream_start, 7, downstream_start, 7)
    # Not complete either: what lies before the rewound run was copied, and we no longer know where to.
    assert rewound == History([Segment(upstream_start, 7, downstream_start, 7)], complete_from_start=False)


def test_discarded_draft_leaves_the_history_as_it_was() -> None:
    history = History([Segment(0, 10, 0, 10)])
    draft = history.builder()
    draft.append_run(10, 5, 10, 5)
    assert history == History([Segment(0, 10, 0, 10)])
    assert draft.freeze() == History([Segment(0, 15, 0, 15)])
    draft.append_run(15, 5, 15, 5)
    assert draft.freeze() == History([Segment(0, 20, 0, 20)])


def test_run_with_a_foreign_record_inside_is_early_by_at_most_that_one() -> None:
    history = History().append_run(0, 10, 100, 11)
    assert history.translate(0, position=10) == Exact(100)
    assert history.translate(5, position=10) == Early(105, 1)
    assert history.translate(9, position=10) == Exact(110)
    assert history.translate(10, position=10) == Exact(111)


def test_thinned_history_is_early_inside_and_exact_at_its_ends() -> None:
    # Two neighbours of 4 records each; between them 3 markers that the target does not have.
    one = merge(Segment(0, 4, 50, 4), Segment(7, 4, 54, 4))
    assert one == Segment(0, 11, 50, 8, slack=3, bound=3)
    assert [History([one]).translate(offset, position=11) for offset in range(12)] == [
        Exact(50),
        # Behind the first record there is at least one more, so no answer falls back to it.
        Exact(51),
        Early(51, 1),
        Early(51, 2),
        Early(51, 3),
        Early(52, 3),
        Early(53, 3),
        Early(54, 3),
        # Nor can the truth lie behind the last one.
        Early(55, 2),
        Early(56, 1),
        Exact(57),
        Exact(58),
    ]


def test_history_with_more_or_fewer_bytes_than_its_segments_is_refused() -> None:
    raw = MARKERS.encode()
    for damaged in (raw + b"\x00", raw[:-1], b"\x03\x05\x05\xff\x01\x00\x00"):
        with pytest.raises(StateUnreadable):
            _ = History.decode(damaged).segments


def test_cap_below_four_segments_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 4"):
        MARKERS.thinned(3)


@pytest.mark.parametrize(("upstream_length", "downstream_length"), [(0, 0), (-1, 5), (5, 4)])
def test_run_that_lost_records_is_a_bug_of_the_caller(upstream_length: int, downstream_length: int) -> None:
    with pytest.raises(ValueError, match="cannot lie"):
        History().append_run(0, upstream_length, 0, downstream_length)


def _transactions(count: int, *, records: int, cap: int, seed: int = 7) -> tuple[History, int]:
    rng = random.Random(seed)
    draft = History(complete_from_start=True).builder(cap=cap)
    upstream = downstream = 0
    for _ in range(count):
        length = rng.randint(records // 2, records * 3 // 2)
        draft.append_run(upstream, length, downstream, length)
        upstream += length + 1
        downstream += length
    return draft.freeze(), upstream


@pytest.mark.parametrize(("cap", "at_most_bytes"), [(64, 250), (256, 850)])
@pytest.mark.parametrize("records", [10, 100, 1000])
@pytest.mark.parametrize("times_the_cap", [1, 20])
def test_history_of_transactions_stays_small(cap: int, at_most_bytes: int, records: int, times_the_cap: int) -> None:
    history, _ = _transactions(cap * times_the_cap, records=records, cap=cap)
    size = len(history.encode())
    print(f"{cap} segments, {cap * times_the_cap} transactions of {records}: {size} bytes")
    assert len(history.segments) == cap
    assert size <= at_most_bytes * (1.1 if times_the_cap > 1 else 1)


def test_old_translations_are_early_by_little_for_their_distance_from_the_head() -> None:
    history, position = _transactions(20_000, records=50, cap=256)
    worst = 0.0
    for offset in range(0, position, 97):
        answer = history.translate(offset, position=position)
        if isinstance(answer, Early):
            worst = max(worst, answer.at_most / (position - offset))
    print(f"worst error {worst:.2%} of the distance from the head")
    assert 0 < worst < 0.02
    assert not history.is_exact
