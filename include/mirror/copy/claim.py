"""Who may copy a flow now: the claim, and the fence that makes it true.

A run writes its claim once, and signs of life under a key of its own: a run that was frozen and thaws can thus
prolong itself, but never take the claim back from its successor. The times compared are the target brokers' own.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from mirror.config import known_as
from mirror.copy.control import Control, ControlState
from mirror.copy.gate import refusal
from mirror.copy.points import reached
from mirror.copy.spec import FlowLinks, SlotSpec, transactional_id
from mirror.errors import ClaimHeld, MirrorError
from mirror.kafka.cluster import Cluster
from mirror.kafka.writer import BATCH_BYTES, TransactionalWriter
from mirror.wire import control as wire

log = logging.getLogger(__name__)

# Ids fenced at least: a zombie's slot beyond the new run's number must be locked out too. 32 cost a third of a second.
FENCED_AT_LEAST = 32
FENCING_THREADS = 8
# A claim without a sign of life for this many intervals is dead.
LOST_SIGNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPolicy:
    """What to do about a living claim of another run: wait, leave, or take over."""

    on_held: str = "wait"  # wait | skip | take-over
    renew_s: float = 5.0


def holder_of(spec: SlotSpec) -> str:
    """Who has the flow now, as seen from a task planned by `spec.run`: a run, or the operation that turned the flow."""
    links = spec.links
    target = Cluster(links.target, links.target_admin)
    state = Control(links, target).read(start=spec.control_read_to)
    if state.direction is not None and refusal(links.flow, state.direction, spec.operation) is not None:
        return state.direction.operation
    return state.claim.run if state.claim is not None else spec.run


def living_holder(state: ControlState, now_ms: int, renew_s: float) -> wire.Claim | None:
    """The claim, if its run gave a sign of life within three intervals and did not end."""
    claim = state.claim
    if claim is None:
        return None
    life, life_at_ms = state.lives.get(claim.run, (None, 0))
    if life is not None and life.state == "ended":
        return None
    last_ms = max(state.claim_at_ms, life_at_ms)
    return claim if now_ms - last_ms < LOST_SIGNS * renew_s * 1000 else None


class HeldClaim:
    """The flow is ours: signs of life are given until it is released, and losing it is noticed."""

    def __init__(self, control: Control, claim: wire.Claim, read_to: int, renew_s: float) -> None:
        self.claim = claim
        self.read_to = read_to
        self._control = control
        self._renew_s = renew_s
        self._ended = threading.Event()
        self._signs = 0
        self.lost_to = ""
        self._thread = threading.Thread(target=self._keep_alive, name="claim", daemon=True)
        self._thread.start()

    def _keep_alive(self) -> None:
        while not self._ended.wait(self._renew_s):
            try:
                self._give_sign("alive")
                newest = self._control.read(start=self.read_to).claim
                if newest is not None and newest.run != self.claim.run:
                    self.lost_to = newest.run
                    return
            except MirrorError as error:
                # Not given is not lost: slots check the claim themselves, and another run fences before it writes.
                log.warning("no sign of life written flow=%s reason=%s", self.claim.flow, error)

    def _give_sign(self, state: wire.LifeState) -> None:
        self._signs += 1
        self._control.write(wire.Life(flow=self.claim.flow, run=self.claim.run, state=state, signs=self._signs))

    def release(self) -> None:
        self._ended.set()
        self._thread.join()
        self._give_sign("ended")


def take_claim(
    links: FlowLinks,
    control: Control,
    run: str,
    slots: int,
    policy: ClaimPolicy,
    say: Callable[[str], None],
    *,
    announced: Sequence[wire.WritableRecord] = (),
) -> HeldClaim:
    """Write our claim once no other run lives, and fence every id that may exist.

    What is `announced` stands before the fence: whoever initialises an id behind it reads that, too.
    """
    state = _wait_for_turn(links, control, policy, say)
    before = state.claim
    highest = max(slots - 1, before.highest_slot if before else 0)
    claim = wire.Claim(
        flow=links.flow_key,
        run=run,
        slots=slots,
        highest_slot=highest,
        run_number=(before.run_number if before else 0) + 1,
        host=socket.gethostname(),
        pid=os.getpid(),
        holder=os.environ.get("AIRMIRROR_RUN_BY", "airmirror copy"),
    )
    read_to = state.read_to
    control.write(claim, *(wire.Removed.of(life) for life, _ in state.lives.values()), *announced)
    reached("claim-written")
    held = HeldClaim(control, claim, read_to, policy.renew_s)
    try:
        fence(links, max(highest + 1, 1 if links.has_one_slot else FENCED_AT_LEAST))
    except BaseException:
        held.release()
        raise
    reached("fenced")
    return held


def _wait_for_turn(links: FlowLinks, control: Control, policy: ClaimPolicy, say: Callable[[str], None]) -> ControlState:
    said = False
    while True:
        state = control.read()
        if state.claim is None or policy.on_held == "take-over":
            return state
        now_ms = control.write(wire.Clock(flow=links.flow_key))
        holder = living_holder(state, now_ms, policy.renew_s)
        if holder is None:
            return state
        where = f"run {holder.run} ({holder.holder} on {holder.host}, pid {holder.pid})"
        if policy.on_held == "skip":
            raise ClaimHeld(f"{links.flow} is being copied by {where}", flow=links.flow, run=holder.run)
        if not said:
            say(f"{links.flow} is being copied by {where}: waiting for it to end or die (--take-over takes it)")
            said = True
        time.sleep(min(policy.renew_s, 1.0) / 2)


def fence(links: FlowLinks, count: int) -> None:
    """Initialise every transactional id of the flow: aborts what a zombie left open, and locks it out."""

    def initialise(slot: int) -> None:
        writer = TransactionalWriter(
            links.target,
            known_as(links.target_producer, "fence"),
            transactional_id=transactional_id(links.flow_key, slot),
            timeout_ms=links.transaction_timeout_ms,
            batch_bytes=BATCH_BYTES,
        )
        try:
            writer.init()
        finally:
            writer.close()

    with ThreadPoolExecutor(FENCING_THREADS) as threads:
        list(threads.map(initialise, range(count)))
