"""What a broker of the embedded world is told: its server.properties, from what a test asks of its cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from world.certificates import Certificates

# The door without a lock, for the brokers among themselves and for tests that ask for no security.
PLAINTEXT = "PLAINTEXT"
SASL_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_MODULES = "org.apache.kafka.common.security"


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """Doors beside PLAINTEXT (SSL, SASL_PLAINTEXT, SASL_SSL), who may come in, and whether rights are checked.

    The principal of PLAINTEXT, and of SSL without client certificates, is User:ANONYMOUS. It is a super user,
    because the brokers use it: rights show on the SASL doors, and on SSL with `client_certificates`.
    """

    listeners: tuple[str, ...] = ()
    users: Mapping[str, str] = field(default_factory=dict)
    authorizer: bool = False
    super_users: tuple[str, ...] = ()
    client_certificates: bool = False

    @property
    def needs_certificates(self) -> bool:
        return any("SSL" in name for name in self.listeners)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One broker, which is its cluster's controller too, or one of three."""

    id: int
    data: Path
    controller_port: int
    ports: Mapping[str, int]


def server_properties(
    node: Node,
    nodes: Sequence[Node],
    security: Security,
    certificates: Certificates | None,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """All properties of one broker; what a test gives in `extra` wins."""
    doors = ",".join(f"{name}://127.0.0.1:{port}" for name, port in node.ports.items())
    voters = ",".join(f"{one.id}@127.0.0.1:{one.controller_port}" for one in nodes)
    protocols = ",".join(f"{name}:{name}" for name in node.ports)
    return {
        "process.roles": "broker,controller",
        "node.id": str(node.id),
        "controller.quorum.voters": voters,
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{doors},CONTROLLER://127.0.0.1:{node.controller_port}",
        "advertised.listeners": doors,
        "listener.security.protocol.map": f"{protocols},CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": PLAINTEXT,
        "log.dirs": str(node.data),
        **_small_footprint(replicas=min(3, len(nodes))),
        **(_tls(certificates, required=security.client_certificates) if certificates else {}),
        **_sasl(security),
        **(_authorizer(security) if security.authorizer else {}),
        **extra,
    }


def _small_footprint(replicas: int) -> dict[str, str]:
    internal = {}
    for prefix in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        internal[f"{prefix}.num.partitions"] = "4"
        internal[f"{prefix}.replication.factor"] = str(replicas)
    for prefix in ("transaction.state.log", "share.coordinator.state.topic"):
        internal[f"{prefix}.min.isr"] = str(max(1, replicas - 1))
    return {
        **internal,
        "auto.create.topics.enable": "false",
        "default.replication.factor": str(replicas),
        "min.insync.replicas": str(max(1, replicas - 1)),
        "group.initial.rebalance.delay.ms": "0",
        # A killed broker can register again only when its session is over: 9 s by default.
        "broker.session.timeout.ms": "4000",
        "broker.heartbeat.interval.ms": "500",
        "num.network.threads": "2",
        "num.io.threads": "4",
        "log.cleaner.dedupe.buffer.size": str(16 << 20),
    }


def _tls(certificates: Certificates, *, required: bool) -> dict[str, str]:
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates.server),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.authority),
        "ssl.client.auth": "required" if required else "none",
    }


def _sasl(security: Security) -> dict[str, str]:
    doors = [name.lower() for name in security.listeners if name.startswith("SASL")]
    if not doors:
        return {}
    names = " ".join(f'user_{name}="{password}"' for name, password in security.users.items())
    properties = {"sasl.enabled.mechanisms": ",".join(SASL_MECHANISMS)}
    for door in doors:
        for mechanism in SASL_MECHANISMS:
            module = f"{_MODULES}.plain.PlainLoginModule required {names}"
            if mechanism.startswith("SCRAM"):
                module = f"{_MODULES}.scram.ScramLoginModule required"
            properties[f"listener.name.{door}.{mechanism.lower()}.sasl.jaas.config"] = f"{module};"
    return properties


def _authorizer(security: Security) -> dict[str, str]:
    return {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": ";".join(f"User:{name}" for name in ("ANONYMOUS", *security.super_users)),
        "allow.everyone.if.no.acl.found": "false",
    }
