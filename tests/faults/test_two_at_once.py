"""Two copies of one flow started at the same moment: one of them has it, and nothing is copied twice."""

from __future__ import annotations

import pytest

from faults.copy_in_process import EXIT_STOPPED
from faults.scenario import REPEATS, Scenario


@pytest.mark.parametrize("round_", range(REPEATS))
def test_two_copies_started_at_once_end_exact(scenario: Scenario, round_: int) -> None:
    with scenario.growing():
        on_held = "take-over" if round_ % 2 else "wait"
        runs = [scenario.runs.in_process(on_held=on_held) for _ in range(2)]
        codes = [run.wait() for run in runs]
        # Whoever is overtaken says so. Both may be: the loser of the claim can fence the winner's slot once.
        assert set(codes) <= {0, EXIT_STOPPED}, "\n".join(run.output for run in runs)
        scenario.assert_prefix()
    scenario.assert_exact()
