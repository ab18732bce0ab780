"""Where MirrorMaker 1 stopped: the offsets that its consumer group committed on the source."""

from __future__ import annotations

from dataclasses import dataclass

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.control import Control
from mirror.copy.links import links_of
from mirror.errors import GroupInUse, MirrorError
from mirror.groups.run import clusters_of
from mirror.kafka.groups import GroupCluster, Offsets
from mirror.selection import Selector


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOver:
    """The line that makes a first copy go on where MirrorMaker 1 stopped, and what there is to say about it."""

    line: str = ""
    words: str = ""


def take_over(flow: Flow, group: str) -> TakenOver:
    """Ask both clusters: a flow that has begun goes on by itself; else the group's offsets are its first positions.

    A group with members is a MirrorMaker 1 that still runs: two writers would copy each record twice.
    """
    links = links_of(flow)
    with clusters_of(links) as (source, target):
        has_state = links.control_topic in target.describe([links.control_topic])
        if has_state and Control(links, target).read().started is not None:
            return TakenOver(words=f"{flow} was copied before: it goes on where it stopped")
        if not group:
            return TakenOver(words="the consumer's file names no group.id: there is no progress to take over")
        offsets = _committed(flow, source, group)
    if not offsets:
        words = f"group {group} committed nothing in these topics: they begin as auto.offset.reset says"
        return TakenOver(words=words)
    places = ",".join(f"{p.topic}:{p.partition}:{c.offset}" for p, c in sorted(offsets.items()))
    return TakenOver(
        line=f"{opt.START.name} = {places}",
        words=f"taking over from group {group}: its offsets in {len(offsets)} partitions are the first positions",
    )


def _committed(flow: Flow, source: GroupCluster, group: str) -> Offsets:
    """What the group committed in the flow's topics; refused while somebody is in it."""
    idle = source.idle([group])[group]
    committed = source.committed([group])[group]
    for answer in (idle, committed):
        if isinstance(answer, MirrorError):
            raise answer
    if not idle:
        raise GroupInUse(
            f"group {group} has members on {flow.source}: MirrorMaker 1 still runs, and both would copy each record",
            next_step="stop MirrorMaker 1, wait until its group is empty, then run this again",
            group=group,
            cluster=flow.source,
        )
    selector = Selector(flow)
    offsets: Offsets = {} if isinstance(committed, MirrorError) else committed
    return {p: c for p, c in offsets.items() if selector.decide(p.topic).selected}
