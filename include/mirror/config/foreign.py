"""Options that airmirror understands without using them: Connect's, MM2's old names, and names that never existed.

A file that has them is a good file; the table lets us say what becomes of each, instead of calling it unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mirror.config import options as opt
from mirror.config import types as t
from mirror.config.options import Option, Scope, Status
from mirror.config.types import ValueType

_MS = t.whole(most=2**63 - 1, label="long")


def _row(
    name: str, type_: ValueType[Any], default: Any, help_: str, *, scope: Scope = Scope.FLOW, since: str = "2.4"
) -> Option[Any]:
    return Option(name=name, type=type_, default=default, help=help_, scope=scope, since=since, status=Status.NO_EFFECT)


def _gone(name: str, status: Status, help_: str, *, instead: str = "", since: str = "") -> Option[Any]:
    return Option(name=name, type=t.STRING, default=None, help=help_, since=since, status=status, instead=instead)


def _connector() -> Iterable[Option[Any]]:
    """Options of Connect's connectors, all of which airmirror's Dags and Spark jobs make needless."""
    yield _row("name", t.STRING, None, "Connector's name; airmirror has no connectors.")
    yield _row("connector.class", t.STRING, None, "Connector's class; airmirror has no connectors.")
    yield _row("connector.plugin.version", t.STRING, None, "Version of the connector.", since="4.1")
    yield _row("tasks.max.enforce", t.BOOL, True, "Framework's flag, deprecated.", since="3.8")
    for kind in ("key", "value", "header"):
        yield _row(f"{kind}.converter", t.CLASS, None, "Records' bytes are never converted here.")
        yield _row(f"{kind}.converter.plugin.version", t.STRING, None, "Version of the converter.", since="4.1")
    yield _row("config.action.reload", t.STRING, "restart", "What Connect does when a provider's secret expires.")
    yield _row("errors.retry.timeout", _MS, 0, "Retries of converters and transforms.")
    yield _row("errors.retry.delay.max.ms", _MS, 60000, "Delay between them.")
    yield _row("errors.tolerance", t.one_of("none", "all"), "none", "airmirror never skips a record in silence.")
    yield _row("errors.log.enable", t.BOOL, False, "Connect's log of failed records.")
    yield _row("errors.log.include.messages", t.BOOL, False, "Records' contents are never logged here.")
    yield _row("source.cluster.alias", t.STRING, None, "Follows from the flow's name.")
    yield _row("target.cluster.alias", t.STRING, "target", "Follows from the flow's name.")
    yield _row("metric.reporters", t.LIST, ("org.apache.kafka.common.metrics.JmxReporter",), "Java metrics reporters.")
    yield _row("metric.names.formats", t.NON_EMPTY_LIST, ("legacy",), "Names of JMX metrics.", since="4.3")
    yield _row("exactly.once.support", t.one_of("requested", "required", any_case=True), "requested",
        "airmirror always copies exactly once.", scope=Scope.FLOW_ONLY, since="3.3")  # fmt: skip
    yield _row("transaction.boundary", t.one_of("poll", "interval", "connector", any_case=True), "poll",
        "See airmirror.copy.commit.interval.ms.", scope=Scope.FLOW_ONLY, since="3.3")  # fmt: skip
    yield _row("transaction.boundary.interval.ms", _MS, None, "See airmirror.copy.commit.interval.ms.",
        scope=Scope.FLOW_ONLY, since="3.3")  # fmt: skip
    yield _row("offsets.storage.topic", t.STRING, None, "Connector's own offsets topic.",
        scope=Scope.FLOW_ONLY, since="3.3")  # fmt: skip
    for name in ("task.assigned.partitions", "task.assigned.groups", "task.index"):
        yield _row(name, t.STRING, None, "Internal to MM2's tasks.")


def _driver() -> Iterable[Option[Any]]:
    """Options of MM2's process and its internal REST server."""
    driver = Scope.DRIVER
    yield _row("dedicated.mode.enable.internal.rest", t.BOOL, False, "REST between MM2's processes.",
        scope=driver, since="3.5")  # fmt: skip
    yield _row("listeners", t.LIST, ("http://:8083",), "MM2's internal REST.", scope=driver, since="3.5")
    for name in ("access.control.allow.methods", "access.control.allow.origin", "response.http.headers.config"):
        yield _row(name, t.STRING, "", "MM2's internal REST.", scope=driver)
    for name in ("rest.advertised.host.name", "rest.advertised.listener", "ssl.client.auth"):
        yield _row(name, t.STRING, None, "MM2's internal REST.", scope=driver)
    yield _row("rest.advertised.port", t.whole(), None, "MM2's internal REST.", scope=driver)


def _worker() -> Iterable[Option[Any]]:
    """Options of Connect's workers, given as B.x; airmirror has no workers."""
    worker = Scope.WORKER
    for kind, topic, partitions in (("offset", "offsets", 25), ("status", "status", 5), ("config", "configs", 1)):
        yield _row(f"{kind}.storage.topic", t.STRING, f"mm2-{topic}.A.internal",
            "Connect's own topic. Read when taking over from MM2, written by `airmirror handover`."
            if kind == "offset" else "Connect's own topic.",
            scope=worker)  # fmt: skip
        if kind != "config":
            yield _row(f"{kind}.storage.partitions", t.whole(least=-1), partitions, "Its partitions.", scope=worker)
        yield _row(f"{kind}.storage.replication.factor", t.replication_factor("short"), 3,
            "Its replication factor; ours is offset-syncs.topic.replication.factor.", scope=worker)  # fmt: skip
    yield _row("offset.flush.interval.ms", _MS, 60000, "See airmirror.copy.commit.interval.ms.", scope=worker)
    yield _row("offset.flush.timeout.ms", _MS, 5000, "Connect's offset commits.", scope=worker)
    yield _row("exactly.once.source.support", t.one_of("disabled", "preparing", "enabled", any_case=True), "disabled",
        "airmirror always copies exactly once.", scope=worker, since="3.3")  # fmt: skip
    yield _row("group.id", t.STRING, "A-mm2", "Connect's worker group.", scope=worker)
    yield _row("client.id", t.STRING, "A->B", "Connect's workers; clients: ALIAS.consumer.client.id.", scope=worker)
    yield _row("connect.protocol", t.STRING, "sessioned", "Connect's rebalances.", scope=worker)
    yield _row("scheduled.rebalance.max.delay.ms", _MS, 300000, "Connect's rebalances.", scope=worker)
    yield _row("plugin.path", t.STRING, None, "Where Connect finds Java plugins.", scope=worker)
    yield _row("plugin.discovery", t.STRING, "hybrid_warn", "How Connect finds Java plugins.", scope=worker)
    yield _row("topic.creation.enable", t.BOOL, True, "Connect's own topic creation.", scope=worker)
    yield _row("connector.client.config.override.policy", t.STRING, "All", "Connect's overrides.", scope=worker)
    for name in ("session.timeout.ms", "heartbeat.interval.ms", "rebalance.timeout.ms"):
        yield _row(name, _MS, None, "Connect's worker group.", scope=worker)


def _gone_options() -> Iterable[Option[Any]]:
    """Names that no MM2 4.x reads."""
    for old, new in (
        ("topics.blacklist", "topics.exclude"),
        ("groups.blacklist", "groups.exclude"),
        ("config.properties.blacklist", "config.properties.exclude"),
    ):
        yield _gone(old, Status.OLD_NAME, "Deprecated in 2.8, removed in 4.0; airmirror reads it.", instead=new)
    for name in ("use.incremental.alter.configs", "add.source.alias.to.metrics"):
        yield _gone(name, Status.REMOVED, "Was there from 3.5 to 3.9.", since="3.5")
    yield _gone("auto.include.jmx.reporter", Status.REMOVED, "Removed in 4.0.")
    for name in (
        "readahead.queue.capacity", "heartbeats.topic.retention.ms", "checkpoints.topic.retention.ms",
        "offset.syncs.topic.retention.ms", "offset-syncs.topic.retention.ms",
    ):  # fmt: skip
        yield _gone(name, Status.NEVER, "Some guides list it; no MM2 ever read it.")
    for name, real in (
        ("emit.heartbeats", "emit.heartbeats.enabled"),
        ("emit.checkpoints", "emit.checkpoints.enabled"),
        ("enable", "enabled"),
    ):
        yield _gone(name, Status.NEVER, "MM2's documents name it; no MM2 ever read it.", instead=real)


FOREIGN: tuple[Option[Any], ...] = (*_connector(), *_driver(), *_worker(), *_gone_options())
TABLE: tuple[Option[Any], ...] = (*opt.USED, *FOREIGN)
BY_NAME: dict[str, Option[Any]] = {option.name: option for option in TABLE}

# Families of Connect's options: known by their beginning, without effect here.
NO_EFFECT_PREFIXES = (
    "offset.storage.", "status.storage.", "config.storage.", "key.converter.", "value.converter.", "header.converter.",
    "task.", "worker.", "inter.worker.", "topic.creation.", "topic.tracking.", "rest.", "listeners.",
    "admin.listeners", "metrics.",
)  # fmt: skip
# What passes from the top level into MM2's connectors (spec 1.5), apart from the prefixes named there.
CONNECTOR_NAMES = frozenset(
    option.name
    for option in TABLE
    if option.scope is Scope.FLOW and option.status in (Status.USED, Status.NO_EFFECT)
) | {"config.providers", "enabled", "security.protocol"}  # fmt: skip
