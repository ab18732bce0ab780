"""Failback: what was written on the target since the failover returns to the source, and only that; then forward again.

Order, boundary and the one rule against loops: docs/decisions/0014-failover-and-failback.md. Killed anywhere and run
again, it goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict

from mirror.config import Flow, known_as
from mirror.copy.execution import Executor, InProcessExecutor
from mirror.copy.progress import Progress, SilentProgress
from mirror.kafka.cluster import Cluster
from mirror.operations.failback_copies import ReturnCopies
from mirror.operations.failback_ground import return_links, survey_sides
from mirror.operations.failback_groups import move_groups_home
from mirror.operations.failback_plan import BothSides
from mirror.operations.failback_points import Points, points_of
from mirror.operations.failback_preparation import prepare, prepare_late
from mirror.operations.failback_report import FailbackReport
from mirror.operations.failback_request import STEPS, TITLES, FailbackRequest, is_over, require_failed_over
from mirror.operations.steps import Facts, Journal, Step, alone, fitting
from mirror.operations.turning import turn, turn_return
from mirror.wire.flow_state import Operation


def run_failback(
    flow: Flow,
    home: Flow,
    request: FailbackRequest,
    progress: Progress | None = None,
    *,
    executor: Callable[[], Executor] = lambda: InProcessExecutor(2),
) -> FailbackReport:
    """Bring a flow that failed over back, or go on with a failback that was begun; `home` is the opposite flow."""
    with (
        Cluster(flow.source, known_as(flow.admin_settings("source"), "failback")) as source,
        Cluster(flow.target, known_as(flow.admin_settings("target"), "failback")) as target,
    ):
        return _Failback(flow, home, request, progress or SilentProgress(), source, target, executor).run()


class _Failback:
    def __init__(
        self,
        flow: Flow,
        home: Flow,
        request: FailbackRequest,
        progress: Progress,
        source: Cluster,
        target: Cluster,
        executor: Callable[[], Executor],
    ) -> None:
        self._flow, self._home = flow, home
        self._request = request
        self._progress = progress
        self._source, self._target = source, target
        self._journal = Journal(flow, target)
        self._executor = executor

    def run(self) -> FailbackReport:
        with alone(self._flow, self._target, self._progress.say):
            known = self._journal.open("failback")
            if is_over(known, self._journal.direction):
                return self._told_again(known)
            if not self._journal.is_under_way:
                require_failed_over(self._flow.id, self._journal.direction)
                survey_sides(self._flow, self._home, self._source, self._target)  # both answer, before anything changes
            self._journal.begin("failback", asdict(self._request))
            self._journal.carry_out(self._steps(), self._progress.say)
            return self._report()

    def _told_again(self, known: Operation | None) -> FailbackReport:
        if known is not None and "report" in known.facts:
            self._progress.say(f"{self._flow} came back before: this is the report of {known.operation}")
            return FailbackReport.from_json(known.facts["report"])
        return self._report()  # killed between its last step and its report

    def _steps(self) -> list[Step]:
        acts: Mapping[str, Callable[[], Facts]] = {
            "turn": self._turn,
            "plan": self._plan,
            "survivors": self._bring_survivors,
            "return": self._return,
            "forward": self._forward,
            "groups": self._groups,
            "release": self._release,
        }
        return [Step(name=name, title=TITLES[name], act=acts[name]) for name in STEPS]

    @property
    def _operation(self) -> str:
        return self._journal.operation.operation

    def _sides(self) -> BothSides:
        return survey_sides(self._flow, self._home, self._source, self._target)

    def _points(self) -> Points:
        return points_of(self._journal.control.read(), self._operation)

    def _turn(self) -> Facts:
        say = self._progress.say
        turn(self._flow, self._target, "returning", self._operation, say)
        turn_return(self._home, return_links(self._home, {}), self._source, "returning", self._operation, say)
        return {}

    def _plan(self) -> Facts:
        found = prepare(self._flow, self._home, self._source, self._target, self._journal.control, self._operation)
        survivors, left_out = fitting(found.survivors)
        new_topics, more = fitting(found.new_topics)
        notes = [*found.notes]
        if left_out:
            notes.append(f"survivors of {left_out} more partitions are not listed")
        if more:
            notes.append(f"{more} more topics were made on {self._flow.target}, and are not listed")
        return {"notes": notes, "survivors": survivors, "new_topics": new_topics}

    def _copies(self) -> ReturnCopies:
        return ReturnCopies(
            flow=self._flow,
            home=self._home,
            source=self._source,
            target=self._target,
            operation=self._operation,
            points=self._points(),
            progress=self._progress,
            executor=self._executor,
        )

    def _bring_survivors(self) -> Facts:
        match self._request.survivors:
            case "copy":
                self._copies().bring_survivors(self._sides())
            case "ignore":
                self._copies().pass_over_survivors(self._sides())
        return {}

    def _return(self) -> Facts:
        late = prepare_late(self._flow, self._home, self._source, self._target, self._journal.control, self._operation)
        count = self._copies().bring_home(
            self._sides, silence_s=self._request.silence_s, may_grow=self._request.producers_still_write
        )
        known = {topic["topic"]: topic for topic in (*self._journal.facts.get("new_topics", ()), *late.new_topics)}
        notes = [*self._journal.facts.get("notes", ()), *late.notes]
        return {"returned": count, "notes": notes, "new_topics": fitting(list(known.values()))[0]}

    def _forward(self) -> Facts:
        return {"copied_forward": self._copies().go_forward(self._sides)}

    def _groups(self) -> Facts:
        points = self._points()
        outcomes, more = move_groups_home(self._flow, self._sides(), points, self._operation)
        groups, left_out = fitting([outcome.to_json() for outcome in outcomes])
        notes = [*self._journal.facts.get("notes", ()), *more]
        if left_out:
            notes.append(f"{left_out} more groups were looked at, and are not listed")
        return {"groups": groups, "notes": notes}

    def _release(self) -> Facts:
        say = self._progress.say
        turn_return(self._home, return_links(self._home, {}), self._source, "forward", self._operation, say)
        turn(self._flow, self._target, "forward", self._operation, say)
        return {}

    def _report(self) -> FailbackReport:
        known, facts = self._journal.operation, self._journal.facts
        sides = self._sides()
        points = self._points()
        rows = [
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "remote_topic": point.remote.topic,
                "log": point.log.value,
                "boundary": point.boundary,
                "position": sides.states[partition].position if partition in sides.states else 0,
            }
            for partition, point in sorted(points.items())
        ]
        listed, not_listed = fitting(rows)
        report = FailbackReport(
            flow=self._flow.id,
            source=self._flow.source,
            target=self._flow.target,
            operation=known.operation,
            started_ms=known.started_ms,
            finished_ms=int(time.time() * 1000),
            survivors_choice=str(known.request.get("survivors", "")),
            survivors=tuple(facts.get("survivors", ())),
            returned=int(facts.get("returned", 0)),
            copied_forward=int(facts.get("copied_forward", 0)),
            partitions=tuple(listed),
            partitions_not_listed=not_listed,
            groups=tuple(facts.get("groups", ())),
            new_topics=tuple(facts.get("new_topics", ())),
            notes=tuple(facts.get("notes", ())),
            commands=(f"airmirror copy '{self._flow.id}'", f"airmirror verify '{self._flow.id}'", "airmirror flows"),
        )
        self._journal.finish({"report": report.to_json()})
        return report
