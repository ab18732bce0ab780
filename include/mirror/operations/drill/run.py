"""Carries a drill out: copies of the groups, a real consumer in each, a comparison, and nothing left behind."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed

from mirror.config import Flow
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.copy.state import read_states
from mirror.errors import MirrorError
from mirror.groups.ground import name_remotes, settled_end
from mirror.groups.offsets import carry_out
from mirror.groups.rehearsal import leftovers, remove_copies
from mirror.groups.run import clusters_of
from mirror.groups.summaries import GroupOutcome
from mirror.kafka.group_member import MemberReading, Wanted, read_as_member
from mirror.kafka.groups import GroupCluster
from mirror.kafka.samples import Sample
from mirror.kafka.values import TopicPartition
from mirror.operations.drill.findings import DEEP, Bounds, Rehearsed, bound_of, finding_of
from mirror.operations.drill.plan import DrillPlan, DrillRequest, GroupDrill, plan_on
from mirror.operations.drill.point import measure_point
from mirror.operations.drill.report import DrillReport
from mirror.operations.drill.source import Place, SourceSide, look_at_source, read_places
from mirror.operations.failover_ground import rights_lacking
from mirror.wire.partition_state import PartitionState

log = logging.getLogger(__name__)

Say = Callable[[str], None]


def run_drill(flow: Flow, request: DrillRequest, say: Say = lambda _: None) -> DrillReport:
    """Rehearse a failover of the flow; leaves nothing behind, whatever happens, but for a kill that nobody can catch.

    What such a kill leaves, the next drill of the flow removes.
    """
    links = links_of(flow)
    started_ms = _now_ms()
    with clusters_of(links) as (source, target):
        left = leftovers(flow, target)
        if left:
            say(f"removing {len(left)} groups that an earlier drill left behind")
            remove_copies(target, left)
        states = read_states(links, target, until=settled_end(target, links.syncs)).states
        say(f"asking {flow.source} and {flow.target} how far the copy is")
        point = measure_point(flow, links, states)
        say(f"from here on {flow.source} counts as gone: what {flow.target} has must do")
        begun = time.monotonic()
        plan = plan_on(flow, links, target, request)
        try:
            outcomes = {o.group: o for o in carry_out(target, [group.copy for group in plan.groups])}
            moved_s = time.monotonic() - begun
            bounds = _bounds(flow, plan, states)
            rehearsed = _read_all(links, plan, request, outcomes, bounds, say)
        finally:
            remove_copies(target, plan.copies)
        say(f"comparing what the groups read with {flow.source}")
        # The source is read behind the target: what was copied meanwhile is then on both.
        side = look_at_source(flow, source, target, [group.group for group in plan.groups])
        here = _read_source(flow, links, source, side, plan, request, states)
        rights, rights_known = rights_lacking(flow, plan.ground, target)
    findings = tuple(finding_of(group, rehearsed[group.group], side, here, bounds) for group in plan.groups)
    log.info("drilled flow=%s groups=%d failed=%d", flow.id, len(findings), sum(bool(f.failures) for f in findings))
    return DrillReport(
        flow=flow.id,
        run=request.run,
        started_ms=started_ms,
        ended_ms=_now_ms(),
        point=point,
        moved_s=moved_s,
        groups=findings,
        not_chosen=plan.not_chosen,
        leftovers_removed=len(left),
        told_missing=sum(each.missing for each in plan.ground.standings),
        rights=tuple(right.to_json() for right in rights),
        rights_known=rights_known,
    )


def _bounds(flow: Flow, plan: DrillPlan, states: Mapping[TopicPartition, PartitionState]) -> Bounds:
    """By what is stored on the target, before anything is read."""
    ground = name_remotes(flow, states)
    by_remote = {remote: states[p] for p, remote in ground.remotes.items() if p.topic not in ground.returning}
    return {
        (group.group, remote): bound_of(by_remote.get(remote), group.upstream_offsets[remote], offset)
        for group in plan.groups
        for remote, offset in group.offsets.items()
    }


def _read_all(
    links: FlowLinks,
    plan: DrillPlan,
    request: DrillRequest,
    outcomes: Mapping[str, GroupOutcome],
    bounds: Bounds,
    say: Say,
) -> dict[str, Rehearsed]:
    """A consumer for each group, so many at once; what fails for one group is told with it."""
    stop = threading.Event()

    def read(group: GroupDrill) -> MemberReading:
        wanted = {
            remote: Wanted(request.record_count + min(bound.early_by, DEEP), bound.end)
            for remote in group.offsets
            if (bound := bounds[group.group, remote])
        }
        return read_as_member(
            links.target_consumer, links.target, group.copy.group, wanted, timeout_s=request.patience_s, stop=stop
        )

    rehearsed: dict[str, Rehearsed] = {}
    threads = ThreadPoolExecutor(request.at_once, thread_name_prefix="drill")
    try:
        waiting = {}
        for group in plan.groups:
            error = outcomes[group.copy.group].error
            if error is not None or not group.offsets:
                rehearsed[group.group] = Rehearsed(error=error.message if error else "")
            else:
                waiting[threads.submit(read, group)] = group.group
        for number, future in enumerate(as_completed(waiting), start=1):
            try:
                rehearsed[waiting[future]] = Rehearsed(reading=future.result())
            except MirrorError as error:
                rehearsed[waiting[future]] = Rehearsed(error=error.message)
            say(f"group {number} of {len(waiting)}: {waiting[future]}")
    finally:
        # Also when interrupted: the members must be gone before their groups can be deleted.
        stop.set()
        threads.shutdown(cancel_futures=True)
    return rehearsed


def _read_source(
    flow: Flow,
    links: FlowLinks,
    source: GroupCluster,
    side: SourceSide,
    plan: DrillPlan,
    request: DrillRequest,
    states: Mapping[TopicPartition, PartitionState],
) -> dict[Place, list[Sample]]:
    places = {
        (side.upstream[remote], group.upstream_offsets[remote])
        for group in plan.groups
        for remote in group.offsets
        if remote in side.upstream
    }
    gaps = {partition: state.gaps for partition, state in states.items() if state.gaps}
    return read_places(flow, links, source, side, places, record_count=request.record_count, gaps=gaps)


def _now_ms() -> int:
    return int(time.time() * 1000)
