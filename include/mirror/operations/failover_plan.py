"""What a failover would do: read by a person, shown in a form, agreed to; nothing is changed by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mirror.config import Flow, known_as
from mirror.copy.gate import refusal
from mirror.errors import ClusterUnreachable, FlowNotForward
from mirror.groups.run import run_group_offsets
from mirror.groups.summaries import OffsetSummary
from mirror.kafka.cluster import Cluster
from mirror.operations.failover_ground import TargetGround, checkpoints_as_of_now, rights_lacking, survey_target
from mirror.operations.pages import moment
from mirror.operations.report import Section
from mirror.operations.silence import SILENCE_S
from mirror.operations.steps import Journal
from mirror.wire.flow_state import FlowState

TITLES = {
    "look": "see that the source is silent and everything can be copied",
    "turn": "take the flow, fence every writer, write its state",
    "drain": "copy what is left, to the source's end",
    "verify": "compare the newest records of both sides",
    "groups": "move consumer groups",
    "report": "report",
}
# Rows of a table that a person still reads.
ROWS_MAX = 100
PLANNED = ("turn", "drain", "verify", "groups")
UNPLANNED = ("turn", "groups")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverRequest:
    """How a failover is to go."""

    planned: bool = True
    # Planned: go on although the source still gets records; what comes behind the last copy stays there.
    producers_still_write: bool = False
    silence_s: float = SILENCE_S
    # Records of each partition to compare before groups move; 0 compares none.
    verify_newest: int = 1000

    @property
    def mode(self) -> str:
        return "planned" if self.planned else "unplanned"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverPlan:
    """What a failover would do now; reading it changes nothing."""

    flow: str
    mode: str
    # The operation that would be taken up, with the steps it has done; empty for a new one.
    operation: str
    done: tuple[str, ...]
    steps: tuple[str, ...]
    ground: TargetGround
    groups: tuple[Mapping[str, Any], ...]
    groups_not_moved_reason: str
    rights: tuple[Mapping[str, Any], ...]
    rights_known: str
    # Why nothing would be done; empty where something would.
    idle: str = ""

    @property
    def missing(self) -> int:
        return sum(each.missing for each in self.ground.standings)

    def sections(self) -> tuple[Section, ...]:
        """The plan as a person reads it."""
        steps = tuple((TITLES[name], "done before" if name in self.done else "") for name in self.steps)
        worst = sorted(self.ground.standings, key=lambda each: -each.missing)[:ROWS_MAX]
        missing = tuple(
            (str(each.partition), f"at least {each.missing:,}, as of {moment(each.seen_ms)}")
            for each in worst
            if each.missing
        )
        moves = [(g["group"], _name(m), f"{m['to']:,}") for g in self.groups for m in g["moved"]]
        left = [(g["group"], _name(m), m["reason"]) for g in self.groups for m in g["left_alone"]]
        rights = [(r["principal"], r["operation"], f"{r['resource']} {r['name']}") for r in self.rights]
        return (
            Section(
                heading=f"Failover of {self.flow}, {self.mode}",
                text=(self.idle,) if self.idle else (),
                headings=("step", ""),
                rows=() if self.idle else steps,
            ),
            Section(
                heading=f"Not copied yet: {'to be drained first' if self.mode == 'planned' else 'will be missing'}",
                text=() if missing else ("nothing, as far as was seen",),
                headings=("partition", "offsets"),
                rows=missing,
            ),
            Section(
                heading="Groups that would be moved now",
                text=self._of_groups(bool(moves)),
                headings=("group", "partition", "to"),
                rows=tuple(moves[:ROWS_MAX]),
            ),
            Section(
                heading="Groups left alone",
                text=() if left else ("none",),
                headings=("group", "partition", "why"),
                rows=tuple(left[:ROWS_MAX]),
            ),
            Section(
                heading="Applications that would be refused",
                text=(self.rights_known,) if self.rights_known else (),
                headings=("who", "wants to", "what"),
                rows=tuple(rights[:ROWS_MAX]),
            ),
        )

    def _of_groups(self, has_moves: bool) -> tuple[str, ...]:
        if self.idle or self.groups_not_moved_reason:
            return (self.groups_not_moved_reason or "none",)
        found = () if has_moves else ("none: no group has a checkpoint, or all stand where they would be set",)
        if self.mode == "planned":
            return (*found, "When all is copied, groups are looked at again and set to where they stand then.")
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow,
            "mode": self.mode,
            "operation": self.operation,
            "steps": [{"step": s, "title": TITLES[s], "done": s in self.done} for s in self.steps],
            "missing_at_least": self.missing,
            "partitions": [each.to_json() for each in self.ground.standings],
            "groups": list(self.groups),
            "groups_not_moved_reason": self.groups_not_moved_reason,
            "rights": list(self.rights),
            "rights_known": self.rights_known,
            "idle": self.idle,
        }


def plan_failover(flow: Flow, request: FailoverRequest) -> FailoverPlan:
    """Look at the target, and say what would be done; groups as they would be moved if the source were gone now."""
    with target_of(flow) as target, unplanned_if_unreachable(flow):
        journal = Journal(flow, target)
        ground = _survey(flow, request, target)
        journal.adopt("failover", ground.control)
        found = checkpoints_as_of_now(flow, ground, target)
        under_way = journal.operation.operation if journal.is_under_way else ""
        refuse_returning(flow, ground.control.direction)
        operation = ground.control.direction.operation if ground.control.direction and under_way else ""
        turned = ground.control.direction is not None and not ground.control.direction.is_forward
        groups = (
            OffsetSummary(flow=flow.id)
            if turned and not operation
            else run_group_offsets(flow, dry_run=True, planned=found, source_is_gone=True, operation=operation)
        )
        rights, rights_known = rights_lacking(flow, ground, target)
    return FailoverPlan(
        flow=flow.id,
        mode=request.mode,
        operation=under_way,
        done=journal.operation.done if under_way else (),
        steps=("look", *PLANNED) if request.planned else UNPLANNED,
        ground=ground,
        groups=tuple(outcome.to_json() for outcome in groups.outcomes),
        groups_not_moved_reason=groups.not_done,
        rights=tuple(right.to_json() for right in rights),
        rights_known=rights_known,
        idle=_told_again(flow, ground.control.direction) if turned and not under_way else "",
    )


def _survey(flow: Flow, request: FailoverRequest, target: Cluster) -> TargetGround:
    """Planned, the source is alive: what is left to be copied is asked of it, not of what was last seen."""
    if not request.planned:
        return survey_target(flow, target, waits=False)
    with Cluster(flow.source, flow.admin_settings("source").plain()) as source:
        return survey_target(flow, target, waits=False, source=source)


def _told_again(flow: Flow, direction: FlowState | None) -> str:
    since = moment(direction.at_ms) if direction else ""
    return f"{flow.id} is failed over since {since}: nothing would be done, its report would be told again."


@contextmanager
def unplanned_if_unreachable(flow: Flow) -> Iterator[None]:
    """Who plans for a source that does not answer is told of the way that does not need it."""
    try:
        yield
    except ClusterUnreachable as error:
        if error.about.get("cluster") != flow.source:
            raise
        raise ClusterUnreachable(
            f"{error.message}; a planned failover copies from {flow.source} first",
            next_step=f"if {flow.source} is gone: airmirror failover '{flow.id}' --unplanned (in Airflow: its mode)",
            **error.about,
        ) from error


def target_of(flow: Flow) -> Cluster:
    """The target, under a client id that tells the operation."""
    return Cluster(flow.target, known_as(flow.admin_settings("target"), "failover"))


def refuse_returning(flow: Flow, direction: FlowState | None) -> None:
    """A flow that is being brought home is not failed over in the middle of it, nor one that is MM2's."""
    if direction is not None and direction.state in ("returning", "handed-over"):
        raise refusal(flow.id, direction) or FlowNotForward(f"{flow.id} is on its way back", flow=flow.id)


def _name(place: Mapping[str, Any]) -> str:
    return f"{place['topic']}-{place['partition']}"
