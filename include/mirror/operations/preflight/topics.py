"""Would the target take the flow's topics: their names, their replicas, their settings?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.options import Option
from mirror.errors import MirrorError, NotAuthorized
from mirror.kafka.cluster import Cluster
from mirror.kafka.configs import alter_settings
from mirror.kafka.rights import About
from mirror.naming import ReplicationPolicy
from mirror.operations.preflight.checks import Area, Check
from mirror.topics import Creation, SettingsPlan, TopicPlan
from mirror.topics.changes import NEXT_STEPS
from mirror.topics.replication import replication_factor

# Topics named one by one; what is wrong with hundreds is wrong with the first.
NAMED = 20
# Topics that one request is to check.
BATCH = 200


def check_names(flow: Flow, plan: TopicPlan, policy: ReplicationPolicy, target_topics: Collection[str]) -> list[Check]:
    """Names that the target cannot have, and names that only look as if they came from there."""
    checks = [
        Check(
            area="names",
            subject=f"topic {decision.topic}",
            status="failed",
            reason=decision.reason,
            next_step=f"add {decision.topic} to topics.exclude, or rename it",
        )
        for decision in plan.refused[:NAMED]
    ]
    for decision in plan.decisions:
        upstream = policy.upstream_topic(decision.topic)
        if decision.is_cycle and upstream not in target_topics:
            reason = (
                f"is not copied, because its name begins with {flow.target}, as if it came from there; "
                f"but {flow.target} has no topic {upstream}"
            )
            step = f"rename it or {flow.target}'s alias; if it is not to be copied, add it to topics.exclude"
            subject = f"topic {decision.topic}"
            checks.append(Check(area="names", subject=subject, status="warning", reason=reason, next_step=step))
    if not checks:
        reason = f"{plan.selected_count} of {plan.topic_count} topics are selected, no two share a remote name"
        checks = [Check(area="names", subject="remote names", status="ok", reason=reason)]
    return checks


def check_replicas(flow: Flow, told: Mapping[str, About]) -> Iterator[Check]:
    """Whether the clusters have the brokers for as many replicas as the file asks."""
    for option in _factors(flow):
        cluster = flow.target
        count = told[cluster].broker_count
        factor, notice = replication_factor(flow, option, cluster, count)
        subject = f"{option.name} on {cluster}"
        if factor > count:
            yield Check(
                area="topics",
                subject=subject,
                status="failed",
                reason=f"{factor} ({flow.origin(option)}), but the cluster has {count}: every new topic is refused",
                next_step=f"{option.name} = {count}",
            )
        elif notice:
            yield Check(area="topics", subject=subject, status="warning", reason=notice)
        else:
            yield Check(area="topics", subject=subject, status="ok", reason=f"{factor} of {count} brokers")


def _factors(flow: Flow) -> Iterator[Option[int]]:
    if flow.enabled:
        yield opt.REPLICATION_FACTOR
        yield opt.OFFSET_SYNCS_REPLICATION_FACTOR
        if flow[opt.EMIT_CHECKPOINTS_ENABLED]:
            yield opt.CHECKPOINTS_REPLICATION_FACTOR
    if flow[opt.EMIT_HEARTBEATS_ENABLED]:
        yield opt.HEARTBEATS_REPLICATION_FACTOR


def check_creations(creations: Iterable[Creation], clusters: Mapping[str, Cluster]) -> list[Check]:
    """Let the controllers check the topics that are to be made, without making them."""
    wanted = list(creations)
    refused: dict[str, MirrorError] = {}
    for alias, cluster in clusters.items():
        topics = [creation.topic for creation in wanted if creation.cluster == alias]
        for start in range(0, len(topics), BATCH):
            outcomes = cluster.create_topics(topics[start : start + BATCH], validate_only=True)
            refused |= {name: error for name, error in outcomes.items() if error is not None}
    return _outcomes("topics", "topics to be created", len(wanted), refused)


def check_settings(plan: SettingsPlan, target: Cluster) -> list[Check]:
    """Let the target check the settings that are to be changed, without changing them."""
    by_topic = {d.topic: [e.change for e in plan.differences if e.topic == d.topic] for d in plan.differences}
    outcomes = alter_settings(target, by_topic, validate_only=True)
    refused = {name: error for name, error in outcomes.items() if error is not None}
    return _outcomes("settings", "settings to be changed", len(plan.differences), refused)


def _outcomes(area: Area, subject: str, count: int, refused: Mapping[str, MirrorError]) -> list[Check]:
    # A right that is missing is told among the rights, once and with its command.
    told = {name: error for name, error in refused.items() if not isinstance(error, NotAuthorized)}
    if not refused:
        reason = f"{count}, and the cluster would take them" if count else "none"
        return [Check(area=area, subject=subject, status="ok", reason=reason)]
    checks = [
        Check(
            area=area,
            subject=f"topic {name}",
            status="failed",
            reason=error.message,
            next_step=error.next_step or NEXT_STEPS.get(str(error.about.get("code")), ""),
        )
        for name, error in sorted(told.items())[:NAMED]
    ]
    if len(told) > NAMED:
        checks.append(Check(area=area, subject=subject, status="failed", reason=f"{len(told) - NAMED} more"))
    if len(told) < len(refused):
        reason = f"{len(refused) - len(told)} could not be checked for want of a right"
        checks.append(Check(area=area, subject=subject, status="unknown", reason=reason))
    return checks
