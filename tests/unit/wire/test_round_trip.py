"""Records that went both ways: whatever order they lie in, no group skips one that it has not seen."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from mirror.wire.history import Exact, History, Unknown
from mirror.wire.partition_state import PartitionState
from mirror.wire.stretches import Stretch, Stretches, cut, outside, past, with_run


def lived(seed: int) -> tuple[PartitionState, list[tuple[int, int]]]:
    """A partition's life: brought forward, failed over, written there, survivors and strays, returned, forward again.

    Gives its forward state and the pairs (upstream, downstream) of all records, in no order that both sides share.
    """
    dice = random.Random(seed)
    up = down = 0
    forward, returned = History(complete_from_start=True), History(complete_from_start=True)
    pairs: list[tuple[int, int]] = []

    def bring(count: int) -> None:
        nonlocal up, down, forward
        for _ in range(count):
            forward = forward.append_run(up, 1, down, 1, cap=dice.choice((8, 256)))
            pairs.append((up, down))
            up, down = up + 1 + (dice.random() < 0.2), down + 1 + (dice.random() < 0.2)

    for _ in range(dice.randint(1, 3)):
        bring(dice.randint(0, 30))
        written_there = list(range(down, down + dice.randint(0, 20)))
        down += len(written_there) + 1
        bring(dice.randint(0, 8))  # survivors: behind what was written there, before it here
        strays: list[int] = []
        for at in written_there:
            if dice.random() < 0.1:
                strays.append(up)
                up += 1
            returned = returned.append_run(at, 1, up, 1)
            pairs.append((up, at))
            up += 1
        for stray in strays:
            forward = (
                forward.append_run(stray, 1, down, 1)
                if not forward.segments or (stray >= forward.segments[-1].upstream_end)
                else forward
            )
            pairs.append((stray, down))
            down += 1
        bring(dice.randint(0, 5))
    newest = max((d for _, d in pairs), default=-1)
    state = PartitionState(
        topic="t", partition=0, upstream_offset=up - 1, downstream_offset=newest, position=up, run="r",
        history=forward, returned=returned, has_record=True,
    )  # fmt: skip
    return state, pairs


@pytest.mark.parametrize("seed", range(150))
def test_no_group_is_late_in_either_direction_after_any_life(seed: int) -> None:
    state, pairs = lived(seed)
    state = PartitionState.decode(state.encode_key(), state.encode_value())
    assert state.position >= max((u for u, _ in pairs), default=0)
    for offset in range(state.position + 1):
        found = state.translate(offset)
        unseen = [down for up, down in pairs if up >= offset]
        assert not isinstance(found, Unknown)
        assert found.downstream <= min(unseen, default=found.downstream), f"late from {offset}"
        if isinstance(found, Exact) and unseen:
            following = min((up, down) for up, down in pairs if up >= offset)[1]
            assert not [d for _, d in pairs if found.downstream <= d < following], f"not the next record from {offset}"
    for offset in range(state.downstream_end + 1):
        back = state.translate_back(offset)
        assert not isinstance(back, Unknown)
        unseen = [up for up, down in pairs if down >= offset]
        assert back.offset <= min(unseen, default=back.offset), f"late from {offset} downstream"
        if not unseen:
            assert back.offset == state.position, "who has seen all goes on behind all"


def test_survivors_lie_before_what_was_returned_and_are_not_skipped() -> None:
    """The drawing of the module: two orders on two sides."""
    forward = History(complete_from_start=True).append_run(0, 4, 0, 4).append_run(4, 2, 8, 2)
    state = PartitionState(
        topic="t", partition=0, upstream_offset=5, downstream_offset=9, position=10, run="r", history=forward,
        returned=History(complete_from_start=True).append_run(4, 4, 6, 4),
    )  # fmt: skip
    places = {0: 0, 3: 3, 4: 4, 5: 4, 6: 4, 7: 5, 9: 7, 10: 10}
    assert {at: state.translate(at).downstream for at in places} == places  # type: ignore[union-attr]
    back = {0: 0, 4: 4, 5: 4, 8: 4, 9: 5, 10: 10}
    assert {at: state.translate_back(at).offset for at in back} == back  # type: ignore[union-attr]
    # Nothing returned: as ever, and in the format that an older airmirror reads.
    assert replace(state, returned=History()).encode_value()[18] == 1
    assert state.encode_value()[18] == 2


def test_a_cut_forgets_what_lies_behind_it() -> None:
    history = History(complete_from_start=True).append_run(0, 10, 5, 10).append_run(12, 4, 20, 4)
    assert history.cut(13).segments[-1][:4] == (12, 1, 20, 1)
    assert history.cut(11).segments == history.cut(10).segments
    assert history.cut(4).segments[-1][:4] == (0, 4, 5, 4)
    assert history.cut(0).segments == ()
    assert history.cut_back(21).segments[-1][:4] == (12, 1, 20, 1)
    assert history.cut_back(5).segments == ()


def stretches(*bounds: tuple[int, int]) -> Stretches:
    return tuple(Stretch(*each) for each in bounds)


@pytest.mark.parametrize(
    ("start", "follows_commit", "found"),
    [
        (10, False, [(5, 12)]),
        (11, True, [(5, 12)]),  # one offset between two transactions is our marker
        (11, False, [(5, 10), (11, 12)]),  # one offset inside a transaction is somebody else's
        (12, True, [(5, 10), (12, 13)]),
    ],
)
def test_a_stretch_ends_where_somebody_else_may_have_written(
    start: int, follows_commit: bool, found: list[tuple[int, int]]
) -> None:
    end = max(12, start + 1)
    assert list(with_run(stretches((5, 10)), start, end, follows_commit=follows_commit)) == found


def test_what_lies_outside_is_read_and_nothing_else() -> None:
    known = stretches((5, 10), (10, 12), (20, 25))
    assert [past(known, at) for at in (4, 5, 9, 12, 20, 30)] == [4, 12, 12, 12, 25, 30]
    assert list(outside(known, 0, 30)) == [(0, 5), (12, 20), (25, 30)]
    assert list(outside(known, 6, 11)) == []
    assert list(outside((), 3, 5)) == [(3, 5)]
    assert cut(known, 11) == stretches((5, 10), (10, 11))


@pytest.mark.parametrize("seed", range(20))
def test_stretches_survive_the_wire(seed: int) -> None:
    dice = random.Random(seed)
    bounds, at = [], 0
    for _ in range(dice.randint(0, 30)):
        start = at + dice.randint(0, 2**20)
        at = start + dice.randint(1, 2**30)
        bounds.append((start, at))
    state = PartitionState(
        topic="t", partition=0, upstream_offset=0, downstream_offset=0, position=1, run="r",
        stretches=stretches(*bounds), history=History().append_run(0, 1, 0, 1),
    )  # fmt: skip
    assert PartitionState.decode(state.encode_key(), state.encode_value()) == state
