"""What our own principal may do on a cluster: asked of the brokers where they tell, tried where that does no harm."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from confluent_kafka import KafkaError, TopicCollection
from confluent_kafka.admin import AclOperation, ResourcePatternType, ResourceType

from mirror.errors import MirrorError
from mirror.kafka.acls import bindings_of
from mirror.kafka.cluster import BATCH, REQUEST_TIMEOUT_S, Cluster
from mirror.kafka.errors import BUSY, MISSING
from mirror.kafka.writer import BATCH_BYTES, TransactionalWriter

ResourceKind = Literal["topic", "group", "transactional-id", "cluster"]

# As a name in an ACL it stands for every one.
EVERY = "*"
# Seconds for the first answer of a cluster: one that is up takes a fraction of it.
FIRST_ANSWER_S = 15.0

# Seconds to ask again while coordinators load: right after a broker's start they answer for no group.
COORDINATOR_S = 15.0

_NO_GROUP = (KafkaError.GROUP_ID_NOT_FOUND, KafkaError.GROUP_AUTHORIZATION_FAILED)

# What Kafka grants along with each of these.
_BROUGHT_BY: Mapping[str, frozenset[str]] = {
    "DESCRIBE": frozenset({"READ", "WRITE", "DELETE", "ALTER"}),
    "DESCRIBE_CONFIGS": frozenset({"ALTER_CONFIGS"}),
}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Resource:
    """What a right is on: a name, a prefix of names, or with `*` all of a kind."""

    kind: ResourceKind
    name: str
    prefixed: bool = False

    def __str__(self) -> str:
        if self.kind == "cluster":
            return "the cluster"
        if self.name == EVERY:
            return f"every {self.kind}"
        return f"{self.kind}s {self.name}*" if self.prefixed else f"{self.kind} {self.name}"

    @property
    def arguments(self) -> str:
        """As kafka-acls.sh wants it."""
        if self.kind == "cluster":
            return "--cluster"
        pattern = " --resource-pattern-type prefixed" if self.prefixed else ""
        return f"--{self.kind} {shlex.quote(self.name)}{pattern}"

    def matches(self, name: str) -> bool:
        return name.startswith(self.name) if self.prefixed else self.name in (EVERY, name)

    def covers(self, other: Resource) -> bool:
        """Whether what is granted on this one is granted on the other."""
        if self.kind != other.kind:
            return False
        if other.prefixed and not self.prefixed:
            return self.name == EVERY
        return self.matches(other.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a broker says of our rights on one name.

    None where it does not say, as brokers before 2.3: of what we may describe, it would tell that at least.
    """

    operations: frozenset[str] | None = None
    is_there: bool = True
    # We may not even know whether it is there.
    is_hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """A cluster in its own words: its id, its brokers, and what we may do on the cluster as a whole.

    Nothing at all, and a broker before 2.3 that does not tell, look the same here; topics tell them apart.
    """

    cluster_id: str
    broker_count: int
    operations: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Binding:
    """One ACL, on whatever kind of resource; the words are Kafka's."""

    resource: Resource
    principal: str
    host: str
    operation: str
    permission: str


def about(cluster: Cluster) -> About:
    """The first question to a cluster: it shows whether it can be reached, and as whom."""
    request = cluster._client.describe_cluster(include_authorized_operations=True, request_timeout=FIRST_ANSWER_S)
    described: Any = cluster._wait("reach the cluster", request)
    return About(
        cluster_id=str(described.cluster_id),
        broker_count=len(described.nodes),
        operations=_names(described.authorized_operations) or frozenset(),
    )


def topic_standings(cluster: Cluster, names: Iterable[str]) -> dict[str, Standing]:
    """Our rights on each topic; the broker counts what comes with another right, and who is a super user."""
    found: dict[str, Standing] = {}
    wanted = sorted(set(names))
    for start in range(0, len(wanted), BATCH):
        request = cluster._client.describe_topics(
            TopicCollection(wanted[start : start + BATCH]),
            include_authorized_operations=True,
            request_timeout=REQUEST_TIMEOUT_S,
        )
        for name, future in request.items():
            passed = (*MISSING, KafkaError.TOPIC_AUTHORIZATION_FAILED)
            found[name] = _standing(cluster._wait(f"ask for our rights on topic {name}", future, passed))
    return found


def group_standings(cluster: Cluster, names: Iterable[str]) -> dict[str, Standing]:
    """Our rights on each group, whether or not there is one of that name; not known where its coordinator is busy."""
    waiting = sorted(set(names))
    found: dict[str, Standing] = {}
    give_up = time.monotonic() + COORDINATOR_S
    while waiting:
        request = cluster._client.describe_consumer_groups(
            waiting, include_authorized_operations=True, request_timeout=REQUEST_TIMEOUT_S
        )
        waiting = []
        for name, future in request.items():
            answer = cluster._wait(f"ask for our rights on group {name}", future, (*_NO_GROUP, *BUSY))
            found[name] = _standing(answer)
            if isinstance(answer, KafkaError) and answer.code() in BUSY and time.monotonic() < give_up:
                waiting.append(name)
        if waiting:
            cluster._client.poll(0.2)
    return found


def _standing(answer: Any) -> Standing:
    if not isinstance(answer, KafkaError):
        return Standing(operations=_names(answer.authorized_operations))
    if answer.code() in BUSY:
        return Standing()
    hidden = answer.code() in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED)
    return Standing(is_there=False, is_hidden=hidden)


def _names(operations: Iterable[AclOperation] | None) -> frozenset[str] | None:
    return None if operations is None else frozenset(operation.name for operation in operations)


def all_bindings(cluster: Cluster) -> tuple[Binding, ...]:
    """Every ACL of the cluster. Whoever may not DESCRIBE it sees none, without an error: ask for that right first."""
    found = bindings_of(cluster, ResourceType.ANY, "list ACLs")
    return tuple(sorted(_binding(each) for each in found if each.restype in _KINDS))


def _binding(found: Any) -> Binding:
    prefixed = found.resource_pattern_type == ResourcePatternType.PREFIXED
    return Binding(
        resource=Resource(kind=_KINDS[found.restype], name=found.name, prefixed=prefixed),
        principal=found.principal,
        host=found.host,
        operation=found.operation.name,
        permission=found.permission_type.name,
    )


_KINDS: dict[ResourceType, ResourceKind] = {
    ResourceType.TOPIC: "topic",
    ResourceType.GROUP: "group",
    ResourceType.TRANSACTIONAL_ID: "transactional-id",
    ResourceType.BROKER: "cluster",
}


def is_granted(bindings: Iterable[Binding], principal: str, operation: str, resource: Resource) -> bool:
    """Whether these ACLs allow the principal the operation on all of the resource; one that denies any of it wins."""
    sufficient = {operation, "ALL"} | _BROUGHT_BY.get(operation, frozenset())
    granted = False
    for binding in bindings:
        if binding.principal not in (principal, f"User:{EVERY}"):
            continue
        if binding.permission == "DENY":
            meets = binding.resource.covers(resource) or resource.covers(binding.resource)
            if meets and binding.operation in (operation, "ALL"):
                return False
        elif binding.resource.covers(resource) and binding.operation in sufficient:
            granted = True
    return granted


def try_transactional_id(
    alias: str, settings: Mapping[str, Any], transactional_id: str, timeout_ms: int
) -> MirrorError | None:
    """Whether the id may be initialised. No broker tells this; an id that nobody writes with is harmed by nothing."""
    # A refusal is an answer here: the client's own cry about it is not for the terminal.
    quiet = {**settings, "logger": logging.Logger(__name__, logging.CRITICAL + 1)}
    writer = TransactionalWriter(
        alias, quiet, transactional_id=transactional_id, timeout_ms=timeout_ms, batch_bytes=BATCH_BYTES
    )
    try:
        writer.init()
    except MirrorError as error:
        return error
    finally:
        writer.close()
    return None
