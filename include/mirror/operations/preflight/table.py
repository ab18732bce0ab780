"""The one table of rights: what airmirror asks of both clusters, why, in which task, and what makes it unnecessary.

Kafka's rules make it short: READ, WRITE and ALTER bring DESCRIBE with them, ALTER_CONFIGS brings DESCRIBE_CONFIGS.
preflight, docs/permissions.md and the test of the minimal rights all read this table.
"""

from __future__ import annotations

from collections.abc import Callable

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.import_paths import own_path
from mirror.config.options import Option
from mirror.operations.preflight import places
from mirror.operations.preflight.rights import Right, Row, without_covered


def _when(*options: Option[bool]) -> Callable[[Flow], bool]:
    return lambda flow: flow.enabled and all(flow[option] for option in options)


_SETTINGS, _ACLS = opt.SYNC_TOPIC_CONFIGS_ENABLED, opt.SYNC_TOPIC_ACLS_ENABLED
_CHECKPOINTS, _GROUPS = opt.EMIT_CHECKPOINTS_ENABLED, opt.SYNC_GROUP_OFFSETS_ENABLED
_HEARTBEAT, _PROVENANCE = opt.EMIT_HEARTBEATS_ENABLED, opt.PROVENANCE_HEADERS
_NO_SETTINGS, _NO_ACLS = f"{_SETTINGS.name} = false", f"{_ACLS.name} = false"
_NO_CHECKPOINTS, _NO_GROUPS = f"{_CHECKPOINTS.name} = false", f"{_GROUPS.name} = false"
_NO_HEARTBEAT, _NO_PROVENANCE = f"{_HEARTBEAT.name} = false", f"{_PROVENANCE.name} = false"
_FORWARDED = f"{opt.FORWARDING_ADMIN_CLASS.name} = a class of your own"
_NOT_PUBLISHED = f"no line {opt.OFFSET_SYNCS_LOCATION.name}"

_COPIED = "the topics to copy, and `heartbeats`"
_REMOTE = "remote topics: the prefix `A.`"
_STATE = "`mm2-offset-syncs-airmirror.A.internal` and `mm2-airmirror.A.internal`"
_TOPICS_DAG = ("discover", "create_topics")


def _changes(flow: Flow) -> bool:
    """Whether our own principal changes topics and ACLs; a class of the user's may do it as another."""
    return flow.enabled and own_path(flow[opt.FORWARDING_ADMIN_CLASS]) is None


def _alters(flow: Flow) -> bool:
    return _changes(flow) and flow[_SETTINGS]


def _is_emitted(flow: Flow) -> bool:
    # Also for a pair whose flow is not enabled.
    return flow[_HEARTBEAT]


TABLE: tuple[Row, ...] = (
    Row(side="source", operation="READ", where=_COPIED, resources=places.source_topics,
        tasks=("discover", "copy", "emit", "checkpoints"), why="list the topics and read their records"),
    Row(side="source", operation="DESCRIBE_CONFIGS", where=_COPIED, resources=places.source_topics,
        tasks=("discover", "sync_configs", "checkpoints"), why="give remote topics the same settings"),
    Row(side="source", operation="DESCRIBE", where="the cluster", resources=places.cluster, is_asked=_when(_ACLS),
        tasks=("sync_acls",), spared_by=_NO_ACLS, why="list the ACLs of topics"),
    Row(side="source", operation="DESCRIBE", where="groups: `*`", resources=places.every_group,
        is_asked=_when(_CHECKPOINTS), tasks=("checkpoints", "sync_group_offsets"), spared_by=_NO_CHECKPOINTS,
        why="list the groups and read what they committed"),
    Row(side="source", operation="CREATE", where="`mm2-offset-syncs.B.internal`", need="unless made",
        resources=places.mm2_syncs("source"), is_asked=places.is_published("source"), tasks=_TOPICS_DAG,
        spared_by=_NOT_PUBLISHED, why="make the topic of MM2's offset syncs"),
    Row(side="source", operation="WRITE", where="`mm2-offset-syncs.B.internal`", resources=places.mm2_syncs("source"),
        is_asked=places.is_published("source"), tasks=("copy",), spared_by=_NOT_PUBLISHED,
        why="publish MM2's offset syncs"),
    Row(side="source", operation="READ", where="`mm2-offset-syncs.B.internal`, where MM2 copied before", need="if met",
        resources=places.mm2_syncs("source"), is_asked=_when(_CHECKPOINTS), tasks=("checkpoints",),
        spared_by=_NO_CHECKPOINTS, why="translate offsets in what MM2 copied"),
    Row(side="source", operation="READ", where="`mm2-offset-syncs-airmirror.X.internal` and `mm2-offsets.X.internal` "
        f"of every other cluster X, with {_PROVENANCE.name} = true", need="if there", resources=places.incoming_states,
        is_asked=_when(_PROVENANCE), tasks=("copy", "checkpoints"), spared_by=_NO_PROVENANCE,
        why="know records that came without saying where from"),
    Row(side="source", operation="READ", where="`mm2-offset-syncs-airmirror.B.internal`, where B->A runs too",
        need="if met", resources=places.opposite_syncs, is_asked=_when(_CHECKPOINTS), tasks=("checkpoints",),
        spared_by=_NO_CHECKPOINTS, why="translate offsets in topics that came from the target"),
    Row(side="target", operation="CREATE", where=_REMOTE, resources=places.remote_topics, tasks=("create_topics",),
        is_asked=_changes, spared_by=_FORWARDED, why="make remote topics"),
    Row(side="target", operation="ALTER", where=_REMOTE, resources=places.remote_topics, tasks=("create_topics",),
        is_asked=_changes, spared_by=_FORWARDED, why="add partitions where the source has more"),
    Row(side="target", operation="ALTER_CONFIGS", where=_REMOTE, resources=places.remote_topics,
        is_asked=_alters, tasks=("sync_configs", "discover", "copy"), spared_by=_NO_SETTINGS,
        why="keep settings equal, and read how large a record may be"),
    Row(side="target", operation="DESCRIBE_CONFIGS", where=f"{_REMOTE}, with {_NO_SETTINGS}",
        resources=places.remote_topics, is_asked=lambda flow: flow.enabled and not _alters(flow),
        tasks=("discover", "copy"), why="read how large a record may be"),
    Row(side="target", operation="WRITE", where=_REMOTE, resources=places.remote_topics, tasks=("copy", "emit"),
        why="write the records"),
    Row(side="target", operation="READ", where=_REMOTE, resources=places.remote_topics,
        tasks=("checkpoints", "sync_group_offsets", "emit"),
        why="find a group's very record, set group offsets, tell heartbeats' age"),
    Row(side="target", operation="CREATE", where=_STATE, resources=places.state_topics, need="unless made",
        tasks=("create_topics", "copy"), why="make the topics of the flow's state"),
    Row(side="target", operation="DESCRIBE_CONFIGS", where=_STATE, resources=places.state_topics,
        tasks=("discover", "copy"), why="refuse them if retention would delete state"),
    Row(side="target", operation="READ", where=_STATE, resources=places.state_topics,
        tasks=("copy", "checkpoints", "emit"), why="know what is copied and who copies"),
    Row(side="target", operation="WRITE", where=_STATE, resources=places.state_topics, tasks=("copy", "emit"),
        why="remember what is copied, in the same transactions"),
    Row(side="target", operation="READ", where="`mm2-offsets.A.internal`, also if there is none",
        resources=places.mm2_positions, need="if there", tasks=("copy", "emit"),
        why="go on where MM2 stopped, or know that it never ran"),
    Row(side="target", operation="WRITE", where="transactional ids: the prefix `airmirror-A->B`",
        resources=places.transactional_ids, tasks=("copy", "emit"), why="write records exactly once"),
    Row(side="target", operation="CREATE", where="`mm2-offset-syncs.A.internal`", need="unless made",
        resources=places.mm2_syncs("target"), is_asked=places.is_published("target"), tasks=_TOPICS_DAG,
        spared_by=_NOT_PUBLISHED, why="make the topic of MM2's offset syncs"),
    Row(side="target", operation="WRITE", where="`mm2-offset-syncs.A.internal`", resources=places.mm2_syncs("target"),
        is_asked=places.is_published("target"), tasks=("copy",), spared_by=_NOT_PUBLISHED,
        why="publish MM2's offset syncs"),
    Row(side="target", operation="READ", where="`mm2-offset-syncs.A.internal`, where MM2 copied before", need="if met",
        resources=places.mm2_syncs("target"), is_asked=_when(_CHECKPOINTS), tasks=("checkpoints",),
        spared_by=_NO_CHECKPOINTS, why="translate offsets in what MM2 copied"),
    Row(side="target", operation="CREATE", where="`A.checkpoints.internal`", resources=places.checkpoints,
        need="unless made", is_asked=_when(_CHECKPOINTS), tasks=("checkpoints",), spared_by=_NO_CHECKPOINTS,
        why="make the topic of checkpoints"),
    Row(side="target", operation="READ", where="`A.checkpoints.internal`", resources=places.checkpoints,
        is_asked=_when(_CHECKPOINTS), tasks=("checkpoints", "sync_group_offsets"), spared_by=_NO_CHECKPOINTS,
        why="know which checkpoints were told"),
    Row(side="target", operation="WRITE", where="`A.checkpoints.internal`", resources=places.checkpoints,
        is_asked=_when(_CHECKPOINTS), tasks=("checkpoints",), spared_by=_NO_CHECKPOINTS, why="tell checkpoints"),
    Row(side="target", operation="READ", where="`mm2-offset-syncs-airmirror.X.internal` of every third cluster X, "
        f"with {_PROVENANCE.name} = true", need="if there", resources=places.hub_states,
        is_asked=_when(_PROVENANCE, _CHECKPOINTS), tasks=("checkpoints",), spared_by=_NO_PROVENANCE,
        why="translate offsets in records that came another way"),
    Row(side="target", operation="READ", where="groups: `*`", resources=places.every_group,
        is_asked=_when(_CHECKPOINTS, _GROUPS), tasks=("sync_group_offsets",), spared_by=_NO_GROUPS,
        why="look whether groups are idle, and set their offsets"),
    Row(side="target", operation="ALTER", where="the cluster", resources=places.cluster, is_asked=_when(_ACLS),
        tasks=("sync_acls",), spared_by=_NO_ACLS, why="list and make ACLs of remote topics"),
    Row(side="target", operation="CREATE", where="`heartbeats`", resources=places.heartbeats, need="unless made",
        is_asked=_is_emitted, tasks=("emit",), spared_by=_NO_HEARTBEAT, why="make the topic of heartbeats"),
    Row(side="target", operation="WRITE", where="`heartbeats`", resources=places.heartbeats, is_asked=_is_emitted,
        tasks=("emit",), spared_by=_NO_HEARTBEAT, why="write the pair's heartbeat"),
    Row(side="target", operation="READ", where="`heartbeats`", resources=places.heartbeats, is_asked=_is_emitted,
        tasks=("emit",), spared_by=_NO_HEARTBEAT, why="tell how old heartbeats are"),
)  # fmt: skip


def rights_of(flow: Flow) -> tuple[Right, ...]:
    """Every right that the flow needs, or may come to need; none that another one of them brings along."""
    return without_covered(right for row in TABLE for right in row.rights(flow))
