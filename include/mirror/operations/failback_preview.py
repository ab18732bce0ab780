"""What a failback would do: read by a person, shown in a form, agreed to; nothing is changed by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mirror.config import Flow
from mirror.copy.links import links_of
from mirror.kafka.cluster import Cluster
from mirror.operations.failback_ground import survey_sides
from mirror.operations.failback_plan import Log, PartitionReturn
from mirror.operations.failback_points import points_of
from mirror.operations.failback_preparation import list_survivors, plan_all
from mirror.operations.failback_request import STEPS, TITLES, FailbackRequest, is_over, require_failed_over
from mirror.operations.made_there import section_of
from mirror.operations.report import Section
from mirror.operations.steps import Journal

# Rows of a table that a person still reads.
ROWS_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FailbackPlan:
    """Both sides as a failback finds them now."""

    flow: str
    state: str
    # The operation that would be taken up, and the steps that it has done; empty for a new one.
    operation: str
    done: tuple[str, ...]
    survivors_choice: str
    partitions: tuple[PartitionReturn, ...]
    survivors: tuple[Mapping[str, Any], ...]
    # Why nothing would be done; empty where something would.
    idle: str = ""
    source: str = ""
    target: str = ""
    new_topics: tuple[Mapping[str, Any], ...] = ()

    @property
    def to_return(self) -> int:
        return sum(each.to_return for each in self.partitions)

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow,
            "state": self.state,
            "operation": self.operation,
            "steps": [{"step": s, "title": TITLES[s], "done": s in self.done} for s in STEPS],
            "offsets_to_return": self.to_return,
            "partitions": [each.to_json() for each in self.partitions],
            "survivors": list(self.survivors),
            "survivors_choice": self.survivors_choice,
            "idle": self.idle,
            "new_topics": list(self.new_topics),
        }

    def sections(self) -> tuple[Section, ...]:
        """The plan as a person reads it."""
        if self.idle:
            return (Section(heading=f"Failback of {self.flow}, which is {self.state}", text=(self.idle,)),)
        steps = tuple((TITLES[name], "done before" if name in self.done else "") for name in STEPS)
        returns = tuple(
            (str(each.remote), str(each.partition), f"{each.boundary:,}", f"{each.to_return:,}", each.log.value)
            for each in sorted(self.partitions, key=lambda each: -each.to_return)
            if each.to_return or each.log in (Log.REBUILT, Log.TAIL_LOST)
        )
        survivors = tuple(
            (f"{each['topic']}-{each['partition']}", f"{each['records']:,}", _runs(each)) for each in self.survivors
        )
        found = (
            Section(heading=f"Failback of {self.flow}, which is {self.state}", headings=("step", ""), rows=steps),
            Section(
                heading="What would return",
                text=() if returns else ("nothing was written on the target",),
                headings=("from", "to", "behind offset", "offsets, at most", "the source's log"),
                rows=returns[:ROWS_MAX],
            ),
            section_of(self.new_topics, self.source, self.target, ROWS_MAX),
            Section(
                heading=f"Survivors on the source: {self.survivors_choice}",
                text=() if survivors else ("none",),
                headings=("partition", "records", "offsets"),
                rows=survivors[:ROWS_MAX],
            ),
        )
        return tuple(section for section in found if section is not None)


def _runs(survivors: Mapping[str, Any]) -> str:
    return ", ".join(f"[{run['from']}, {run['to']})" for run in survivors["runs"][:10])


def plan_failback(flow: Flow, home: Flow, request: FailbackRequest) -> FailbackPlan:
    """Look at both sides, and say what would be done."""
    links = links_of(flow)
    with Cluster(flow.source, links.source_admin) as source, Cluster(flow.target, links.target_admin) as target:
        sides = survey_sides(flow, home, source, target)
        journal = Journal(flow, target)
        known = journal.adopt("failback", sides.control)
        under_way = known if known is not None and journal.is_under_way else None
        is_done = is_over(known, journal.direction)
        if under_way is None and not is_done:
            require_failed_over(flow.id, journal.direction)
        points = points_of(sides.control, under_way.operation) if under_way else {}
        rest = plan_all(sides, [p for p in sides.partitions if p not in points])
        plans = tuple(sorted([*points.values(), *rest], key=lambda plan: plan.partition))
        survivors = list_survivors(flow, links, sides, {plan.partition: plan for plan in plans})
    return FailbackPlan(
        flow=flow.id,
        state=sides.control.direction.state if sides.control.direction else "forward",
        operation=under_way.operation if under_way else "",
        done=under_way.done if under_way else (),
        survivors_choice=request.survivors,
        partitions=plans,
        survivors=tuple(survivors),
        idle=f"{flow.id} came back before: nothing would be done, its report would be told again." if is_done else "",
        source=flow.source,
        target=flow.target,
        new_topics=tuple(each.to_json() for each in sides.made_there),
    )
