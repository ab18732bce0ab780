"""Options of Kafka's Java clients and what each is called in librdkafka; for those without a counterpart, why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mirror.config import types as t
from mirror.config.types import ValueType

Value = str | int | bool
ALL = ("consumer", "producer", "admin")
CONSUMER, PRODUCER = ("consumer",), ("producer",)

_MS = t.whole(least=0, most=2**63 - 1, label="long")
_INT = t.whole(least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOption:
    """One option of a Java client; without `target` it has no counterpart, and `why` says so in plain words.

    `type` is what Java takes; `limits`, what librdkafka does: a value beyond them is brought to the nearest within.
    """

    name: str
    kinds: tuple[str, ...]
    type: ValueType[Any] = t.STRING
    target: str = ""
    convert: Callable[[Any], Value] | None = None
    limits: tuple[int, int] | None = None
    why: str = ""


def _same(
    *names: str,
    kinds: tuple[str, ...] = ALL,
    type_: ValueType[Any] = _INT,
    limits: tuple[int, int] | None = None,
) -> list[ClientOption]:
    return [ClientOption(name=name, kinds=kinds, type=type_, target=name, limits=limits) for name in names]


def _other(
    name: str,
    target: str,
    *,
    kinds: tuple[str, ...] = ALL,
    type_: ValueType[Any] = _INT,
    convert: Callable[[Any], Value] | None = None,
    limits: tuple[int, int] | None = None,
) -> ClientOption:
    return ClientOption(name=name, kinds=kinds, type=type_, target=target, convert=convert, limits=limits)


def _none(why: str, *names: str, kinds: tuple[str, ...] = ALL) -> list[ClientOption]:
    return [ClientOption(name=name, kinds=kinds, why=why) for name in names]


def _kilobytes(size_bytes: int) -> int:
    return -(-size_bytes // 1024)


def _zero_if_negative(number: int) -> int:
    """Java says -1, librdkafka 0, for the system's socket buffers and for connections that never idle out."""
    return max(0, number)


_INT_MAX = 2**31 - 1
_DAY_MS = 86_400_000
_SIZE = t.whole(least=-1)
_RESET = t.one_of("earliest", "latest", any_case=True)
_ISOLATION = t.one_of("read_committed", "read_uncommitted", any_case=True)
_CODEC = t.one_of("none", "gzip", "snappy", "lz4", "zstd", any_case=True)
_LOOKUP = t.one_of("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only", any_case=True)
_RECOVERY = t.one_of("rebootstrap", "none", any_case=True)

_NO_GROUP = "airmirror's consumers join no group"
_OWN_TRANSACTIONS = "airmirror writes in transactions of its own, with acks=all and idempotence"
_BYTES_ONLY = "airmirror copies bytes as they are"
_JVM = "it is about the Java machine; librdkafka is no part of one"
_OPENSSL = "librdkafka leaves it to OpenSSL"
_NOT_THERE = "librdkafka has no such option"

OPTIONS: tuple[ClientOption, ...] = (
    # Every client.
    _other("bootstrap.servers", "bootstrap.servers", type_=t.BOOTSTRAP, convert=",".join),
    ClientOption(name="client.id", kinds=ALL, target="client.id"),
    _other("request.timeout.ms", "socket.timeout.ms", limits=(10, 300_000)),
    _other("connections.max.idle.ms", "connections.max.idle.ms", type_=t.whole(least=-1, most=2**63 - 1, label="long"),
        convert=_zero_if_negative, limits=(0, _INT_MAX)),
    *_same("metadata.max.age.ms", type_=_MS, limits=(1, _DAY_MS)),
    *_same("reconnect.backoff.ms", "reconnect.backoff.max.ms", type_=_MS, limits=(0, 3_600_000)),
    *_same("retry.backoff.ms", "retry.backoff.max.ms", type_=_MS, limits=(1, 300_000)),
    _other("send.buffer.bytes", "socket.send.buffer.bytes", type_=_SIZE, convert=_zero_if_negative,
        limits=(0, 100_000_000)),
    _other("receive.buffer.bytes", "socket.receive.buffer.bytes", type_=_SIZE, convert=_zero_if_negative,
        limits=(0, 100_000_000)),
    *_same("socket.connection.setup.timeout.ms", type_=_MS, limits=(1000, _INT_MAX)),
    *_same("client.dns.lookup", type_=_LOOKUP),
    *_same("metadata.recovery.strategy", type_=_RECOVERY),
    *_same("metadata.recovery.rebootstrap.trigger.ms", type_=_MS, limits=(0, _INT_MAX)),
    *_same("enable.metrics.push", type_=t.BOOL),
    *_none("airmirror bounds each call with admin.timeout.ms", "default.api.timeout.ms"),
    *_none(_NOT_THERE, "metadata.max.idle.ms", "socket.connection.setup.timeout.max.ms", "max.block.ms"),
    *_none(_NOT_THERE, "bootstrap.controllers", kinds=("admin",)),
    *_none("retries are bounded by time, not by number", "retries"),
    *_none(_JVM, "metric.reporters", "metrics.num.samples", "metrics.recording.level", "metrics.sample.window.ms",
        "interceptor.classes", "auto.include.jmx.reporter", "security.providers"),
    # Consumers.
    *_same("fetch.min.bytes", kinds=CONSUMER, limits=(1, 100_000_000)),
    *_same("fetch.max.bytes", kinds=CONSUMER, limits=(1000, 2_147_483_135)),
    *_same("max.partition.fetch.bytes", kinds=CONSUMER, limits=(1, 1_000_000_000)),
    _other("fetch.max.wait.ms", "fetch.wait.max.ms", kinds=CONSUMER, limits=(0, 300_000)),
    *_same("isolation.level", kinds=CONSUMER, type_=_ISOLATION),
    *_same("check.crcs", "allow.auto.create.topics", kinds=CONSUMER, type_=t.BOOL),
    *_same("client.rack", kinds=CONSUMER, type_=t.STRING),
    *_none("librdkafka hands records over as they come", "max.poll.records", kinds=CONSUMER),
    *_none(_BYTES_ONLY, "key.deserializer", "value.deserializer", kinds=CONSUMER),
    *_none(_NO_GROUP, "group.id", "group.instance.id", "group.protocol", "group.remote.assignor",
        "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "partition.assignment.strategy",
        "enable.auto.commit", "auto.commit.interval.ms", "exclude.internal.topics",
        kinds=CONSUMER),
    ClientOption(name="auto.offset.reset", kinds=CONSUMER, type=_RESET,
        why="airmirror resolves first positions itself, by this value, and never lets a client jump"),
    # Producers.
    *_same("batch.size", kinds=PRODUCER, limits=(1, _INT_MAX)),
    *_same("linger.ms", kinds=PRODUCER, type_=_MS, limits=(0, 900_000)),
    _other("buffer.memory", "queue.buffering.max.kbytes", kinds=PRODUCER,
        type_=_MS,
        convert=_kilobytes, limits=(1, _INT_MAX)),
    *_same("compression.type", kinds=PRODUCER, type_=_CODEC),
    _other("compression.gzip.level", "compression.level", kinds=PRODUCER, type_=t.whole(least=-1, most=9)),
    _other("compression.lz4.level", "compression.level", kinds=PRODUCER, type_=t.whole(least=1, most=17),
        limits=(1, 12)),
    _other("compression.zstd.level", "compression.level", kinds=PRODUCER, type_=t.whole(), limits=(-1, 12)),
    _other("max.request.size", "message.max.bytes", kinds=PRODUCER, limits=(1000, 1_000_000_000)),
    *_same("max.in.flight.requests.per.connection", kinds=PRODUCER, type_=t.whole(least=1), limits=(1, 5)),
    *_same("delivery.timeout.ms", kinds=PRODUCER),
    *_none(_OWN_TRANSACTIONS, "acks", "enable.idempotence", "transactional.id", "transaction.timeout.ms",
        "transaction.two.phase.commit.enable", kinds=PRODUCER),
    *_none("a record keeps its partition", "partitioner.class", "partitioner.ignore.keys",
        "partitioner.adaptive.partitioning.enable", "partitioner.availability.timeout.ms", kinds=PRODUCER),
    *_none(_BYTES_ONLY, "key.serializer", "value.serializer", kinds=PRODUCER),
)  # fmt: skip

# Security options are read together (security.py); here are their names, and those without a counterpart.
SECURITY_PROTOCOL = t.one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", any_case=True)
_STORE_TYPES = t.one_of("JKS", "PKCS12", "PEM", any_case=True)
SECURITY: dict[str, ValueType[Any]] = {
    "security.protocol": SECURITY_PROTOCOL,
    "ssl.truststore.type": _STORE_TYPES, "ssl.truststore.location": t.STRING,
    "ssl.truststore.password": t.PASSWORD, "ssl.truststore.certificates": t.PASSWORD,
    "ssl.keystore.type": _STORE_TYPES, "ssl.keystore.location": t.STRING, "ssl.keystore.password": t.PASSWORD,
    "ssl.keystore.key": t.PASSWORD, "ssl.keystore.certificate.chain": t.PASSWORD, "ssl.key.password": t.PASSWORD,
    "ssl.endpoint.identification.algorithm": t.STRING,
    "sasl.mechanism": t.one_of("GSSAPI", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", any_case=True),
    "sasl.jaas.config": t.PASSWORD, "sasl.kerberos.service.name": t.STRING,
    "sasl.kerberos.min.time.before.relogin": _MS,
    "sasl.login.callback.handler.class": t.CLASS, "sasl.oauthbearer.token.endpoint.url": t.STRING,
    "sasl.oauthbearer.scope": t.STRING, "sasl.oauthbearer.client.credentials.client.id": t.STRING,
    "sasl.oauthbearer.client.credentials.client.secret": t.PASSWORD,
}  # fmt: skip
_LOGIN = "librdkafka renews logins by rules of its own"
SECURITY_WITHOUT_COUNTERPART: dict[str, str] = {
    **dict.fromkeys(("ssl.protocol", "ssl.enabled.protocols", "ssl.cipher.suites"), _OPENSSL),
    **dict.fromkeys(("ssl.provider", "ssl.keymanager.algorithm", "ssl.trustmanager.algorithm",
        "ssl.engine.factory.class", "ssl.secure.random.implementation", "ssl.client.auth"), _JVM),
    **dict.fromkeys(("sasl.kerberos.kinit.cmd", "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.ticket.renew.window.factor"), _LOGIN),
    **dict.fromkeys((f"sasl.login.{name}" for name in ("class", "connect.timeout.ms", "read.timeout.ms",
        "refresh.buffer.seconds", "refresh.min.period.seconds", "refresh.window.factor", "refresh.window.jitter",
        "retry.backoff.max.ms", "retry.backoff.ms")), _LOGIN),
    **dict.fromkeys(("sasl.client.callback.handler.class", "sasl.server.callback.handler.class"), _JVM),
    **dict.fromkeys((f"sasl.oauthbearer.{name}" for name in ("clock.skew.seconds", "expected.audience",
        "expected.issuer", "header.urlencode", "iat.validation.enabled", "jwks.endpoint.refresh.ms",
        "jwks.endpoint.retry.backoff.max.ms", "jwks.endpoint.retry.backoff.ms", "jwks.endpoint.url",
        "scope.claim.name", "sub.claim.name",
        "jwt.retriever.class", "jwt.validator.class", "assertion.algorithm", "assertion.claim.aud",
        "assertion.claim.exp.seconds", "assertion.claim.iss",
        "assertion.claim.jti.include", "assertion.claim.nbf.seconds", "assertion.claim.sub", "assertion.file",
        "assertion.private.key.file", "assertion.private.key.passphrase", "assertion.template.file")), _NOT_THERE),
}  # fmt: skip


def find(kind: str, name: str) -> ClientOption | None:
    """The option of one kind of client."""
    return _BY_KIND[kind].get(name)


_BY_KIND = {kind: {option.name: option for option in OPTIONS if kind in option.kinds} for kind in ALL}


def names(kind: str) -> list[str]:
    """Every name that a client of this kind knows."""
    return [*_BY_KIND[kind], *SECURITY, *SECURITY_WITHOUT_COUNTERPART]
