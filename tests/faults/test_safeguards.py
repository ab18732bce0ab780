"""The suite notices when a safeguard is gone: the library is copied, one safeguard removed, and records are doubled.

Holes H1 and H2 of the protocol (docs/protocol.md). Each scenario also runs with the library as it is, and is exact.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import mirror
from faults.runs import Run
from faults.scenario import LINES, Scenario

# Records for several transactions of each slot, so that one is left for the attempt after the kill.
MANY = 40_000


def without(safeguard: tuple[str, str, str], directory: Path) -> dict[str, str]:
    """The environment of a run whose library lacks one safeguard: a module, its text, and the text instead."""
    module, text, instead = safeguard
    package = directory / "without" / "mirror"
    shutil.copytree(Path(mirror.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    source = (package / module).read_text()
    assert source.count(text) == 1, f"{module} changed: this test no longer removes its safeguard"
    (package / module).write_text(source.replace(text, instead))
    return {"PYTHONPATH": str(package.parent)}


# H1: positions are read to the high watermark; only to the stable offset, another slot's open transaction hides some.
READ_TO_THE_HIGH_WATERMARK = (
    "copy/state.py",
    "target.bounds(links.syncs)\n    start, end = log_start",
    "(0, target.stable_ends([links.syncs])[links.syncs])\n    start, end = log_start",
)
# H2: a slot that was initialised behind a newer run's fence looks at the claim once more.
SECOND_LOOK_AT_THE_CLAIM = (
    "copy/slot.py",
    "if holder != spec.run:  # 9",
    "if False:  # 9",
)


def with_a_hidden_commit(scenario: Scenario, environment: dict[str, str], *, waits: bool) -> None:
    """One slot is frozen in a transaction with its syncs sent; the other commits behind it and dies; it is retried."""
    begun = scenario.runs.fault("produced", what="freeze")
    frozen = scenario.runs.fault("syncs-sent", what="freeze")
    killed = scenario.runs.fault("committed", 2)
    retried = scenario.runs.fault("initialised", what="note")
    went_on = scenario.runs.fault("committed", what="note")
    run = scenario.runs.command(begun, frozen, killed, retried, went_on, environment=environment)
    run.assert_reaches(frozen)
    # Begun before the other was frozen: a slot that begins later waits for that one's end, as the retried one must.
    os.kill(begun.pid, signal.SIGCONT)
    run.assert_reaches(retried)
    assert killed.pid == begun.pid
    assert len({frozen.pid, killed.pid, retried.pid}) == 3
    if waits:
        assert not happens(lambda: went_on.has_fired, within_s=2), (
            f"process {went_on.pid} did not wait for what it cannot see: {frozen.pid} was frozen, {killed.pid} killed, "
            f"{retried.pid} is the retry\n{run.output[-3000:]}"
        )
    else:
        run.assert_reaches(went_on)
    os.kill(frozen.pid, signal.SIGCONT)
    run.assert_ends(0)


def behind_the_fence(scenario: Scenario, environment: dict[str, str]) -> Run:
    """A slot is frozen between its look at the claim and its initialisation; another run copies; the slot thaws."""
    frozen = scenario.runs.fault("claim-read", what="freeze")
    old = scenario.runs.in_process(frozen, environment=environment)
    pid = old.assert_reaches(frozen)
    scenario.runs.in_process(on_held="take-over").assert_ends(0)
    os.kill(pid, signal.SIGCONT)
    old.wait()
    return old


@pytest.fixture
def patient(scenario: Scenario) -> Scenario:
    """A flow whose frozen transaction stays open: only its thaw ends it."""
    scenario.mirrored.configure(LINES.replace("timeout.ms = 10000", "timeout.ms = 120000"))
    return scenario


@pytest.fixture
def unwatched(scenario: Scenario) -> Scenario:
    """A flow whose runs look after their claim so seldom that a thawed one does not notice its loss by that first."""
    scenario.mirrored.configure(LINES.replace("renew.seconds = 1", "renew.seconds = 600"))
    return scenario


def happens(event: Callable[[], bool], *, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if event():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.long("many records")
def test_a_retried_task_waits_for_positions_hidden_behind_an_open_transaction(patient: Scenario) -> None:
    with patient.growing(first_count=MANY):
        with_a_hidden_commit(patient, {}, waits=True)
    patient.assert_exact()


@pytest.mark.long("many records")
def test_without_reading_to_the_high_watermark_records_are_doubled(patient: Scenario, tmp_path: Path) -> None:
    with patient.growing(first_count=MANY):
        with_a_hidden_commit(patient, without(READ_TO_THE_HIGH_WATERMARK, tmp_path), waits=False)
    assert patient.twice() > 0
    with pytest.raises(AssertionError, match=r"downstream|too many"):
        patient.assert_prefix()


def test_without_the_second_look_at_the_claim_records_are_doubled(unwatched: Scenario, tmp_path: Path) -> None:
    environment = without(SECOND_LOOK_AT_THE_CLAIM, tmp_path)
    with unwatched.growing():
        old = behind_the_fence(unwatched, environment)
    assert old.output.startswith(environment["PYTHONPATH"])
    assert unwatched.twice() > 0
    with pytest.raises(AssertionError, match=r"downstream|too many"):
        unwatched.assert_prefix()
