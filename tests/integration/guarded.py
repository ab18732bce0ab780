"""Two clusters behind TLS and SCRAM that check every right, and a principal that has what it is granted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from integration.copying import Mirrored, admin
from integration.records import DEADLINE_S
from mirror.operations.preflight.rights import Right
from mirror.operations.preflight.table import rights_of
from world.kafka import KafkaCluster
from world.server_properties import Security

USER, PASSWORD = "airmirror", "a-secret-of-the-test"
PRINCIPAL = f"User:{USER}"
SECURITY = Security(listeners=("SASL_SSL",), users={USER: PASSWORD}, authorizer=True)
_KINDS = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
    "cluster": ResourceType.BROKER,
}


class Guarded(Mirrored):
    """A flow that comes in by the guarded door; the test itself uses the other one."""

    def __init__(self, directory: Path, upstream: KafkaCluster, downstream: KafkaCluster, lines: str = "") -> None:
        login = "".join(
            f"{alias}.bootstrap.servers = {cluster.bootstrap('SASL_SSL')}\n"
            f"{alias}.security.protocol = SASL_SSL\n"
            f"{alias}.sasl.mechanism = SCRAM-SHA-512\n"
            f"{alias}.sasl.jaas.config = org.apache.kafka.common.security.scram.ScramLoginModule required "
            f'username="{USER}" password="{PASSWORD}";\n'
            f"{alias}.ssl.truststore.type = PEM\n"
            f"{alias}.ssl.truststore.location = {cluster.certificates.authority}\n"
            for alias, cluster in (("SOURCE", upstream), ("TARGET", downstream))
        )
        super().__init__(directory, upstream, downstream, f"{login}{lines}")

    @property
    def rights(self) -> tuple[Right, ...]:
        """The rights of the documented table, without those for cases that this flow does not meet."""
        return tuple(right for right in rights_of(self.flow) if right.need != "if met")

    def grant(self, rights: Iterable[Right]) -> None:
        for right in rights:
            client = self._admin(right)  # kept while it works: one that is gone fails its own futures
            for future in client.create_acls([AclBinding(*_fields(right))], request_timeout=DEADLINE_S).values():
                future.result(DEADLINE_S)

    def revoke(self, right: Right) -> None:
        client = self._admin(right)
        for future in client.delete_acls([AclBindingFilter(*_fields(right))], request_timeout=DEADLINE_S).values():
            assert len(future.result(DEADLINE_S)) == 1, f"{right} was not granted"

    def _admin(self, right: Right) -> AdminClient:
        return admin(self.upstream if right.side == "source" else self.downstream)


def _fields(right: Right) -> tuple[object, ...]:
    resource = right.resource
    return (
        _KINDS[resource.kind],
        resource.name,
        ResourcePatternType.PREFIXED if resource.prefixed else ResourcePatternType.LITERAL,
        PRINCIPAL,
        "*",
        AclOperation[right.operation],
        AclPermissionType.ALLOW,
    )
