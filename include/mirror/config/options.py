"""The one table of options: name, type, default, where it may stand, since when, and what it does.

Options that airmirror uses are constants, `flow[opt.TASKS_MAX]`; those that it only understands are in `foreign`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from mirror.config import types as t
from mirror.config.starts import Start
from mirror.config.types import ValueType

T_co = TypeVar("T_co", covariant=True)


class Scope(enum.Enum):
    """Where an option may stand in the file."""

    DRIVER = "top level"
    FLOW = "top level or A->B."
    FLOW_ONLY = "A->B."
    WORKER = "A. or top level"


class Status(enum.Enum):
    """What airmirror makes of an option."""

    USED = "used"
    NO_EFFECT = "no effect in airmirror"
    OLD_NAME = "old name"
    REMOVED = "removed from MM2"
    NEVER = "never existed in MM2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option(Generic[T_co]):
    """One option; `default` is the value when no line of the file sets it."""

    name: str
    type: ValueType[T_co]
    default: T_co
    help: str
    scope: Scope = Scope.FLOW
    since: str = "2.4"
    status: Status = Status.USED
    instead: str = ""  # the name to write today, for old names


_MS_MAX = 2**63 - 1
_MM2 = "org.apache.kafka.connect.mirror."

# The driver.
CLUSTERS = Option(name="clusters", type=t.NON_EMPTY_LIST, default=(), scope=Scope.DRIVER,
    help="The aliases of all clusters; required.")  # fmt: skip
ENABLED = Option(name="enabled", type=t.BOOL, default=False, scope=Scope.FLOW_ONLY,
    help="Replicate this flow. Written as A->B.enabled; a flow that is not enabled still gets heartbeats.")  # fmt: skip
CONFIG_PROVIDERS = Option(name="config.providers", type=t.LIST, default=(), scope=Scope.DRIVER,
    help="Names of providers that `${name:path:key}` asks, each with config.providers.NAME.class; `file`, `dir`, `env` "
    "and `airflow` are there without it. See credentials.md.")  # fmt: skip

# Topics and their settings.
TOPICS = Option(name="topics", type=t.REGEX_LIST, default=(".*",),
    help="Topics to replicate: names and Java regexes, each of which must match the whole name.")  # fmt: skip
TOPICS_EXCLUDE = Option(name="topics.exclude", type=t.REGEX_LIST, default=(r"mm2.*\.internal", r".*\.replica", "__.*"),
    since="2.8", help="Topics not to replicate; beats `topics`.")  # fmt: skip
TOPIC_FILTER_CLASS = Option(name="topic.filter.class", type=t.CLASS, default=_MM2 + "DefaultTopicFilter",
    help="What decides on topics besides the policy's rules: MM2's DefaultTopicFilter, which reads `topics` and "
    "`topics.exclude`, or an own Python class.")  # fmt: skip
CONFIG_PROPERTIES_EXCLUDE = Option(name="config.properties.exclude", type=t.REGEX_LIST, since="2.8", default=(
        "follower.replication.throttled.replicas", "leader.replication.throttled.replicas",
        "message.timestamp.difference.max.ms", "log.message.timestamp.before.max.ms",
        "log.message.timestamp.after.max.ms", "message.timestamp.type", "unclean.leader.election.enable",
        "min.insync.replicas"),
    help="Topic settings that are never copied.")  # fmt: skip
CONFIG_PROPERTY_FILTER_CLASS = Option(name="config.property.filter.class", type=t.CLASS,
    default=_MM2 + "DefaultConfigPropertyFilter", help="What decides on topic settings: MM2's "
    "DefaultConfigPropertyFilter, or an own Python class.")  # fmt: skip
USE_DEFAULTS_FROM = Option(name="use.defaults.from", type=t.one_of("source", "target"), default="target", since="3.5",
    help="Whose defaults a setting gets that the source topic does not set. MM2 reads it per flow only and drops it "
    "at top level without a word; airmirror honours both.")  # fmt: skip
REFRESH_TOPICS_ENABLED = Option(name="refresh.topics.enabled", type=t.BOOL, default=True,
    help="Look for new topics and partitions again and again.")  # fmt: skip
REFRESH_TOPICS_INTERVAL = Option(name="refresh.topics.interval.seconds", type=t.interval("refresh.topics.enabled"),
    default=600, help="How often.")  # fmt: skip
SYNC_TOPIC_CONFIGS_ENABLED = Option(name="sync.topic.configs.enabled", type=t.BOOL, default=True,
    help="Keep remote topics' settings equal to the source's.")  # fmt: skip
SYNC_TOPIC_CONFIGS_INTERVAL = Option(name="sync.topic.configs.interval.seconds",
    type=t.interval("sync.topic.configs.enabled"), default=600, help="How often.")  # fmt: skip
SYNC_TOPIC_ACLS_ENABLED = Option(name="sync.topic.acls.enabled", type=t.BOOL, default=True,
    help="Copy topics' read ACLs to remote topics.")  # fmt: skip
SYNC_TOPIC_ACLS_INTERVAL = Option(name="sync.topic.acls.interval.seconds", type=t.interval("sync.topic.acls.enabled"),
    default=600, help="How often.")  # fmt: skip
ACLS_PRUNE = Option(name="airmirror.acls.prune", type=t.BOOL, default=False, since="airmirror",
    help="Also remove ALLOW bindings on remote topics that the source no longer has; MM2 never removes any. "
    "`airmirror topics FLOW --dry-run` shows which. The target's own rights are safe as PREFIXED ones.")  # fmt: skip
FORWARDING_ADMIN_CLASS = Option(name="forwarding.admin.class", type=t.CLASS, since="3.4",
    default="org.apache.kafka.clients.admin.ForwardingAdmin",
    help="What creates and grows topics, alters settings and makes ACLs: the plain one asks the brokers; an own Python "
    "class, such as package.module:Admin, may ask another system.")  # fmt: skip
REPLICATION_FACTOR = Option(name="replication.factor", type=t.replication_factor("int"), default=2,
    help="Replication factor of newly created remote topics; -1: the brokers' default.")  # fmt: skip

# Names.
REPLICATION_POLICY_CLASS = Option(name="replication.policy.class", type=t.CLASS,
    default=_MM2 + "DefaultReplicationPolicy",
    help="How remote topics are named: MM2's DefaultReplicationPolicy or IdentityReplicationPolicy, "
    "LegacyReplicationPolicy, or a Python import path such as package.module:Policy.")  # fmt: skip
REPLICATION_POLICY_SEPARATOR = Option(name="replication.policy.separator", type=t.SEPARATOR, default=".",
    help="What stands between alias and topic in a remote topic's name.")  # fmt: skip
INTERNAL_TOPIC_SEPARATOR_ENABLED = Option(name="replication.policy.internal.topic.separator.enabled", type=t.BOOL,
    default=True, since="3.6", help="Use the separator in internal topics' names too.")  # fmt: skip

# Copying.
TASKS_MAX = Option(name="tasks.max", type=t.whole(least=1), default=1,
    help="In MM2 the number of tasks. Here, where the file sets it, the most slots that copy at once; "
    "where it does not, as many as Spark has cores.")  # fmt: skip
CONSUMER_POLL_TIMEOUT_MS = Option(name="consumer.poll.timeout.ms", type=t.whole(least=0, most=_MS_MAX, label="long"),
    default=1000, help="Longest wait of one poll at the source, in milliseconds.")  # fmt: skip
ADMIN_TIMEOUT_MS = Option(name="admin.timeout.ms", type=t.whole(least=1, most=_MS_MAX, label="long"), default=60000,
    help="Longest wait for one administrative call, in milliseconds.")  # fmt: skip
OFFSET_LAG_MAX = Option(name="offset.lag.max", type=t.whole(least=0, most=_MS_MAX, label="long"), default=100,
    help="How far MM2's translation may be behind. airmirror's offset syncs are exact at every commit; "
    "read only for MM2's own topic.")  # fmt: skip
EMIT_OFFSET_SYNCS_ENABLED = Option(name="emit.offset-syncs.enabled", type=t.BOOL, default=True, since="3.9",
    help="Publish MM2's offset-syncs topic, where its location is set; our own state is kept regardless.")  # fmt: skip
OFFSET_SYNCS_LOCATION = Option(name="offset-syncs.topic.location", type=t.one_of("source", "target"), default="source",
    since="3.0", help="Cluster that holds MM2's offset-syncs topic. airmirror publishes that topic only where "
    "the file sets this.")  # fmt: skip
OFFSET_SYNCS_REPLICATION_FACTOR = Option(name="offset-syncs.topic.replication.factor",
    type=t.replication_factor("short"), default=3,
    help="Replication factor of offset-syncs topics, MM2's and ours.")  # fmt: skip

# Records.
TRANSFORMS = Option(name="transforms", type=t.LIST, default=(),
    help="Connect's transforms, by names of your own; of their classes Filter: transforms.NAME.type, .predicate and "
    ".negate. MM2 reads those per flow only, airmirror also at top level. Heartbeats are not filtered.")  # fmt: skip
PREDICATES = Option(name="predicates", type=t.LIST, default=(),
    help="What Filters ask, by names of your own: predicates.NAME.type is TopicNameMatches (with .pattern, for the "
    "remote topic's name), HasHeaderKey (with .name) or RecordIsTombstone.")  # fmt: skip
RECORD_FUNCTION = Option(name="airmirror.record.function", type=t.FUNCTION, default="", since="airmirror",
    help="A Python function, package.module:function, that gets each record and gives it back, changed or not, or None "
    "to drop it; behind the filters. See records.md.")  # fmt: skip
PROVENANCE_HEADERS = Option(name="airmirror.provenance.headers", type=t.BOOL, default=False, since="airmirror",
    help="Give each copied record a header with the clusters it has been on, and never copy it back to one of them: "
    "names can stay the same in both directions. See records.md.")  # fmt: skip

# Groups.
GROUPS = Option(name="groups", type=t.REGEX_LIST, default=(".*",),
    help="Consumer groups to translate: names and Java regexes, each of which must match the whole name.")  # fmt: skip
GROUPS_EXCLUDE = Option(name="groups.exclude", type=t.REGEX_LIST, since="2.8",
    default=("console-consumer-.*", "connect-.*", "__.*"), help="Groups to leave out; beats `groups`.")  # fmt: skip
GROUP_FILTER_CLASS = Option(name="group.filter.class", type=t.CLASS, default=_MM2 + "DefaultGroupFilter",
    help="What decides on groups: MM2's DefaultGroupFilter, or an own Python class.")  # fmt: skip
REFRESH_GROUPS_ENABLED = Option(name="refresh.groups.enabled", type=t.BOOL, default=True,
    help="Look for new groups again and again.")  # fmt: skip
REFRESH_GROUPS_INTERVAL = Option(name="refresh.groups.interval.seconds", type=t.interval("refresh.groups.enabled"),
    default=600, help="How often.")  # fmt: skip
EMIT_CHECKPOINTS_ENABLED = Option(name="emit.checkpoints.enabled", type=t.BOOL, default=True,
    help="Publish groups' translated offsets in the checkpoints topic.")  # fmt: skip
EMIT_CHECKPOINTS_INTERVAL = Option(name="emit.checkpoints.interval.seconds",
    type=t.interval("emit.checkpoints.enabled"), default=60, help="How often.")  # fmt: skip
SYNC_GROUP_OFFSETS_ENABLED = Option(name="sync.group.offsets.enabled", type=t.BOOL, default=False, since="2.7",
    help="Also write translated offsets into the target's groups while nobody uses them.")  # fmt: skip
SYNC_GROUP_OFFSETS_INTERVAL = Option(name="sync.group.offsets.interval.seconds",
    type=t.interval("sync.group.offsets.enabled"), default=60, since="2.7", help="How often.")  # fmt: skip
CHECKPOINTS_REPLICATION_FACTOR = Option(name="checkpoints.topic.replication.factor",
    type=t.replication_factor("short"), default=3, help="Replication factor of the checkpoints topic.")  # fmt: skip

# Heartbeats.
EMIT_HEARTBEATS_ENABLED = Option(name="emit.heartbeats.enabled", type=t.BOOL, default=True,
    help="Write heartbeats for every pair of clusters, also for flows that are not enabled.")  # fmt: skip
EMIT_HEARTBEATS_INTERVAL = Option(name="emit.heartbeats.interval.seconds", type=t.interval("emit.heartbeats.enabled"),
    default=1, help="How often; airmirror does not go under a minute.")  # fmt: skip
HEARTBEATS_REPLICATION_FACTOR = Option(name="heartbeats.topic.replication.factor", type=t.replication_factor("short"),
    default=3, help="Replication factor of the heartbeats topic.")  # fmt: skip
HEARTBEATS_REPLICATION_ENABLED = Option(name="heartbeats.replication.enabled", type=t.BOOL, default=True, since="4.0",
    help="Copy heartbeats topics even if the filters leave them out.")  # fmt: skip

# airmirror's own.
COPY_SCHEDULE: Option[t.Schedule] = Option(name="airmirror.copy.schedule", type=t.SCHEDULE, default="* * * * *",
    since="airmirror", help="When the copy runs: cron (UTC), seconds between runs, or none (by hand).")  # fmt: skip
COPY_WINDOW_SECONDS = Option(name="airmirror.copy.window.seconds", type=t.whole(least=0), default=0,
    since="airmirror", help="How long a copy goes on with what arrives; 0: drain and end.")  # fmt: skip
COPY_MAX_BYTES_PER_SECOND = Option(name="airmirror.copy.max.bytes.per.second", type=t.whole(least=0, most=_MS_MAX),
    default=0, since="airmirror", help="Limit on the whole flow's bandwidth; 0: none.")  # fmt: skip
COPY_COMMIT_INTERVAL_MS = Option(name="airmirror.copy.commit.interval.ms", type=t.whole(least=1), default=2000,
    since="airmirror", help="Commit an open transaction after this time.")  # fmt: skip
COPY_COMMIT_BYTES = Option(name="airmirror.copy.commit.bytes", type=t.whole(least=1, most=_MS_MAX), default=67108864,
    since="airmirror", help="Commit an open transaction after this many bytes.")  # fmt: skip
COPY_SLOTS_MAX = Option(name="airmirror.copy.slots.max", type=t.OPTIONAL_WHOLE, default=None, since="airmirror",
    help="Most slots that copy at once, apart from `tasks.max`; empty: as many as Spark has cores.")  # fmt: skip
FLOW_ID = Option(name="airmirror.flow.id", type=t.FLOW_ID, default="", since="airmirror",
    help="Tells two deployments apart that replicate the same pair of aliases.")  # fmt: skip
START: Option[Start | None] = Option(name="airmirror.start", type=t.START, default=None, since="airmirror",
    help="Where the first copy begins: a time (UTC unless it has a zone) or topic:partition:offset,...; "
    "empty: as the consumer's auto.offset.reset says.")  # fmt: skip
ON_GAP = Option(name="airmirror.on.gap", type=t.one_of("continue", "fail"), default="continue", since="airmirror",
    help="When retention was faster than the copy: record the gap and go on, or stop.")  # fmt: skip
ON_RECREATED = Option(name="airmirror.on.recreated", type=t.one_of("fail", "restart"), default="fail",
    since="airmirror", help="When a source topic was deleted and made again: stop it, or copy it anew.")  # fmt: skip
ON_FOREIGN_DATA = Option(name="airmirror.on.foreign.data", type=t.one_of("fail", "append"), default="fail",
    since="airmirror", help="When a remote topic holds records of unknown origin: stop, or append.")  # fmt: skip
DRILL_SCHEDULE: Option[t.Schedule] = Option(name="airmirror.drill.schedule", type=t.SCHEDULE, default=None,
    since="airmirror", help="When a failover is rehearsed: cron (UTC), seconds between drills, or none (by hand, "
    "with the Dag mirror.drill or `airmirror drill`).")  # fmt: skip
VERIFY_SCHEDULE: Option[t.Schedule] = Option(name="airmirror.verify.schedule", type=t.SCHEDULE, default=None,
    since="airmirror", help="When both sides are compared: cron (UTC), seconds between runs, or none (by hand, "
    "with the Dag mirror.verify or `airmirror verify`).")  # fmt: skip
VERIFY_NEWEST = Option(name="airmirror.verify.newest", type=t.whole(least=0, most=_MS_MAX), default=1000000,
    since="airmirror", help="How many of the newest offsets of each partition the Dag mirror.verify compares where its "
    "form says nothing; 0: everything.")  # fmt: skip
CLAIM_RENEW_SECONDS = Option(name="airmirror.claim.renew.seconds", type=t.whole(least=1), default=5,
    since="airmirror", help="How often a run renews its claim; it counts as dead after three times that.")  # fmt: skip
TRANSACTION_TIMEOUT_MS = Option(name="airmirror.transaction.timeout.ms", type=t.whole(least=1000), default=60000,
    since="airmirror", help="When brokers abort a transaction whose writer is gone.")  # fmt: skip
SEGMENTS_MAX = Option(name="airmirror.segments.max", type=t.whole(least=2), default=256, since="airmirror",
    help="Segments kept per partition for translating older offsets.")  # fmt: skip


def _collect() -> tuple[Option[Any], ...]:
    return tuple(value for value in globals().values() if isinstance(value, Option))


USED: tuple[Option[Any], ...] = _collect()
BY_NAME: dict[str, Option[Any]] = {option.name: option for option in USED}

OWN_PREFIX = "airmirror."


def default_text(option: Option[Any]) -> str:
    """The default as one would write it in the file."""
    return value_text(option.default)


def value_text(value: Any) -> str:
    """A value as one would write it in the file."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, timedelta):
        return str(int(value.total_seconds()))
    return str(value)
