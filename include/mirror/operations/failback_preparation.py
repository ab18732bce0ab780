"""The plan of a failback, put on record: decisions, topics that the source lost, states that no longer hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.claim import ClaimPolicy, take_claim
from mirror.copy.control import Control
from mirror.copy.links import links_of
from mirror.copy.points import reached
from mirror.copy.spec import FlowLinks
from mirror.copy.state_writer import StateWriter
from mirror.errors import LogTruncated, MirrorError
from mirror.kafka.cluster import Cluster
from mirror.kafka.presence import record_runs
from mirror.kafka.values import NewTopic, TopicPartition
from mirror.operations.failback_ground import return_links, survey_sides
from mirror.operations.failback_plan import (
    BothSides,
    Log,
    PartitionReturn,
    mended,
    mended_return,
    plan_partition,
    survivor_runs,
)
from mirror.operations.failback_points import Points, points_of, records_of
from mirror.topics.replication import replication_factor
from mirror.topics.settings import settings_rule
from mirror.topics.visibility import wait_until_visible
from mirror.wire.control import FirstPosition
from mirror.wire.partition_state import PartitionState

# Runs of survivors named one by one for a partition; the rest are counted.
RUNS_LISTED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What was decided and found; notes, survivors and new topics are plain JSON, to be kept and told."""

    notes: list[str]
    new_topics: list[dict[str, Any]]
    survivors: list[dict[str, Any]] = field(default_factory=list)


def prepare(flow: Flow, home: Flow, source: Cluster, target: Cluster, control: Control, operation: str) -> Prepared:
    """Decide once, then make the source ready; gives notes, and the survivors with their offsets."""
    links = links_of(flow)
    sides, points, notes = _decide(flow, home, source, target, control, operation)
    survivors = list_survivors(flow, links, sides, points)
    new_topics = [each.to_json() for each in sides.made_there]
    sides = survey_sides(flow, home, source, target)
    _mend(flow, home, sides, points, source, target, operation)
    control.write(*_first_positions(links, sides, points))
    return Prepared(notes=notes, new_topics=new_topics, survivors=survivors)


def prepare_late(
    flow: Flow, home: Flow, source: Cluster, target: Cluster, control: Control, operation: str
) -> Prepared:
    """The same for topics and partitions that were made behind the first look; no log of these has been copied from."""
    before, points, notes = _decide(flow, home, source, target, control, operation)
    sides = survey_sides(flow, home, source, target)
    control.write(*_first_positions(links_of(flow), sides, points))
    return Prepared(notes=notes, new_topics=[each.to_json() for each in before.made_there])


def _decide(
    flow: Flow, home: Flow, source: Cluster, target: Cluster, control: Control, operation: str
) -> tuple[BothSides, Points, list[str]]:
    """Put a decision about every partition on record that has none yet, and make what the source lacks."""
    sides = survey_sides(flow, home, source, target)
    decided = points_of(sides.control, operation)
    plans = plan_all(sides, [p for p in sides.partitions if p not in decided])
    # A topic's decisions are one record: those that stand are written with the new ones.
    touched = {plan.partition.topic for plan in plans}
    kept = [plan for partition, plan in decided.items() if partition.topic in touched]
    control.write(*records_of(links_of(flow).state_key, operation, [*kept, *plans]))
    reached("failback-decided")
    points = points_of(control.read(), operation)
    return sides, points, make_source_topics(flow, sides, source, target)


def plan_all(sides: BothSides, partitions: Sequence[TopicPartition]) -> list[PartitionReturn]:
    """The plan of every partition, or all errors at once."""
    found = [plan_partition(sides, partition) for partition in partitions]
    errors = [each for each in found if isinstance(each, MirrorError)]
    if errors:
        raise LogTruncated("\n".join(error.message for error in errors), next_step=errors[0].next_step, flow=sides.flow)
    return [each for each in found if isinstance(each, PartitionReturn)]


def list_survivors(flow: Flow, links: FlowLinks, sides: BothSides, points: Points) -> list[dict[str, Any]]:
    """The records on the source that were never copied, by their offsets; not those that a return put there."""
    ranges = {
        p: (max(point.survivors_start, sides.source_starts[p]), min(point.survivors_end, sides.source_ends[p]))
        for p, point in points.items()
        if p in sides.source_starts and p in sides.source_ends
    }
    found = record_runs(links.source_consumer, flow.source, ranges, isolation_level=flow.isolation_level)
    listed = []
    for partition, runs in sorted(found.items()):
        own = survivor_runs(sides, points[partition], runs)
        if own:
            listed.append(
                {
                    "topic": partition.topic,
                    "partition": partition.partition,
                    "records": sum(end - start for start, end in own),
                    "runs": [{"from": start, "to": end} for start, end in own[:RUNS_LISTED]],
                    "runs_not_listed": len(own[RUNS_LISTED:]),
                }
            )
    return listed


def make_source_topics(flow: Flow, sides: BothSides, source: Cluster, target: Cluster) -> list[str]:
    """Make the topics that the source lost, as their copies are, and grow those that grew there meanwhile."""
    wanted = {
        topic: sides.target_topics[remote] for topic, remote in sides.names.items() if remote in sides.target_topics
    }
    missing = {topic: there for topic, there in wanted.items() if topic not in sides.source_topics}
    smaller = {
        topic: there.partition_count
        for topic, there in wanted.items()
        if topic in sides.source_topics and sides.source_topics[topic].partition_count < there.partition_count
    }
    rule = settings_rule(flow)
    configs = target.configs(there.name for there in missing.values())
    factor, _ = replication_factor(flow, opt.REPLICATION_FACTOR, flow.source, source.broker_count())
    new = [
        NewTopic(
            name=topic,
            partition_count=there.partition_count,
            replication_factor=factor,
            configs={
                name: entry.value
                for name, entry in configs.get(there.name, {}).items()
                if rule.is_copied(entry) and entry.value is not None
            },
        )
        for topic, there in missing.items()
    ]
    outcomes = {**source.create_topics(new), **source.grow_topics(smaller)}
    for error in outcomes.values():
        if error is not None:
            raise error
    counts = {topic.name: topic.partition_count for topic in new} | smaller
    for late in wait_until_visible(source, counts).values():
        raise late
    return [f"topic {topic} was made on {flow.source} as it is on {flow.target}, without its ACLs" for topic in missing]


def _mend(
    flow: Flow, home: Flow, sides: BothSides, points: Points, source: Cluster, target: Cluster, operation: str
) -> None:
    """States of partitions whose log on the source is another one now: only what is still true stays."""
    forward: list[PartitionState] = []
    back: list[PartitionState] = []
    for partition, point in points.items():
        topic = sides.source_topics.get(partition.topic)
        if point.log not in (Log.TAIL_LOST, Log.REBUILT) or topic is None:
            continue
        if partition in sides.states:
            forward.append(mended(sides.states[partition], point, topic.id, operation))
        if point.remote in sides.return_states:
            back.append(mended_return(sides.return_states[point.remote], point, topic.id, operation))
    # The way back first: a forward state that says "copied up to here" must not outlive what the return knows.
    write_states(home, return_links(home, {}), source, back, operation)
    write_states(flow, links_of(flow), target, forward, operation)


def write_states(
    flow: Flow, links: FlowLinks, cluster: Cluster, states: Sequence[PartitionState], operation: str
) -> None:
    """Write states under the claim of their flow, all of them or none."""
    if not states:
        return
    control = Control(links, cluster)
    policy = ClaimPolicy(on_held="take-over", renew_s=flow[opt.CLAIM_RENEW_SECONDS])
    claim = take_claim(links, control, operation, 0, policy, lambda _: None)
    writer = StateWriter(links, "failback")
    try:
        writer.open(control, claim)
        writer.write(states)
    finally:
        writer.close()
        claim.release()


def _first_positions(links: FlowLinks, sides: BothSides, points: Points) -> list[FirstPosition]:
    """Partitions that were never copied: begun at their survivors, whatever their remote partition holds by now."""
    return [
        FirstPosition(
            flow=links.flow_key,
            topic=partition.topic,
            partition=partition.partition,
            position=point.survivors_start,
            source_topic_id=sides.source_topics[partition.topic].id,
            chosen_by="failback",
        )
        for partition, point in sorted(points.items())
        if partition not in sides.states and partition.topic in sides.source_topics
    ]
