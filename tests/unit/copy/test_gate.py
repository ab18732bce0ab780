"""Who may write while a flow is turned: nobody but the operation that turned it."""

from __future__ import annotations

import pytest

from mirror.copy.gate import refusal
from mirror.wire.flow_state import Direction, FlowState


def state(direction: Direction, operation: str = "o1") -> FlowState:
    return FlowState(flow="A->B", state=direction, operation=operation, at_ms=0, by="a person")


@pytest.mark.parametrize(
    ("found", "operation", "word"),
    [
        (None, "", ""),
        (state("forward"), "", ""),
        (state("failed-over"), "", "failed over since 1970-01-01 00:00:00Z (a person)"),
        (state("returning"), "", "on its way back"),
        (state("failed-over"), "o1", ""),
        (state("failed-over"), "o0", "failed over"),
        (state("returning", "o2"), "o1", "on its way back"),
        # An operation that was frozen, and thaws when all is over, must not write either.
        (state("forward"), "o1", "operation o1 is over"),
        (None, "o1", "operation o1 is over"),
    ],
)
def test_only_the_operation_that_turned_a_flow_may_write(found: FlowState | None, operation: str, word: str) -> None:
    refused = refusal("A->B", found, operation)
    assert (refused is None) == (not word)
    if refused is not None:
        assert word in refused.message
        assert refused.next_step
