"""Reads both clusters and plans what the next run of every task would change; writes nothing, not even a claim.

Records are planned as if the topics were made already, since a copy follows them. Groups are planned by what is copied
now: at which offsets the records to come will stand on the target, nobody knows before they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.control import ControlState
from mirror.copy.foresight import foresee
from mirror.copy.gate import read_direction, refusal
from mirror.copy.glance import glance
from mirror.copy.links import links_of
from mirror.copy.plan import pack, slots_wanted
from mirror.copy.spec import FlowLinks
from mirror.copy.survey import Survey, TargetView
from mirror.copy.trouble import truncated
from mirror.copy.witness import truncated_partitions
from mirror.errors import MirrorError
from mirror.groups.checkpoints import checkpoints_topic
from mirror.groups.run import run_checkpoints, run_group_offsets
from mirror.groups.values import GroupPartition
from mirror.heartbeats.emit import heartbeats_topic
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import NewTopic, TopicDescription, TopicPartition
from mirror.operations.flow_plan import FlowPlan, GroupsPlan, HeartbeatsPlan, RecordsPlan, Stretch
from mirror.topics import Creation, TopicPlan, compare_acls, compare_settings, discover
from mirror.topics.acls import acls_switch
from mirror.topics.settings_sync import settings_switch
from mirror.topics.values import unless_off

# The id of a topic that is yet to be made: known to be none of those that were copied to before.
_TO_BE_MADE = "to be made"


def plan_flow(flow: Flow, *, cores: int, say: Callable[[str], None]) -> FlowPlan:
    """What each task would change if it ran next; `cores` is how many Spark would give."""
    links = links_of(flow)
    with Cluster(flow.source, links.source_admin) as source, Cluster(flow.target, links.target_admin) as target:
        say(f"{flow}: looking at topics")
        if (turned := refusal(flow.id, read_direction(links, target))) is not None:
            return _nothing(flow, turned.message)
        topics = discover(flow, source, target) if flow.enabled else None
        heartbeats = _plan_heartbeats(flow, source, target, topics)
        further = tuple(further_topics(flow, target))
        if topics is None:
            off = f"flow {flow.id} is not enabled: nothing but its heartbeat is written"
            return FlowPlan(
                flow=flow.id,
                source=flow.source,
                target=flow.target,
                heartbeats=heartbeats,
                further_topics=further,
                notices=(off,),
            )
        say(f"{flow}: comparing settings and ACLs")
        settings = unless_off(settings_switch(flow), lambda: compare_settings(flow, source, target))
        acls = unless_off(acls_switch(flow), lambda: compare_acls(flow, source, target))
        say(f"{flow}: looking at records")
        survey = glance(flow, links, source, target)
        records = plan_records(flow, links, source, survey, topics, cores)
        has_state = {links.syncs_topic, links.control_topic} <= target.describe(
            [links.syncs_topic, links.control_topic]
        ).keys()
    say(f"{flow}: looking at groups")
    return FlowPlan(
        flow=flow.id,
        source=flow.source,
        target=flow.target,
        topics=topics,
        further_topics=further,
        settings=settings,
        acls=acls,
        records=records,
        groups=_plan_groups(flow, records, has_state=has_state),
        heartbeats=heartbeats,
        notices=tuple(_claim_notices(survey.control)),
    )


def _nothing(flow: Flow, why: str) -> FlowPlan:
    """The plan of a flow that failed over, or was handed to MM2: every task is skipped."""
    beat = HeartbeatsPlan(topic=naming.policy_of(flow).heartbeats_topic(), off=why)
    return FlowPlan(flow=flow.id, source=flow.source, target=flow.target, heartbeats=beat, notices=(why,))


def plan_records(
    flow: Flow, links: FlowLinks, source: Cluster, survey: Survey, topics: TopicPlan, cores: int
) -> RecordsPlan:
    """The stretches that the next copy would bring over, packed into slots as it would pack them."""
    seen = replace(survey, target=after_topics(survey.target, topics))
    judgement, _ = foresee(flow, links, seen, source)
    ready = replace(judgement, ready=tuple(s for s in judgement.ready if s.partition not in judgement.stopped))
    evidence, silent = truncated_partitions(links, ready.due, seen.source.log_starts)
    cut = {
        spec.partition: truncated(links, spec.partition, spec.position, evidence[spec.partition])
        for spec in ready.due
        if spec.partition in evidence
    }
    due = [spec for spec in ready.due if spec.partition not in cut]
    packed = pack(due, 1 if links.is_of_heartbeats else slots_wanted(flow, cores))
    stretches = [
        Stretch(partition=s.partition, remote=s.remote, start=s.position, end=s.end, slot=slot, gap=s.gap)
        for slot, specs in enumerate(packed)
        for s in specs
    ]
    return RecordsPlan(
        stretches=tuple(sorted(stretches, key=lambda stretch: stretch.partition)),
        stopped={**judgement.stopped, **cut},
        waiting=judgement.waiting,
        notices=(*judgement.notices, *(f"{p}: no record is left that proves the log unchanged" for p in silent)),
    )


def after_topics(target: TargetView, plan: TopicPlan) -> TargetView:
    """The target as it is when the plan for topics is carried out."""
    topics, ends = dict(target.topics), dict(target.ends)
    for creation in plan.creations:
        if creation.cluster == plan.target and creation.upstream_topic:
            new = creation.topic
            topics[new.name] = TopicDescription(name=new.name, id=_TO_BE_MADE, partition_count=new.partition_count)
            ends |= {TopicPartition(new.name, number): 0 for number in range(new.partition_count)}
    for growth in plan.growths:
        if growth.topic in topics:
            topics[growth.topic] = replace(topics[growth.topic], partition_count=growth.partition_count)
            added = range(growth.partition_count_now, growth.partition_count)
            ends |= {TopicPartition(growth.topic, number): 0 for number in added}
    return replace(target, topics=topics, ends=ends)


def _plan_heartbeats(flow: Flow, source: Cluster, target: Cluster, topics: TopicPlan | None) -> HeartbeatsPlan:
    option = opt.EMIT_HEARTBEATS_ENABLED
    off = "" if flow[option] else f"{option.name} = false ({flow.origin(option)})"
    records = RecordsPlan()
    if topics is not None:
        links = links_of(flow, heartbeats=True)
        records = plan_records(flow, links, source, glance(flow, links, source, target), topics, 1)
    return HeartbeatsPlan(topic=naming.policy_of(flow).heartbeats_topic(), off=off, records=records)


def further_topics(flow: Flow, target: Cluster) -> Iterable[Creation]:
    """The topics that the groups' and the heartbeats' tasks make where they are missing."""
    wanted: list[NewTopic] = []
    broker_count = target.broker_count()
    if flow.enabled and flow[opt.EMIT_CHECKPOINTS_ENABLED]:
        wanted.append(checkpoints_topic(flow, broker_count)[0])
    if flow[opt.EMIT_HEARTBEATS_ENABLED]:
        wanted.append(heartbeats_topic(flow, broker_count)[0])
    existing = target.describe(topic.name for topic in wanted)
    return [Creation(cluster=flow.target, topic=topic) for topic in wanted if topic.name not in existing]


def _plan_groups(flow: Flow, records: RecordsPlan, *, has_state: bool) -> GroupsPlan | MirrorError:
    if not has_state:
        return GroupsPlan(not_done=("nothing is copied yet: groups can be translated after the first copy",))
    try:
        summary, planned = run_checkpoints(flow, dry_run=True)
        offsets = run_group_offsets(flow, dry_run=True, planned=planned)
    except MirrorError as error:
        return error
    return GroupsPlan(
        checkpoints=planned,
        outcomes=offsets.outcomes,
        failures=summary.failures,
        not_done=tuple(dict.fromkeys(text for text in (summary.not_done, offsets.not_done) if text)),
        after_copy=_after_copy(summary.partitions, records),
    )


def _after_copy(partitions: Iterable[GroupPartition], records: RecordsPlan) -> tuple[str, ...]:
    """Groups whose next record is one that the copy would bring."""
    start = {stretch.partition: stretch.start for stretch in records.stretches}
    waiting = (p for p in partitions if p.partition in start and p.committed.offset >= start[p.partition])
    return tuple(sorted({p.group for p in waiting}))


def _claim_notices(control: ControlState) -> Iterable[str]:
    """Whether another run may be copying; by the control topic alone, since asking the brokers' clock would write."""
    claim = control.claim
    if claim is None:
        return []
    life, _ = control.lives.get(claim.run, (None, 0))
    if life is not None and life.state == "ended":
        return []
    return [f"run {claim.run} ({claim.holder} on {claim.host}) has not said that it ended: it may be copying now"]
