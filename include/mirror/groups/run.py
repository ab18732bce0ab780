"""The two tasks of a flow's groups: `checkpoints` translates and tells, `sync_group_offsets` writes into groups.

Between them lies the checkpoints topic on the target, so that the second needs no source: in the disaster it is gone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.gate import require_forward
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.errors import UsageRefused
from mirror.groups.checkpoints import GroupRemote, Known, plan_checkpoints, read_checkpoints, write_checkpoints
from mirror.groups.discovery import discover_groups
from mirror.groups.exact import answer_all
from mirror.groups.ground import Ground, name_remotes, survey_ground
from mirror.groups.offsets import as_planned, carry_out, look_at_target, plan_group_offsets
from mirror.groups.summaries import CheckpointSummary, GroupOutcome, OffsetSummary
from mirror.groups.translation import stored_answer
from mirror.groups.values import Answer, GroupPartition, GroupsFound
from mirror.kafka.groups import GroupCluster

log = logging.getLogger(__name__)

NO_CHECKPOINTS = "emit.checkpoints.enabled is false: no checkpoints, and as in MM2 no group offsets without them"
NO_SYNC = "sync.group.offsets.enabled is false: no group on the target was written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """The groups of the source, each partition with its answer, and what it was answered from."""

    found: GroupsFound
    partitions: tuple[GroupPartition, ...]
    ground: Ground


@contextmanager
def clusters_of(links: FlowLinks) -> Iterator[tuple[GroupCluster, GroupCluster]]:
    with (
        GroupCluster(links.source, links.source_admin) as source,
        GroupCluster(links.target, links.target_admin) as target,
    ):
        yield source, target


def translate_groups(
    flow: Flow, links: FlowLinks, source: GroupCluster, target: GroupCluster, *, only: str | None = None
) -> Translated:
    """Where every group of the source goes on, or one of them; writes nothing."""
    found = discover_groups(flow, source, only=only)
    return translate_found(flow, links, source, target, found)


def translate_found(
    flow: Flow, links: FlowLinks, source: GroupCluster, target: GroupCluster, found: GroupsFound
) -> Translated:
    """The same for groups whose offsets were read already."""
    places = {(p, committed.offset) for offsets in found.groups.values() for p, committed in offsets.items()}
    ground = survey_ground(flow, links, source, target, {partition for partition, _ in places})
    answers = answer_all(flow, links, source, ground, places)
    partitions = tuple(
        GroupPartition(
            group=group,
            partition=partition,
            remote=(remote := ground.remotes.get(partition, partition)),
            committed=committed,
            answer=answers[partition, committed.offset],
            remote_topic_id=ground.target_topics[remote.topic].id if remote.topic in ground.target_topics else "",
        )
        for group, offsets in sorted(found.groups.items())
        for partition, committed in sorted(offsets.items())
    )
    return Translated(found=found, partitions=partitions, ground=ground)


def run_checkpoints(
    flow: Flow, *, only: str | None = None, dry_run: bool = False, operation: str = ""
) -> tuple[CheckpointSummary, tuple[Known, ...]]:
    """Translate and write the checkpoints that are due; gives those written, or that a dry run would write."""
    if not flow[opt.EMIT_CHECKPOINTS_ENABLED]:
        return CheckpointSummary(flow=flow.id, not_done=NO_CHECKPOINTS), ()
    started = time.monotonic()
    links = links_of(flow)
    with clusters_of(links) as (source, target):
        require_forward(links, target, operation)
        translated = translate_groups(flow, links, source, target, only=only)
        if only is not None:
            refuse_missing(flow, only, translated.found)
        known = read_checkpoints(flow, links, target)
        planned = plan_checkpoints(translated.partitions, known, _past(translated, known))
        if not dry_run:
            require_forward(links, target, operation)
            write_checkpoints(flow, links, target, planned, at_ms=translated.found.at_ms)
    summary = CheckpointSummary(
        flow=flow.id,
        partitions=translated.partitions,
        written=len(planned),
        filtered=translated.found.filtered,
        left_out=translated.found.left_out,
        failures=translated.found.failures,
    )
    log.info(
        "checkpoints flow=%s groups=%d partitions=%d written=%d took=%.1fs",
        flow.id,
        len(summary.groups),
        len(summary.partitions),
        summary.written,
        time.monotonic() - started,
    )
    return summary, planned


def _past(translated: Translated, known: Mapping[GroupRemote, Known]) -> dict[GroupRemote, Answer]:
    """The upstream offsets of checkpoints that do not say which topic they speak of, translated anew."""
    past: dict[GroupRemote, Answer] = {}
    for partition in translated.partitions:
        last = known.get((partition.group, partition.remote))
        if last is not None and not last.topic_id:
            offset = last.checkpoint.upstream_offset
            past[last.place] = stored_answer(translated.ground, partition.partition, offset)
    return past


def run_group_offsets(
    flow: Flow,
    *,
    only: str | None = None,
    rewind: bool = False,
    dry_run: bool = False,
    planned: tuple[Known, ...] = (),
    source_is_gone: bool = False,
    operation: str = "",
) -> OffsetSummary:
    """Move the target's idle groups to their checkpoints; `planned` are checkpoints that a dry run did not write.

    Only what the groups still have on the source is written, so that a group deleted there can be deleted here too;
    where the source is gone, every checkpoint counts.
    """
    not_done = "" if flow[opt.EMIT_CHECKPOINTS_ENABLED] else NO_CHECKPOINTS
    if not flow[opt.SYNC_GROUP_OFFSETS_ENABLED] and not (rewind or source_is_gone or operation):
        not_done = not_done or NO_SYNC
    if not_done:
        return OffsetSummary(flow=flow.id, not_done=not_done)
    started = time.monotonic()
    links = links_of(flow)
    with clusters_of(links) as (source, target):
        require_forward(links, target, operation)
        known = read_checkpoints(flow, links, target) | {k.place: k for k in planned}
        wanted = [k for k in known.values() if only in (None, k.checkpoint.group)]
        unread: tuple[GroupOutcome, ...] = ()
        if not source_is_gone:
            found = discover_groups(flow, source, only=only)
            living = _living(flow, found)
            wanted = [k for k in wanted if k.place in living]
            unread = tuple(GroupOutcome(group=group, error=error) for group, error in found.failures.items())
        plans = plan_group_offsets(wanted, look_at_target(target, wanted), rewind=rewind)
        if not dry_run:
            require_forward(links, target, operation)
        outcomes = as_planned(plans) if dry_run else carry_out(target, plans)
    summary = OffsetSummary(flow=flow.id, outcomes=(*outcomes, *unread))
    counts = {word: len(summary.of(word)) for word in ("moved", "left alone", "failed")}
    log.info("group offsets flow=%s %s took=%.1fs", flow.id, counts, time.monotonic() - started)
    return summary


def _living(flow: Flow, found: GroupsFound) -> set[GroupRemote]:
    """The groups and remote partitions that still have an offset on the source."""
    remotes = name_remotes(flow, {p for offsets in found.groups.values() for p in offsets}).remotes
    return {
        (group, remotes[partition])
        for group, offsets in found.groups.items()
        for partition in offsets
        if partition in remotes
    }


def refuse_missing(flow: Flow, group: str, found: GroupsFound) -> None:
    """Refuse a group that a person named and that the flow is not about, with the reason."""
    if group in found.groups or group in found.failures:
        return
    reason = found.left_out.get(group) or found.filtered.get(group) or "no such group"
    raise UsageRefused(
        f"group {group} on cluster {flow.source}: {reason}",
        next_step=f"kafka-consumer-groups.sh --list on {flow.source}, and `groups` in the file",
        group=group,
        flow=flow.id,
    )
