"""Writes what a person decided about a topic that cannot go on by itself: under the claim, all of it or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.claim import ClaimPolicy, HeldClaim, take_claim
from mirror.copy.control import Control
from mirror.copy.gate import require_forward
from mirror.copy.glance import glance
from mirror.copy.judge import judge
from mirror.copy.links import links_of
from mirror.copy.result import CopyResult, PartitionResult
from mirror.copy.resume_plan import ResumePlan, ResumeRequest, plan_resume
from mirror.copy.spec import FlowLinks
from mirror.copy.state_writer import StateWriter
from mirror.copy.survey import Survey, survey
from mirror.copy.witness import truncated_partitions
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.topics import ensure_internal
from mirror.wire import control as wire

log = logging.getLogger(__name__)


def preview(flow: Flow, request: ResumeRequest, run: str) -> ResumePlan:
    """What a resume would do now; nothing is claimed or written."""
    return _Resume(flow, request, run).preview()


def resume(
    flow: Flow,
    request: ResumeRequest,
    run: str,
    *,
    agree: Callable[[ResumePlan], bool],
    say: Callable[[str], None],
    on_held: str = "wait",
) -> ResumePlan | None:
    """Plan once more with the flow in our hands, ask, write; None when the answer is no."""
    return _Resume(flow, request, run).carry_out(agree, say, on_held)


class _Resume:
    def __init__(self, flow: Flow, request: ResumeRequest, run: str) -> None:
        self._flow = flow
        self._request = request
        self._run = run
        heartbeats = naming.policy_of(flow).is_heartbeats(request.topic)
        self._links: FlowLinks = links_of(flow, heartbeats=heartbeats)
        self._source = Cluster(flow.source, self._links.source_admin)
        self._target = Cluster(flow.target, self._links.target_admin)
        self._control = Control(self._links, self._target)

    def preview(self) -> ResumePlan:
        return self._plan(glance(self._flow, self._links, self._source, self._target))

    def _plan(self, seen: Survey) -> ResumePlan:
        return plan_resume(self._links, seen, self._request, run=self._run, truncated=self._truncated(seen))

    def _truncated(self, seen: Survey) -> frozenset[TopicPartition]:
        """Partitions whose log was overwritten below the position: offsets alone do not show it."""
        specs = [s for s in judge(self._flow, self._links, seen).ready if s.partition.topic == self._request.topic]
        evidence, _ = truncated_partitions(self._links, specs, seen.source.log_starts)
        return frozenset(evidence)

    def carry_out(
        self, agree: Callable[[ResumePlan], bool], say: Callable[[str], None], on_held: str
    ) -> ResumePlan | None:
        ensure_internal(self._flow, self._target)
        policy = ClaimPolicy(on_held=on_held, renew_s=self._flow[opt.CLAIM_RENEW_SECONDS])
        claim = take_claim(self._links, self._control, self._run, 0, policy, say)
        writer = StateWriter(self._links, "resume")
        try:
            writer.open(self._control, claim)
            require_forward(self._links, self._target)
            plan = self._plan(survey(self._flow, self._links, self._source, self._target))
            if not agree(plan):
                return None
            self._write(writer, plan)
            self._control.write(self._result(claim, plan))
        finally:
            writer.close()
            claim.release()
        log.info("resumed flow=%s topic=%s partitions=%d", self._flow, self._request.topic, len(plan.steps))
        return plan

    def _write(self, writer: StateWriter, plan: ResumePlan) -> None:
        # First, and harmless alone: without it, the next run would set the partitions behind MM2's old position again.
        self._control.write(*(self._followed(p, at) for p, at in plan.mm2_positions.items()))
        writer.write(step.state for step in plan.steps)

    def _followed(self, partition: TopicPartition, position: int) -> wire.FirstPosition:
        return wire.FirstPosition(
            flow=self._links.flow_key,
            topic=partition.topic,
            partition=partition.partition,
            position=position,
            source_topic_id="",
            chosen_by="mm2",
        )

    def _result(self, claim: HeldClaim, plan: ResumePlan) -> wire.RunResult:
        """On record beside the copies: who reads a partition's newest mention sees that it goes on."""
        partitions = tuple(
            PartitionResult(
                partition=step.partition,
                remote=step.remote,
                start=step.position,
                end=step.then,
                gaps=(step.gap,) if step.gap else (),
            )
            for step in plan.steps
        )
        document = CopyResult(flow=self._flow.id, run=self._run).to_json()
        document |= {"partitions": [p.to_json() for p in partitions], "resumed": True}
        return wire.RunResult(
            flow=self._links.flow_key, run_number=claim.claim.run_number, run=self._run, document=document
        )
