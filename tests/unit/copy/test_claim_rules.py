"""When a claim lives: by the brokers' times of its record and of its run's signs of life."""

from __future__ import annotations

import pytest

from mirror.copy.claim import LOST_SIGNS, living_holder
from mirror.copy.control import ControlState
from mirror.wire.control import Claim, Life

RENEW_S = 5.0
DEAD_AFTER_MS = int(LOST_SIGNS * RENEW_S * 1000)
CLAIMED_MS = 1_700_000_000_000

CLAIM = Claim(
    flow="A->B", run="run-1", slots=2, highest_slot=1, run_number=1, host="here", pid=1, holder="airmirror copy"
)


def control(*lives: tuple[Life, int], claim: Claim | None = CLAIM) -> ControlState:
    return ControlState(claim=claim, claim_at_ms=CLAIMED_MS, lives={life.run: (life, at_ms) for life, at_ms in lives})


def life(state: str = "alive", run: str = "run-1") -> Life:
    return Life(flow="A->B", run=run, state=state, signs=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seen", "now_after_ms", "lives"),
    [
        pytest.param(control(claim=None), 0, False, id="nobody ever claimed"),
        pytest.param(control(), 0, True, id="claimed just now"),
        pytest.param(control(), DEAD_AFTER_MS - 1, True, id="claimed, no sign yet"),
        pytest.param(control(), DEAD_AFTER_MS, False, id="claimed, and died before the first sign"),
        pytest.param(control((life(), CLAIMED_MS + 60_000)), 60_000 + DEAD_AFTER_MS - 1, True, id="gives signs"),
        pytest.param(control((life(), CLAIMED_MS + 60_000)), 60_000 + DEAD_AFTER_MS, False, id="gives none any more"),
        pytest.param(control((life("ended"), CLAIMED_MS + 10)), 11, False, id="ended by itself"),
        pytest.param(
            control((life(run="run-0"), CLAIMED_MS + DEAD_AFTER_MS)),
            DEAD_AFTER_MS,
            False,
            id="a thawed predecessor's signs do not prolong the claim",
        ),
        pytest.param(control((life("ended", "run-0"), CLAIMED_MS + 5)), 10, True, id="a predecessor's end is not ours"),
        pytest.param(control((life(), CLAIMED_MS - 50)), 10, True, id="an old sign does not shorten a fresh claim"),
    ],
)
def test_a_claim_lives_while_its_own_run_gives_signs(seen: ControlState, now_after_ms: int, lives: bool) -> None:
    holder = living_holder(seen, CLAIMED_MS + now_after_ms, RENEW_S)
    assert holder == (CLAIM if lives else None)
