"""kill -9 at every named point, with two slots, transactions at the source, and a source that grows meanwhile."""

from __future__ import annotations

import signal

import pytest

from faults.runs import KILLED
from faults.scenario import IS_LONG, REPEATS, Scenario

SLOT_POINTS = ("produced", "flushed", "syncs-sent", "committed")
DRIVER_POINTS = ("claim-written", "fenced", "planned")

# Records for some fifteen transactions: enough for each point to be reached twice, whoever gets there.
MANY = 60_000

ROUNDS = pytest.mark.parametrize("round_", range(REPEATS))


@ROUNDS
def test_a_command_killed_at_each_point_in_turn_leaves_each_record_once(scenario: Scenario, round_: int) -> None:
    with scenario.growing():
        for number, point in enumerate(DRIVER_POINTS + SLOT_POINTS):
            nth = 1 + round_ % 3 if point in SLOT_POINTS else 1
            on_held = "take-over" if (number + round_) % 2 else "wait"
            run = scenario.runs.in_process(scenario.runs.fault(point, nth), on_held=on_held, window_s=60)
            run.assert_ends(KILLED)
            scenario.assert_prefix()
    scenario.assert_exact()


@ROUNDS
def test_workers_killed_at_each_point_are_retried_inside_the_run(scenario: Scenario, round_: int) -> None:
    faults = [scenario.runs.fault(point, 1 + round_ % 2) for point in SLOT_POINTS]
    with scenario.growing(first_count=MANY):
        # Each kill may hit the same task: it takes five attempts then.
        scenario.runs.command(*faults, master="local[2,5]").assert_ends(0)
        assert len({fault.pid for fault in faults}) == len(SLOT_POINTS)
        assert scenario.assert_prefix() > 0
    scenario.assert_exact()


@ROUNDS
@pytest.mark.parametrize(
    ("point", "who"),
    [("flushed", "driver")]
    if not IS_LONG
    else [*((point, "driver") for point in SLOT_POINTS), *((point, "self") for point in DRIVER_POINTS)],
)
def test_a_command_killed_with_spark_takes_its_workers_along(
    scenario: Scenario, point: str, who: str, round_: int
) -> None:
    with scenario.growing():
        nth = 2 + round_ % 3 if point in SLOT_POINTS else 1
        scenario.runs.command(scenario.runs.fault(point, nth, who=who), window_s=60).assert_ends(KILLED)
        scenario.runs.assert_none_left()
        scenario.assert_prefix()
        scenario.runs.in_process(window_s=1).assert_ends(0)
    scenario.assert_exact()


@ROUNDS
@pytest.mark.parametrize(
    ("point", "who"),
    [("syncs-sent", "driver")]
    if not IS_LONG
    else [*((point, "driver") for point in SLOT_POINTS), *((point, "self") for point in DRIVER_POINTS)],
)
def test_a_driver_killed_under_spark_submit_takes_all_processes_along(
    scenario: Scenario, point: str, who: str, round_: int
) -> None:
    with scenario.growing():
        nth = 2 + round_ % 3 if point in SLOT_POINTS else 1
        run = scenario.runs.submitted(scenario.runs.fault(point, nth, who=who), window_s=60)
        run.assert_ends(128 + signal.SIGKILL)
        scenario.runs.assert_none_left()
        scenario.assert_prefix()
        scenario.runs.in_process(window_s=1).assert_ends(0)
    scenario.assert_exact()


@ROUNDS
@pytest.mark.skipif(not IS_LONG, reason="in make test-faults: the same end as that of the driver")
@pytest.mark.parametrize("point", SLOT_POINTS)
def test_a_jvm_killed_under_spark_submit_takes_all_processes_along(scenario: Scenario, point: str, round_: int) -> None:
    with scenario.growing():
        seen = scenario.runs.fault(point, 2 + round_ % 3, what="note")
        run = scenario.runs.submitted(seen, window_s=60)
        run.assert_reaches(seen)
        run.process.kill()
        run.assert_ends(KILLED)
        scenario.runs.assert_none_left()
        scenario.assert_prefix()
        scenario.runs.in_process(window_s=1).assert_ends(0)
    scenario.assert_exact()
