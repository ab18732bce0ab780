"""Are both clusters there, are they two, and are their brokers new enough?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.errors import MirrorError
from mirror.kafka.cluster import Cluster
from mirror.kafka.rights import About, about
from mirror.kafka.versions import ApiVersions, api_versions, release_of
from mirror.operations.preflight.checks import Check, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ability:
    """What brokers before a release cannot do, and what that means here."""

    api: int
    version: int
    release: str
    status: Status
    lost: str
    next_step: str = ""


_UPGRADE = "upgrade the brokers"
_BOTH = (
    _Ability(api=3, version=10, release="2.8", status="warning",
        lost="they have no topic ids: a topic that is deleted and made again is not noticed"),
    _Ability(api=3, version=8, release="2.3", status="warning", lost="they do not tell rights"),
)  # fmt: skip
_TARGET = (
    _Ability(api=22, version=0, release="0.11", status="failed", lost="they have no transactions", next_step=_UPGRADE),
    _Ability(api=61, version=0, release="2.8", status="warning",
        lost="the cluster must also allow IDEMPOTENT_WRITE, or writing state is refused"),
)  # fmt: skip
_SETTINGS = _Ability(api=44, version=0, release="2.3", status="failed", lost="single settings cannot be altered",
    next_step=f"{opt.SYNC_TOPIC_CONFIGS_ENABLED.name} = false, or {_UPGRADE}")  # fmt: skip


def reach(cluster: Cluster) -> tuple[About | None, Check]:
    """The cluster's own words, and whether it answered at all."""
    try:
        told = about(cluster)
    except MirrorError as error:
        subject = f"{cluster.alias} can be reached"
        return None, Check(
            area="clusters", subject=subject, status="failed", reason=error.message, next_step=error.next_step
        )
    brokers = "1 broker" if told.broker_count == 1 else f"{told.broker_count} brokers"
    reason = f"cluster {told.cluster_id}, {brokers}"
    return told, Check(area="clusters", subject=f"{cluster.alias} can be reached", status="ok", reason=reason)


def check_identity(flow: Flow, source: About, target: About) -> Check:
    """A flow between two names of one cluster would copy its topics onto itself, again and again."""
    subject = "the clusters are two"
    if source.cluster_id != target.cluster_id:
        return Check(area="clusters", subject=subject, status="ok", reason="their ids differ")
    return Check(
        area="clusters",
        subject=subject,
        status="failed",
        reason=f"{flow.source} and {flow.target} are both cluster {source.cluster_id}: "
        "the flow would copy the cluster onto itself",
        next_step=f"correct {flow.source}.bootstrap.servers or {flow.target}.bootstrap.servers",
    )


def check_versions(flow: Flow, alias: str, settings: Mapping[str, Any], *, is_target: bool) -> Iterator[Check]:
    """How new the brokers are at least, and what is not detected on older ones."""
    try:
        versions = api_versions(alias, settings)
    except MirrorError as error:
        yield Check(area="clusters", subject=f"{alias}: version", status="unknown", reason=error.message)
        return
    if not versions:
        yield Check(area="clusters", subject=f"{alias}: version", status="unknown", reason="its brokers did not say it")
        return
    lost = list(_lost(flow, versions, is_target=is_target))
    release = release_of(versions)
    if not lost:
        reason = f"brokers are of {release} or newer" if release else "brokers know all that is needed"
        yield Check(area="clusters", subject=f"{alias}: version", status="ok", reason=reason)
    for ability in lost:
        reason = f"brokers are older than {ability.release}: {ability.lost}"
        yield Check(
            area="clusters",
            subject=f"{alias}: version",
            status=ability.status,
            reason=reason,
            next_step=ability.next_step,
        )


def _lost(flow: Flow, versions: ApiVersions, *, is_target: bool) -> Iterator[_Ability]:
    wanted = [*_BOTH, *(_TARGET if is_target else ())]
    if is_target and flow.enabled and flow[opt.SYNC_TOPIC_CONFIGS_ENABLED]:
        wanted.append(_SETTINGS)
    return (ability for ability in wanted if versions.get(ability.api, -1) < ability.version)
