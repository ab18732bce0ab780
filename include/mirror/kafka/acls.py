"""Who may do what with which topic: ACL bindings read, made and removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from mirror.errors import MirrorError, NotAuthorized
from mirror.kafka.cluster import REQUEST_TIMEOUT_S, Cluster

# Bindings per request: a controller takes at most 10,000 records at once, and answers smaller requests sooner.
BATCH_ACLS = 500
# The code of an error that says so.
NO_AUTHORIZER = "SECURITY_DISABLED"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class TopicAcl:
    """One binding on a topic name; the words are Kafka's: LITERAL, READ, ALLOW."""

    topic: str
    pattern: str
    principal: str
    host: str
    operation: str
    permission: str

    def __str__(self) -> str:
        host = "" if self.host == "*" else f" from {self.host}"
        name = f"{self.topic} (prefix)" if self.pattern == "PREFIXED" else self.topic
        return f"{self.permission} {self.operation} on {name} to {self.principal}{host}"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Right:
    """One binding on topics or groups, as an application meets it."""

    resource: str  # topic | group
    name: str
    pattern: str
    principal: str
    host: str
    operation: str
    permission: str

    def __str__(self) -> str:
        name = f"{self.name} (prefix)" if self.pattern == "PREFIXED" else self.name
        host = "" if self.host == "*" else f" from {self.host}"
        return f"{self.permission} {self.operation} on {self.resource} {name} to {self.principal}{host}"

    def to_row(self) -> tuple[str, ...]:
        return self.resource, self.name, self.pattern, self.principal, self.host, self.operation, self.permission

    @classmethod
    def from_row(cls, row: Sequence[str]) -> Right:
        resource, name, pattern, principal, host, operation, permission = row
        return cls(
            resource=resource,
            name=name,
            pattern=pattern,
            principal=principal,
            host=host,
            operation=operation,
            permission=permission,
        )


def list_rights(cluster: Cluster) -> frozenset[Right] | None:
    """All bindings on topics and groups; None where the cluster has no authorizer."""
    topics = topic_acls(cluster)
    if topics is None:
        return None
    groups = bindings_of(cluster, ResourceType.GROUP, "list ACLs of groups")
    found = {Right(resource="topic", name=acl.topic, **_terms(acl)) for acl in topics}
    return frozenset(found | {Right(resource="group", name=b.name, **_terms(_read(b))) for b in groups})


def _terms(acl: TopicAcl) -> dict[str, str]:
    return {
        "pattern": acl.pattern,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation,
        "permission": acl.permission,
    }


def topic_acls(cluster: Cluster) -> frozenset[TopicAcl] | None:
    """All bindings on topics; None where the cluster is known to have no authorizer."""
    found = _described(cluster)
    if found:
        return found
    # librdkafka passes over the error of this answer: refused and disabled look like "no bindings". Ask elsewhere.
    if not _may_describe(cluster):
        raise NotAuthorized(
            f"could not list ACLs of topics on cluster {cluster.alias}: the principal may not DESCRIBE the cluster",
            next_step="kafka-acls.sh --add --cluster --operation Describe --allow-principal <airmirror's principal>, "
            "or sync.topic.acls.enabled = false",
            cluster=cluster.alias,
        )
    return None if _lacks_authorizer(cluster) else found


def _may_describe(cluster: Cluster) -> bool:
    request = cluster._client.describe_cluster(include_authorized_operations=True, request_timeout=REQUEST_TIMEOUT_S)
    described: Any = cluster._wait("ask for our rights", request)
    return AclOperation.DESCRIBE in (described.authorized_operations or ())


def _lacks_authorizer(cluster: Cluster) -> bool:
    """Whether every broker says so; one that does not tell its settings may have one."""
    try:
        said = cluster.broker_setting("authorizer.class.name")
    except NotAuthorized:
        return False
    return bool(said) and not any(said)


def _described(cluster: Cluster) -> frozenset[TopicAcl]:
    found = bindings_of(cluster, ResourceType.TOPIC, "list ACLs of topics")
    return frozenset(_read(binding) for binding in found)


def bindings_of(cluster: Cluster, kind: ResourceType, action: str) -> Any:
    """Every binding on a kind of resource, as the client gives it; `action` is for the error."""
    # None stands for anything, whatever the client's types say.
    anything: Any = None
    wanted = AclBindingFilter(
        kind,
        anything,
        ResourcePatternType.ANY,
        anything,
        anything,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    future = cluster._client.describe_acls(wanted, request_timeout=REQUEST_TIMEOUT_S)
    return cluster._wait(action, future)


def create_acls(cluster: Cluster, acls: Iterable[TopicAcl]) -> dict[TopicAcl, MirrorError | None]:
    """Make each binding; per binding None or the error."""
    outcomes: dict[TopicAcl, MirrorError | None] = {}
    for batch in _batches(sorted(acls)):
        request = cluster._client.create_acls([_binding(acl) for acl in batch], request_timeout=REQUEST_TIMEOUT_S)
        for binding, future in request.items():
            acl = _read(binding)
            outcomes[acl] = cluster._outcome(f"create ACL {acl}", future, ())
    return outcomes


def delete_acls(cluster: Cluster, acls: Iterable[TopicAcl]) -> dict[TopicAcl, MirrorError | None]:
    """Remove each binding and nothing else; per binding None or the error, one that is gone being none."""
    outcomes: dict[TopicAcl, MirrorError | None] = {}
    for batch in _batches(sorted(acls)):
        request = cluster._client.delete_acls([_exactly(acl) for acl in batch], request_timeout=REQUEST_TIMEOUT_S)
        for wanted, future in request.items():
            acl = _read(wanted)
            outcomes[acl] = cluster._outcome(f"delete ACL {acl}", future, ())
    return outcomes


def _read(binding: Any) -> TopicAcl:
    return TopicAcl(
        topic=binding.name,
        pattern=binding.resource_pattern_type.name,
        principal=binding.principal,
        host=binding.host,
        operation=binding.operation.name,
        permission=binding.permission_type.name,
    )


def _fields(acl: TopicAcl) -> tuple[Any, ...]:
    return (
        ResourceType.TOPIC,
        acl.topic,
        ResourcePatternType[acl.pattern],
        acl.principal,
        acl.host,
        AclOperation[acl.operation],
        AclPermissionType[acl.permission],
    )


def _binding(acl: TopicAcl) -> AclBinding:
    return AclBinding(*_fields(acl))


def _exactly(acl: TopicAcl) -> AclBindingFilter:
    return AclBindingFilter(*_fields(acl))


def _batches(acls: Sequence[TopicAcl]) -> Iterator[Sequence[TopicAcl]]:
    return (acls[start : start + BATCH_ACLS] for start in range(0, len(acls), BATCH_ACLS))
