"""How a failback is to go, and the names of its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mirror.errors import UsageRefused
from mirror.operations.silence import SILENCE_S
from mirror.wire.flow_state import FlowState, Operation

# Survivors are records on the source that were never copied. Copy: to the target first, so that groups meet them there.
# Keep: where they are; the forward flow copies them when all has returned. Ignore: they are never copied.
SurvivorChoice = Literal["copy", "keep", "ignore"]

TITLES = {
    "turn": "take the flow, and the way back: only this operation writes",
    "plan": "write down what returns from where, and what survived on the source",
    "survivors": "deal with what survived on the source",
    "return": "bring back what was written on the target",
    "forward": "let the forward flow pass all that",
    "groups": "move consumer groups home",
    "release": "let the flow go forward again",
}
STEPS = tuple(TITLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailbackRequest:
    """How a failback is to go."""

    survivors: SurvivorChoice = "copy"
    # Go on although the target still gets records: what comes behind the last copy does not return.
    producers_still_write: bool = False
    silence_s: float = SILENCE_S


def is_over(known: Operation | None, direction: FlowState | None) -> bool:
    """Whether the newest failback brought the flow home, and nothing turned it since."""
    return (
        known is not None and direction is not None and direction.is_forward and direction.operation == known.operation
    )


def require_failed_over(flow: str, direction: FlowState | None) -> None:
    """Only what failed over can come back."""
    if direction is None or direction.state != "failed-over":
        raise UsageRefused(
            f"{flow} goes forward: there is nothing to bring back", next_step="airmirror flows", flow=flow
        )
