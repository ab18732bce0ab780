"""A copy of a flow from beginning to end: claim, fence, survey, judge, plan, slots, result.

The numbers are those of the protocol (docs/protocol.md).
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.claim import ClaimPolicy, HeldClaim, fence, take_claim
from mirror.copy.control import Control
from mirror.copy.detour import Detour
from mirror.copy.execution import Executor
from mirror.copy.first_positions import decide_first_positions, followed_mm2, undecided
from mirror.copy.gate import check_direction
from mirror.copy.judge import Judgement, foreign_data, judge
from mirror.copy.links import links_of
from mirror.copy.look import Look, look_at, source_ends
from mirror.copy.plan import plan_slots, slots_wanted
from mirror.copy.points import reached
from mirror.copy.progress import Progress, SilentProgress, watch_positions
from mirror.copy.result import CopyResult, PartitionResult, joined
from mirror.copy.spec import FlowLinks, PartitionSpec, SlotSpec
from mirror.copy.survey import Survey, survey
from mirror.copy.trouble import truncated
from mirror.copy.witness import truncated_partitions
from mirror.errors import MirrorError, StopNow
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.records import transformation_of
from mirror.topics import ensure_internal
from mirror.wire import control as wire

log = logging.getLogger(__name__)

# Partitions in a result document: at some 150 to 600 bytes each it stays below the megabyte a record may have.
PARTITIONS_KEPT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRequest:
    """How one run is to go, where the file leaves it open."""

    run: str = field(default_factory=lambda: new_run_id())
    window_s: float = 0.0
    topics: re.Pattern[str] | None = None
    on_held: str = "wait"  # wait | skip | take-over
    heartbeats: bool = False  # copy the heartbeats topics, and nothing else
    detour: Detour | None = None  # what an operation asks of its copies beyond the ordinary
    operation: str = ""  # the operation that this run is part of: while the flow is turned, only its own runs may copy


def new_run_id() -> str:
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"


def run_copy(
    flow: Flow,
    request: CopyRequest,
    executor: Callable[[], Executor],
    progress: Progress | None = None,
) -> CopyResult:
    """Copy what is there; Spark is started only when there is something to copy."""
    run = _Run(flow, request, progress or SilentProgress())
    return run.copy(executor)


class _Run:
    def __init__(self, flow: Flow, request: CopyRequest, progress: Progress) -> None:
        self._flow = flow
        self._request = request
        self._progress = progress
        self._links: FlowLinks = links_of(
            flow, heartbeats=request.heartbeats, route=request.detour.route if request.detour else None
        )
        self._source = Cluster(flow.source, self._links.source_admin)
        self._target = Cluster(flow.target, self._links.target_admin)
        self._control = Control(self._links, self._target)
        self._started = time.monotonic()

    def copy(self, executor: Callable[[], Executor]) -> CopyResult:
        if not self._request.heartbeats and (transformation := transformation_of(self._flow)) is not None:
            transformation.prepare(self._flow.folder)
        ensure_internal(self._flow, self._target)  # 1
        self._progress.say(f"{self._flow}: looking at both clusters")
        seen = look_at(self._flow, self._links, self._source, self._target, self._request.topics)
        check_direction(self._links, seen.survey.control, self._request.operation)
        if not seen.has_work and not self._request.window_s:
            return self._idle(seen)
        workers = executor() if seen.needs_slots or self._request.window_s else None
        slots = slots_wanted(self._flow, workers.slot_count()) if workers else 0
        policy = ClaimPolicy(on_held=self._request.on_held, renew_s=self._flow[opt.CLAIM_RENEW_SECONDS])
        claim = take_claim(self._links, self._control, self._request.run, slots, policy, self._progress.say)  # 2, 3
        try:
            result = self._under_claim(claim, workers, slots)
            self._control.write(self._result_record(claim, result))
        except MirrorError as error:
            if not isinstance(error, StopNow):
                failed = self._result(error=error)
                self._control.write(self._result_record(claim, failed))
            raise
        except KeyboardInterrupt:
            self._abort_what_is_open(claim, slots)
            raise
        finally:
            claim.release()
        return result

    def _abort_what_is_open(self, claim: HeldClaim, slots: int) -> None:
        """An interrupted run's transactions would hide the target's newest records until they time out."""
        newest = self._control.read(start=claim.read_to).claim
        if newest is None or newest.run == self._request.run:  # else they are another run's, which fenced ours
            fence(self._links, slots)

    def _under_claim(self, claim: HeldClaim, workers: Executor | None, slots: int) -> CopyResult:
        seen = survey(self._flow, self._links, self._source, self._target)  # 4
        check_direction(self._links, seen.control, self._request.operation)
        seen, foreign = self._decide_first_positions(seen)
        judgement = judge(self._flow, self._links, seen)  # 5, 6
        judgement = self._only_asked(replace(judgement, stopped={**judgement.stopped, **foreign}))
        judgement = self._check_witnesses(judgement, seen)
        if self._request.detour is not None:
            judgement = replace(judgement, ready=self._request.detour.applied_to(judgement.ready))
        self._control.write(
            *followed_mm2(self._links.flow_key, seen, judgement.ready), *source_ends(self._links, seen.source)
        )
        chosen = judgement.ready if self._request.window_s else judgement.due
        if workers is None or not chosen:
            return self._result(judgement=judgement)
        specs = plan_slots(  # 7
            self._flow,
            self._links,
            chosen,
            run=self._request.run,
            slots=slots,
            window_s=self._request.window_s,
            syncs_read_to=seen.states.read_to,
            control_read_to=claim.read_to,
            operation=self._request.operation,
        )
        reached("planned")
        return self._run_slots(claim, workers, specs, judgement)

    def _run_slots(
        self, claim: HeldClaim, workers: Executor, specs: list[SlotSpec], judgement: Judgement
    ) -> CopyResult:
        self._progress.begin([p for spec in specs for p in spec.partitions])
        positions = watch_positions(self._links, self._target, specs[0].syncs_read_to)

        def watch() -> bool:
            self._progress.update(positions())
            return not claim.lost_to

        slots = workers.run(specs, watch)
        superseded = claim.lost_to or next((s.superseded_by for s in slots if s.superseded_by), "")
        self._progress.end()
        return replace(
            self._result(judgement=judgement, copied=[p for s in slots for p in s.partitions]),
            slots=tuple(slots),
            superseded_by=superseded,
        )

    def _decide_first_positions(self, seen: Survey) -> tuple[Survey, dict[TopicPartition, MirrorError]]:
        """Write first positions before anything is copied: `latest`, decided anew later, would lose records."""
        wanted = undecided(seen)
        foreign: dict[TopicPartition, MirrorError] = {}
        if self._flow[opt.ON_FOREIGN_DATA] == "fail":
            foreign = foreign_data(self._links, seen, wanted)
        decided = decide_first_positions(
            self._flow, self._links.flow_key, seen, self._source, [p for p in wanted if p not in foreign]
        )
        self._control.write(*decided)
        if seen.control.started is None:
            now_ms = seen.source.at_ms
            self._control.write(wire.Started(flow=self._links.flow_key, at_ms=now_ms, run=self._request.run))
        seen.control.first_positions.update({TopicPartition(f.topic, f.partition): f for f in decided})
        return seen, foreign

    def _only_asked(self, judgement: Judgement) -> Judgement:
        topics = self._request.topics
        if topics is None:
            return judgement
        return replace(
            judgement,
            ready=tuple(s for s in judgement.ready if topics.fullmatch(s.partition.topic)),
            stopped={p: e for p, e in judgement.stopped.items() if topics.fullmatch(p.topic)},
            waiting={t: why for t, why in judgement.waiting.items() if topics.fullmatch(t)},
        )

    def _check_witnesses(self, judgement: Judgement, seen: Survey) -> Judgement:
        """Before anything is read on: is each log still the one that was copied?"""
        evidence, silent = truncated_partitions(self._links, judgement.due, seen.source.log_starts)
        stopped = {
            spec.partition: truncated(self._links, spec.partition, spec.position, evidence[spec.partition])
            for spec in judgement.ready
            if spec.partition in evidence
        }
        notices = [f"{partition}: no record is left that proves the log unchanged" for partition in silent]
        return replace(
            judgement,
            ready=tuple(s for s in judgement.ready if s.partition not in evidence),
            stopped={**judgement.stopped, **stopped},
            notices=(*judgement.notices, *notices),
        )

    def _idle(self, seen: Look) -> CopyResult:
        if seen.ends_changed:
            self._control.write(*source_ends(self._links, seen.survey.source))
        return self._result(judgement=self._only_asked(seen.judgement))

    def _result(
        self,
        *,
        judgement: Judgement | None = None,
        copied: list[PartitionResult] | None = None,
        error: MirrorError | None = None,
    ) -> CopyResult:
        done = {p.partition for p in copied or []}
        ready = judgement.ready if judgement else ()
        stopped = judgement.stopped if judgement else {}
        return CopyResult(
            flow=self._flow.id,
            run=self._request.run,
            partitions=joined(
                [
                    *(copied or []),
                    *(_untouched(spec) for spec in ready if spec.partition not in done),
                    *(_stopped(partition, error) for partition, error in stopped.items()),
                ]
            ),
            waiting=judgement.waiting if judgement else {},
            notices=judgement.notices if judgement else (),
            seconds=time.monotonic() - self._started,
            error=error,
        )

    def _result_record(self, claim: HeldClaim, result: CopyResult) -> wire.RunResult:
        return wire.RunResult(
            flow=self._links.flow_key,
            run_number=claim.claim.run_number,
            run=self._request.run,
            document=result.to_json(at_most=PARTITIONS_KEPT),
        )


def _untouched(spec: PartitionSpec) -> PartitionResult:
    return PartitionResult(partition=spec.partition, remote=spec.remote, start=spec.position, end=spec.position)


def _stopped(partition: TopicPartition, error: MirrorError) -> PartitionResult:
    return PartitionResult(partition=partition, remote=partition, start=0, end=0, error=error)
