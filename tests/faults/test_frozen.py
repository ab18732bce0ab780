"""An old run that was frozen, overtaken by a new one while the source grew, and thawed: it writes nothing visible."""

from __future__ import annotations

import os
import signal

import pytest

from faults.copy_in_process import EXIT_STOPPED
from faults.scenario import REPEATS, Scenario
from mirror.kafka.values import TopicPartition

OTHER_POINTS = pytest.mark.long("ends as at the other points")
ROUNDS = pytest.mark.parametrize("round_", range(REPEATS))


def committed_counts(scenario: Scenario) -> dict[TopicPartition, int]:
    """How many records read_committed readers see of each remote partition."""
    seen = scenario.mirrored.read(*scenario.counts)
    return {
        TopicPartition(topic, number): len(rows) for topic, (_, there) in seen.items() for number, rows in there.items()
    }


def overtake(scenario: Scenario, *, on_held: str) -> None:
    """Another run copies what is there, and what comes in a second."""
    scenario.runs.in_process(on_held=on_held, window_s=1).assert_ends(0)


@ROUNDS
@pytest.mark.parametrize(
    ("point", "nth", "on_held"),
    [
        # A frozen driver gives no sign of life, so its claim is soon dead.
        pytest.param("claim-written", 1, "wait", marks=OTHER_POINTS),
        pytest.param("planned", 1, "take-over", marks=OTHER_POINTS),
        ("claim-read", 1, "take-over"),  # past a slot's first look at the claim: the second must stop it
        pytest.param("flushed", 2, "wait", marks=OTHER_POINTS),
        ("syncs-sent", 3, "take-over"),
    ],
)
def test_a_thawed_run_writes_nothing_and_says_who_has_the_flow(
    scenario: Scenario, point: str, nth: int, on_held: str, round_: int
) -> None:
    with scenario.growing(first_count=6000):
        frozen = scenario.runs.fault(point, nth + round_ if nth > 1 else 1, what="freeze")
        old = scenario.runs.in_process(frozen, window_s=60)
        pid = old.assert_reaches(frozen)
        overtake(scenario, on_held=on_held)
        before = committed_counts(scenario)
        assert sum(before.values()) > 0
        os.kill(pid, signal.SIGCONT)
        old.assert_ends(EXIT_STOPPED)
        assert committed_counts(scenario) == before
        scenario.assert_prefix()
    scenario.assert_exact()


@ROUNDS
def test_a_thawed_worker_is_fenced_and_its_run_ends_as_superseded(scenario: Scenario, round_: int) -> None:
    with scenario.growing():
        frozen = scenario.runs.fault("flushed", 2 + round_, what="freeze")
        old = scenario.runs.command(frozen, window_s=60)
        old.assert_reaches(frozen)
        os.kill(old.process.pid, signal.SIGSTOP)  # or it would notice its loss and end the worker before its thaw
        overtake(scenario, on_held="wait")
        before = committed_counts(scenario)
        os.kill(frozen.pid, signal.SIGCONT)
        os.kill(old.process.pid, signal.SIGCONT)
        old.assert_ends(1)
        assert committed_counts(scenario) == before
        scenario.assert_prefix()
    assert "took" in old.output
    scenario.assert_exact()
