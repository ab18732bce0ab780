"""Copy the rights of readers to remote topics: MM2's mapping, and opt-in the way back.

A binding of the source is copied if it is on a topic by its whole name (LITERAL; `*` is such a name) that the flow
selects, and does not allow WRITE: remote topics have one writer. The topic gets its remote name, ALLOW ALL becomes
ALLOW READ, all else stays. Topics need not exist. MM2 never removes a binding; `airmirror.acls.prune` does.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.errors import MirrorError, TopicRefused, TryAgain
from mirror.kafka.acls import NO_AUTHORIZER, TopicAcl, topic_acls
from mirror.kafka.cluster import Cluster
from mirror.kafka.forwarding import admin_of
from mirror.selection import Selector
from mirror.topics.values import TopicFailure, joint_failure

log = logging.getLogger(__name__)

EVERY_TOPIC = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class AclPlan:
    """The bindings to make on the target, and those that the source no longer has; these stay unless `prunes`."""

    flow: str
    target: str
    grants: tuple[TopicAcl, ...] = ()
    stale: tuple[TopicAcl, ...] = ()
    prunes: bool = False
    notices: tuple[str, ...] = ()
    mapped_count: int = 0

    @property
    def revocations(self) -> tuple[TopicAcl, ...]:
        return self.stale if self.prunes else ()

    def to_json(self) -> dict[str, Any]:
        return {
            "mapped_count": self.mapped_count,
            "grant": [asdict(acl) for acl in self.grants],
            "revoke": [asdict(acl) for acl in self.revocations],
            "stale": [asdict(acl) for acl in self.stale],
            "notices": list(self.notices),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AclSummary:
    """What carrying out such a plan changed, and what was refused."""

    flow: str
    granted: tuple[TopicAcl, ...]
    revoked: tuple[TopicAcl, ...]
    failures: tuple[TopicFailure, ...]
    notices: tuple[str, ...]
    mapped_count: int

    def failure(self) -> MirrorError | None:
        return joint_failure(self.flow, self.failures)

    def to_json(self) -> dict[str, Any]:
        return {
            "mapped_count": self.mapped_count,
            "granted": [asdict(acl) for acl in self.granted],
            "revoked": [asdict(acl) for acl in self.revoked],
            "failed": [failure.to_json() for failure in self.failures],
            "notices": list(self.notices),
        }


def compare_acls(flow: Flow, source: Cluster, target: Cluster) -> AclPlan:
    """Read both sides' bindings on topics; changes nothing. A cluster without an authorizer has none to compare."""
    upstream = topic_acls(source)
    if not upstream:
        # Not told apart on all clusters, and the same to us. To prune by it would be to close every remote topic.
        lacks = "no authorizer" if upstream is None else "no ACLs on topics"
        return _nothing(flow, f"cluster {flow.source} has {lacks}: none are copied, none removed")
    downstream = topic_acls(target)
    if downstream is None:
        return _nothing(flow, _unguarded(flow.target))
    return plan_acls(Selector(flow), upstream, downstream, source_topics=source.topic_names())


def _nothing(flow: Flow, notice: str) -> AclPlan:
    log.info("acls flow=%s %s", flow.id, notice)
    return AclPlan(flow=flow.id, target=flow.target, notices=(notice,))


def _unguarded(cluster: str) -> str:
    return f"cluster {cluster} has no authorizer: no ACLs are copied (sync.topic.acls.enabled = false silences this)"


def plan_acls(
    selector: Selector, upstream: Iterable[TopicAcl], downstream: Collection[TopicAcl], *, source_topics: Iterable[str]
) -> AclPlan:
    """What the target lacks and what it has too much; a pure function of what was read."""
    flow = selector.flow
    upstream = tuple(upstream)
    mapped = {remote for acl in upstream if (remote := remote_acl(acl, selector)) is not None}
    known = frozenset(source_topics)
    stale = {acl for acl in downstream if acl not in mapped and _could_be_ours(acl, selector, known)}
    prefixed = sum(acl.pattern == "PREFIXED" for acl in upstream)
    notices = [f"{prefixed} PREFIXED bindings of {flow.source} are not copied, as in MM2"] if prefixed else []
    if stale and not flow[opt.ACLS_PRUNE]:
        notices.append(
            f"{len(stale)} bindings on remote topics have no counterpart on {flow.source} and stay, as in MM2; "
            f"{opt.ACLS_PRUNE.name} = true removes them"
        )
    return AclPlan(
        flow=flow.id,
        target=flow.target,
        grants=tuple(sorted(mapped - frozenset(downstream))),
        stale=tuple(sorted(stale)),
        prunes=flow[opt.ACLS_PRUNE],
        notices=tuple(notices),
        mapped_count=len(mapped),
    )


def remote_acl(acl: TopicAcl, selector: Selector) -> TopicAcl | None:
    """The binding's copy on the target; None if it is not copied."""
    if acl.pattern != "LITERAL" or (acl.permission, acl.operation) == ("ALLOW", "WRITE"):
        return None
    if not _is_selected(acl.topic, selector):
        return None
    name = selector.policy.format_remote_topic(selector.flow.source, acl.topic)
    reads = (acl.permission, acl.operation) == ("ALLOW", "ALL")
    return replace(acl, topic=name, operation="READ" if reads else acl.operation)


def _is_selected(topic: str, selector: Selector) -> bool:
    """MM2's rule for topics; a remote name that Kafka would not take for a topic, as `A.*`, is no obstacle here."""
    decision = selector.decide(topic)
    return decision.selected or decision.refused


def _could_be_ours(acl: TopicAcl, selector: Selector, source_topics: frozenset[str]) -> bool:
    """Whether the mapping could have made the binding, on a name that is this flow's.

    Only what allows: a DENY that was set by hand looks like a copied one, and removing it would open a topic.
    """
    if acl.pattern != "LITERAL" or acl.permission != "ALLOW" or acl.operation in ("WRITE", "ALL"):
        return False
    policy, source = selector.policy, selector.flow.source
    upstream = policy.upstream_topic(acl.topic)
    if upstream is None or policy.topic_source(acl.topic) != source:
        return False
    # Where names stay the same, a name alone does not tell a remote topic from the target's own.
    is_remote = upstream != acl.topic or upstream in source_topics
    is_ours = policy.format_remote_topic(source, upstream) == acl.topic and acl.topic != EVERY_TOPIC
    return is_remote and is_ours and _is_selected(upstream, selector)


def apply_acls(plan: AclPlan, target: Cluster) -> AclSummary:
    """Make what is missing, then remove what is stale if the file says so; each binding by itself."""
    admin, wanted = admin_of(target), plan.grants
    created = admin.create_acls(wanted) if wanted else {}
    unguarded = []
    if any(error is not None and error.about.get("code") == NO_AUTHORIZER for error in created.values()):
        # A broker that does not tell its settings tells it now.
        wanted, unguarded = (), [_unguarded(plan.target)]
    granted, refused = _carried_out(plan, wanted, created, "granted")
    removed = admin.delete_acls(plan.revocations) if plan.revocations else {}
    revoked, kept = _carried_out(plan, plan.revocations, removed, "revoked")
    return AclSummary(
        flow=plan.flow,
        granted=granted,
        revoked=revoked,
        failures=(*refused, *kept),
        notices=(*plan.notices, *unguarded),
        mapped_count=plan.mapped_count,
    )


def _carried_out(
    plan: AclPlan, wanted: Sequence[TopicAcl], outcomes: Mapping[TopicAcl, MirrorError | None], done: str
) -> tuple[tuple[TopicAcl, ...], tuple[TopicFailure, ...]]:
    failures = []
    for acl in wanted:
        error = outcomes.get(acl)
        if error is None:
            log.info("%s flow=%s cluster=%s %s", done, plan.flow, plan.target, acl)
            continue
        if not isinstance(error, TryAgain):
            error = TopicRefused(error.message, next_step=error.next_step, cluster=plan.target, topic=acl.topic)
        failures.append(TopicFailure(cluster=plan.target, topic=acl.topic, error=error))
    return tuple(acl for acl in wanted if outcomes.get(acl) is None), tuple(failures)


def acls_switch(flow: Flow) -> str:
    """Why this flow's ACLs are not copied; empty if they are."""
    option = opt.SYNC_TOPIC_ACLS_ENABLED
    return "" if flow[option] else f"{option.name} = false ({flow.origin(option)})"
