"""Hands a flow over to MM2, and takes it back: under the claims of both its parts, with nothing of ours running.

The flow's state is written last, and the claim looked at once more behind it: a run that claimed meanwhile either reads
the state and leaves, or is seen here, and the handover is taken back.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.mm2_worker import worker_group
from mirror.copy.claim import ClaimPolicy, HeldClaim, take_claim
from mirror.copy.control import Control
from mirror.copy.gate import read_direction, require_forward
from mirror.copy.glance import glance
from mirror.copy.judge import judge
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.copy.state_writer import StateWriter, require_claim
from mirror.copy.survey import Survey, survey
from mirror.copy.trouble import truncated
from mirror.copy.witness import truncated_partitions
from mirror.errors import FencedByNewerRun, GroupInUse, UsageRefused
from mirror.groups.ground import taken_over
from mirror.groups.mm2_sync_log import read_sync_stores
from mirror.kafka.cluster import Cluster
from mirror.kafka.groups import GroupCluster
from mirror.operations.handover_plan import HandoverPart, HandoverPlan, notices_for, plan_part
from mirror.operations.mm2_topics import write_positions, write_syncs
from mirror.operations.return_plan import ReturnPart, ReturnPlan, plan_return
from mirror.topics import ensure_internal
from mirror.wire.flow_state import Direction, FlowState
from mirror.wire.mm2_positions import Mm2Positions

log = logging.getLogger(__name__)

Say = Callable[[str], None]


def preview(flow: Flow) -> HandoverPlan:
    """What a handover would write now; nothing is claimed or written."""
    with _Sides(flow) as sides:
        require_forward(sides.whole, sides.target)
        return sides.plan(sides.glance)


def hand_over(
    flow: Flow, run: str, *, agree: Callable[[HandoverPlan], bool], say: Say, on_held: str = "wait"
) -> HandoverPlan | None:
    """Plan with the flow in our hands, ask, write; None when the answer is no."""
    with _Sides(flow) as sides:
        sides.refuse_running_mm2()
        with sides.claimed(run, say, on_held) as claims:
            require_forward(sides.whole, sides.target)
            plan = sides.plan(sides.survey)
            if plan.refusals or not agree(plan):
                return plan if plan.refusals else None
            sides.write_for_mm2(plan)
            sides.turn("handed-over", run)
            try:
                sides.require(claims)
            except FencedByNewerRun:
                sides.turn("forward", run)
                raise
    log.info("handed over flow=%s partitions=%d", flow, len(plan.steps))
    return plan


def preview_return(flow: Flow, run: str) -> ReturnPlan:
    """What taking the flow back would write now."""
    with _Sides(flow) as sides:
        sides.require_handed_over()
        return sides.plan_return(sides.glance, run)


def take_back(
    flow: Flow, run: str, *, agree: Callable[[ReturnPlan], bool], say: Say, on_held: str = "wait"
) -> ReturnPlan | None:
    """Follow MM2 to where it stands now, and let airmirror copy again; None when the answer is no."""
    with _Sides(flow) as sides:
        sides.require_handed_over()
        sides.refuse_running_mm2()
        with sides.claimed(run, say, on_held) as claims:
            sides.require_handed_over()
            plan = sides.plan_return(sides.survey, run)
            if not agree(plan):
                return None
            for part, claim in zip(plan.parts, claims, strict=True):
                sides.follow(part, claim)
            sides.turn("forward", run)
    log.info("taken back flow=%s partitions=%d", flow, len(plan.steps))
    return plan


class _Sides:
    """Both clusters of a flow, and its two parts: what is copied, and the heartbeats topics apart."""

    def __init__(self, flow: Flow) -> None:
        if not flow.enabled:
            raise UsageRefused(
                f"flow {flow.id} is not enabled, so nothing is copied along it",
                next_step=f"set {flow.id}.enabled = true, or name another: airmirror flows",
                flow=flow.id,
            )
        self._flow = flow
        self._parts = tuple(links_of(flow, heartbeats=heartbeats) for heartbeats in (False, True))
        self.whole = self._parts[0]
        self.source = Cluster(flow.source, self.whole.source_admin)
        self.target = GroupCluster(flow.target, self.whole.target_admin)

    def __enter__(self) -> _Sides:
        return self

    def __exit__(self, *error: object) -> None:
        self.source.__exit__(*error)
        self.target.__exit__(*error)

    def glance(self, links: FlowLinks) -> Survey:
        return glance(self._flow, links, self.source, self.target)

    def survey(self, links: FlowLinks) -> Survey:
        return survey(self._flow, links, self.source, self.target)

    def plan(self, look: Callable[[FlowLinks], Survey]) -> HandoverPlan:
        parts = tuple(self._plan_part(links, look(links)) for links in self._parts)
        return HandoverPlan(
            flow=self._flow.id, source=self._flow.source, parts=parts, notices=notices_for(self._flow, parts)
        )

    def _plan_part(self, links: FlowLinks, seen: Survey) -> HandoverPart:
        judgement = judge(self._flow, links, seen)
        evidence, _ = truncated_partitions(links, judgement.ready, seen.source.log_starts)
        positions = {spec.partition: spec.position for spec in judgement.ready}
        cut_off = {p: truncated(links, p, positions[p], why) for p, why in evidence.items()}
        judgement = replace(judgement, stopped={**judgement.stopped, **cut_off})
        asked = taken_over(seen.source.partitions, seen.states.states, seen.control.first_positions)
        stores = read_sync_stores(self._flow, links, self.source, self.target, asked)
        return plan_part(links, seen, judgement, stores)

    def plan_return(self, look: Callable[[FlowLinks], Survey], run: str) -> ReturnPlan:
        parts = tuple(plan_return(links, look(links), run=run) for links in self._parts)
        return ReturnPlan(flow=self._flow.id, parts=parts)

    @contextmanager
    def claimed(self, run: str, say: Say, on_held: str) -> Iterator[list[HeldClaim]]:
        """Hold the claims of both parts: every copy of ours is fenced, and none begins."""
        ensure_internal(self._flow, self.target)
        policy = ClaimPolicy(on_held=on_held, renew_s=self._flow[opt.CLAIM_RENEW_SECONDS])
        with ExitStack() as stack:
            claims = []
            for links in self._parts:
                claim = take_claim(links, Control(links, self.target), run, 0, policy, say)
                stack.callback(claim.release)
                claims.append(claim)
            yield claims

    def require(self, claims: list[HeldClaim]) -> None:
        for links, claim in zip(self._parts, claims, strict=True):
            require_claim(links, Control(links, self.target), claim)

    def require_handed_over(self) -> None:
        direction = read_direction(self.whole, self.target)
        if direction is None or direction.state != "handed-over":
            raise UsageRefused(
                f"{self._flow} is not handed over to MM2: there is nothing to take back",
                next_step=f"airmirror copy '{self._flow}'",
                flow=self._flow.id,
            )

    def refuse_running_mm2(self) -> None:
        """MM2 reads its positions when it starts and writes them as it goes: both want it stopped."""
        group = worker_group(self._flow)
        if self.target.has_members(group):
            raise GroupInUse(
                f"MM2 is running: its Connect group {group} on cluster {self._flow.target} has members",
                next_step="stop MM2 and let it end by itself; after a kill its group is free within 10 seconds",
                cluster=self._flow.target,
                group=group,
            )

    def write_for_mm2(self, plan: HandoverPlan) -> None:
        """Syncs first, and positions: alone each is harmless, since nobody but MM2 goes by them."""
        write_syncs(self._flow, self.whole, self.source, self.target, (s for step in plan.steps for s in step.syncs))
        changed = [found for step in plan.steps if (found := step.connect_offset(plan.source)) is not None]
        write_positions(self._flow, self.whole, self.target, changed)
        for part in plan.parts:
            given: dict[str, dict[int, int]] = {}
            for step in part.steps:
                given.setdefault(step.partition.topic, {})[step.partition.partition] = step.position
            records = [Mm2Positions(flow=part.links.flow_key, topic=t, positions=p) for t, p in given.items()]
            Control(part.links, self.target).write(*records)

    def follow(self, part: ReturnPart, claim: HeldClaim) -> None:
        """First positions before states: killed between the two, the same is done again."""
        control = Control(part.links, self.target)
        control.write(*(step.first for step in part.steps if step.first is not None))
        states = [step.state for step in part.steps if step.state is not None]
        if states:
            writer = StateWriter(part.links, "handover")
            try:
                writer.open(control, claim)
                writer.write(states)
            finally:
                writer.close()

    def turn(self, state: Direction, run: str) -> None:
        by = f"{os.environ.get('AIRMIRROR_RUN_BY', 'airmirror handover')} on {socket.gethostname()}"
        record = FlowState(flow=self.whole.state_key, state=state, operation=run, at_ms=int(time.time() * 1000), by=by)
        Control(self.whole, self.target).write(record)
