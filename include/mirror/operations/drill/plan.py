"""What a drill would do: which groups, where their copies would stand, and what a failover would leave alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.driver import new_run_id
from mirror.copy.gate import require_forward
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.errors import UsageRefused
from mirror.groups.checkpoints import Known
from mirror.groups.discovery import GroupSelector
from mirror.groups.offsets import GroupPlan, look_at_target, plan_group_offsets
from mirror.groups.rehearsal import copy_of, leftovers
from mirror.kafka.groups import GroupCluster
from mirror.kafka.values import TopicPartition
from mirror.operations.failover_ground import TargetGround, checkpoints_as_of_now, survey_target


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillRequest:
    """Which groups to rehearse (None: every one that has a checkpoint), and how deep to look."""

    groups: re.Pattern[str] | None = None
    run: str = field(default_factory=new_run_id)
    # Records that each group reads of each partition.
    record_count: int = 5
    # Consumers at work at once: each is a few threads and connections.
    at_once: int = 8
    # Seconds for one group to join, and to read its first records.
    patience_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDrill:
    """One group: its copy's name and offsets as a failover would set them, and what would happen to the real group."""

    group: str
    copy: GroupPlan
    upstream_offsets: dict[TopicPartition, int]
    # What a failover would say of the group itself: it has members on the target, it is ahead there.
    left_alone: tuple[str, ...] = ()

    @property
    def offsets(self) -> dict[TopicPartition, int]:
        return {move.partition: move.offset for move in self.copy.moves}

    @property
    def without_offset(self) -> dict[TopicPartition, str]:
        """Partitions that get none, and why."""
        return {left.partition: left.reason for left in self.copy.left}

    def to_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "copy": self.copy.group,
            "partitions": [
                {"topic": p.topic, "partition": p.partition, "upstream_offset": self.upstream_offsets[p], "offset": at}
                for p, at in sorted(self.offsets.items())
            ],
            "without_offset": {str(p): reason for p, reason in sorted(self.without_offset.items())},
            "left_alone": list(self.left_alone),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillPlan:
    """What a drill would do; nothing was written for it, and the source was not asked."""

    flow: str
    target: str
    run: str
    groups: tuple[GroupDrill, ...]
    ground: TargetGround
    # Groups with checkpoints that the request leaves out.
    not_chosen: int = 0
    # Copies of an earlier drill that was killed: removed first.
    leftovers: tuple[str, ...] = ()

    @property
    def copies(self) -> tuple[str, ...]:
        return tuple(group.copy.group for group in self.groups)

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow,
            "run": self.run,
            "groups": [group.to_json() for group in self.groups],
            "groups_not_chosen": self.not_chosen,
            "leftovers": list(self.leftovers),
        }


def plan_drill(flow: Flow, request: DrillRequest) -> DrillPlan:
    """Read the target and decide; writes nothing."""
    links = links_of(flow)
    with GroupCluster(links.target, links.target_admin) as target:
        return plan_on(flow, links, target, request)


def plan_on(flow: Flow, links: FlowLinks, target: GroupCluster, request: DrillRequest) -> DrillPlan:
    """The same on an open connection."""
    # A flow that failed over has nothing to rehearse: its groups moved already.
    require_forward(links, target)
    _require_checkpoints(flow)
    selector = GroupSelector(flow)
    ground = survey_target(flow, target)
    found = checkpoints_as_of_now(flow, ground, target)
    known = [k for k in found if selector.judge_name(k.checkpoint.group)[0]]
    chosen = [k for k in known if request.groups is None or request.groups.fullmatch(k.checkpoint.group)]
    if not chosen:
        raise UsageRefused(_no_group(flow, known, request), next_step=_next_step(flow, known), flow=flow.id)
    copies = {k.checkpoint.group: copy_of(flow, request.run, k.checkpoint.group) for k in chosen}
    renamed = [replace(k, checkpoint=replace(k.checkpoint, group=copies[k.checkpoint.group])) for k in chosen]
    plans = {p.group: p for p in plan_group_offsets(renamed, look_at_target(target, renamed))}
    real = {p.group: p for p in plan_group_offsets(chosen, look_at_target(target, chosen))}
    upstream_offsets: dict[str, dict[TopicPartition, int]] = {group: {} for group in copies}
    for k in chosen:
        upstream_offsets[k.checkpoint.group][k.place[1]] = k.checkpoint.upstream_offset
    groups = tuple(
        GroupDrill(
            group=group,
            copy=plans[copy],
            upstream_offsets=upstream_offsets[group],
            left_alone=_left_alone(real[group], plans[copy]),
        )
        for group, copy in sorted(copies.items())
    )
    return DrillPlan(
        flow=flow.id,
        target=flow.target,
        run=request.run,
        groups=groups,
        ground=ground,
        not_chosen=len({k.checkpoint.group for k in known} - copies.keys()),
        leftovers=leftovers(flow, target),
    )


def _left_alone(real: GroupPlan, copy: GroupPlan) -> tuple[str, ...]:
    """Why a failover would not move the group itself, beyond what holds for its copy too."""
    if real.error is not None:
        return (real.error.message,)
    also = {left.reason for left in copy.left}
    moved = {move.partition: move.offset for move in copy.moves}
    reasons = [
        left.reason
        for left in real.left
        # In place already is where the copy stands too.
        if left.reason not in also and moved.get(left.partition) != left.offset
    ]
    return tuple(dict.fromkeys(reasons))


def _require_checkpoints(flow: Flow) -> None:
    if not flow[opt.EMIT_CHECKPOINTS_ENABLED]:
        raise UsageRefused(
            "emit.checkpoints.enabled is false: a failover would move no group, and there is nothing to rehearse",
            next_step=f"write this line into the file: {flow.id}.emit.checkpoints.enabled = true",
            flow=flow.id,
        )


def _no_group(flow: Flow, known: Iterable[Known], request: DrillRequest) -> str:
    names = sorted({k.checkpoint.group for k in known})
    if not names:
        return f"no group of {flow.source} has a checkpoint on {flow.target}: a failover now would move none"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    pattern = request.groups.pattern if request.groups else ""
    return f"no group with a checkpoint matches {pattern!r}; there are {', '.join(names[:5])}{more}"


def _next_step(flow: Flow, known: Iterable[Known]) -> str:
    if list(known):
        return f"airmirror drill '{flow.id}' with another --groups, or without"
    return f"airmirror groups '{flow.id}', then this again"
