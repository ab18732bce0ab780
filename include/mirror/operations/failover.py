"""Failover: applications go on at the target, and nothing of the flow moves behind their backs.

Planned: the source is silent, everything is copied, groups stand exactly where they stood. Unplanned: the source is
gone and not asked anything; what it had when it was last seen tells what is missing. Killed anywhere and run again,
it goes on where it was (docs/decisions/0014-failover-and-failback.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from mirror.config import Flow
from mirror.copy.execution import Executor, InProcessExecutor
from mirror.copy.gate import refusal
from mirror.copy.progress import Progress, SilentProgress
from mirror.errors import FlowNotForward, StillWritten, UsageRefused
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.kafka.cluster import Cluster
from mirror.operations.drain import Drain
from mirror.operations.failover_ground import (
    TargetGround,
    checkpoints_as_of_now,
    last_sign_of_life,
    rights_lacking,
    survey_target,
)
from mirror.operations.failover_plan import (
    PLANNED,
    TITLES,
    UNPLANNED,
    FailoverRequest,
    refuse_returning,
    target_of,
    unplanned_if_unreachable,
)
from mirror.operations.failover_report import FailoverReport
from mirror.operations.made_there import note_topics
from mirror.operations.steps import Facts, Journal, Step, alone, fitting
from mirror.operations.turning import turn
from mirror.verify import run_verify
from mirror.wire.flow_state import FlowState, Operation


def run_failover(
    flow: Flow,
    request: FailoverRequest,
    progress: Progress | None = None,
    *,
    executor: Callable[[], Executor] = lambda: InProcessExecutor(2),
) -> FailoverReport:
    """Fail over, or go on with a failover that was begun; a finished one is only told again."""
    if request.planned and not flow.enabled:
        raise UsageRefused(f"flow {flow.id} is not enabled: nothing was copied along it", flow=flow.id)
    with target_of(flow) as target:
        return _Failover(flow, request, progress or SilentProgress(), target, executor).run()


class _Failover:
    def __init__(
        self,
        flow: Flow,
        request: FailoverRequest,
        progress: Progress,
        target: Cluster,
        executor: Callable[[], Executor],
    ) -> None:
        self._flow = flow
        self._request = request
        self._progress = progress
        self._target = target
        self._journal = Journal(flow, target)
        self._drain = Drain(flow, progress, executor, silence_s=request.silence_s)

    def run(self) -> FailoverReport:
        with alone(self._flow, self._target, self._progress.say):
            known = self._journal.open("failover")
            direction = self._journal.direction
            refuse_returning(self._flow, direction)
            if direction is not None and not direction.is_forward and not self._journal.is_under_way:
                return self._told_again(known, direction)
            if self._request.planned and not self._journal.is_under_way:
                self._progress.say(TITLES["look"])
                with unplanned_if_unreachable(self._flow):
                    self._drain.look(self._request.producers_still_write)
            self._journal.begin("failover", asdict(self._request))
            self._journal.carry_out(self._steps(), self._progress.say)
            return self._report()

    def _told_again(self, known: Operation | None, direction: FlowState) -> FailoverReport:
        if known is None or "report" not in known.facts:
            raise refusal(self._flow.id, direction) or FlowNotForward(f"{self._flow.id} is turned")
        self._progress.say(f"{self._flow} failed over before: this is the report of {known.operation}")
        return FailoverReport.from_json(known.facts["report"])

    def _steps(self) -> list[Step]:
        acts = {"turn": self._turn, "drain": self._copy_rest, "verify": self._verify, "groups": self._move_groups}
        names = PLANNED if self._request.planned else UNPLANNED
        return [Step(name=name, title=TITLES[name], act=acts[name]) for name in names]

    @property
    def _operation(self) -> str:
        return self._journal.operation.operation

    def _turn(self) -> Facts:
        turn(self._flow, self._target, "failed-over", self._operation, self._progress.say)
        note_topics(self._flow, self._target, self._journal.control, self._operation)
        return {}

    def _copy_rest(self) -> Facts:
        try:
            note = self._drain.to_the_end(self._operation, self._request.producers_still_write)
        except StillWritten:
            self._go_forward_again("the source still got records")
            raise
        return {"notes": [note] if note else []}

    def _verify(self) -> Facts:
        newest = self._request.verify_newest
        if not newest:
            return {"verified": {"summary": "not asked for"}}
        found = run_verify(self._flow, newest=newest, parts=(), say=self._progress.say)
        if not found.is_equal:
            self._go_forward_again("the newest records of both sides differ")
            found.raise_if_different()
        return {
            "verified": {
                "summary": f"{found.record_count:,} of the newest records are equal on both sides",
                "records": found.record_count,
                "newest": newest,
            }
        }

    def _go_forward_again(self, reason: str) -> None:
        """Nothing was moved yet: a flow that stays where it is must not stay shut."""
        turn(self._flow, self._target, "forward", self._operation, self._progress.say)
        self._journal.finish({"given_up": reason})

    def _move_groups(self) -> Facts:
        notes = []
        if self._request.planned:
            checkpoints, _ = run_checkpoints(self._flow, operation=self._operation)
            notes = [f"group {group}: {error.message}" for group, error in checkpoints.failures.items()]
            summary = run_group_offsets(self._flow, operation=self._operation)
        else:
            ground = survey_target(self._flow, self._target)
            found = checkpoints_as_of_now(self._flow, ground, self._target)
            summary = run_group_offsets(self._flow, planned=found, source_is_gone=True, operation=self._operation)
        groups, left_out = fitting([outcome.to_json() for outcome in summary.outcomes])
        if left_out:
            notes.append(f"{left_out} more groups were looked at, and are not listed")
        known = list(self._journal.facts.get("notes", ()))
        return {"groups": groups, "groups_not_moved_reason": summary.not_done, "notes": [*known, *notes]}

    def _report(self) -> FailoverReport:
        ground = survey_target(self._flow, self._target)
        rights, rights_known = rights_lacking(self._flow, ground, self._target)
        facts, known = self._journal.facts, self._journal.operation
        points = [each.recovery_point_ms for each in ground.standings]
        worst_first = sorted(ground.standings, key=lambda each: -each.missing)
        partitions, not_listed = fitting([each.to_json() for each in worst_first])
        report = FailoverReport(
            flow=self._flow.id,
            source=self._flow.source,
            target=self._flow.target,
            operation=known.operation,
            mode=self._request.mode,
            started_ms=known.started_ms,
            finished_ms=int(time.time() * 1000),
            recovery_point_ms=min((at for at in points if at is not None), default=None),
            source_alive_ms=last_sign_of_life(self._flow),
            missing_at_least=sum(each.missing for each in ground.standings),
            partitions=tuple(partitions),
            partitions_not_listed=not_listed,
            groups=tuple(facts.get("groups", ())),
            groups_not_moved_reason=facts.get("groups_not_moved_reason", ""),
            verified=facts.get("verified", {"summary": "not done: the source was not asked"}),
            rights=tuple(fitting([right.to_json() for right in rights])[0]),
            rights_known=rights_known,
            notes=tuple(facts.get("notes", ())),
            commands=self._commands(facts, ground),
        )
        self._journal.finish({"report": report.to_json()})
        return report

    def _commands(self, facts: Facts, ground: TargetGround) -> tuple[str, ...]:
        """What a person types next: groups that only they can move, and the way home."""
        servers = ground.links.target_admin["bootstrap.servers"]
        wanted = {known.place: known for known in checkpoints_as_of_now(self._flow, ground, self._target)}
        resets = []
        for group in facts.get("groups", ()):
            for left in group["left_alone"] if group["outcome"] == "left alone" else ():
                known = next((k for (g, p), k in wanted.items() if g == group["group"] and p == _place(left)), None)
                if known is not None and "has members" in left["reason"]:
                    resets.append(
                        f"kafka-consumer-groups.sh --bootstrap-server {servers} --group {group['group']} --topic "
                        f"{left['topic']}:{left['partition']} --reset-offsets --to-offset "
                        f"{known.checkpoint.downstream_offset} --execute   # once its consumers are stopped"
                    )
        return (
            *resets,
            "airmirror flows",
            f"airmirror failback '{self._flow.id}' --dry-run   # when {self._flow.source} is back",
        )


def _place(left: Mapping[str, Any]) -> tuple[str, int]:
    return left["topic"], left["partition"]
