"""Which applications the target would turn away after a failover: rights that the source gives and the target does not.

MM2's ACL sync brings readers' rights on topics, never WRITE and nothing about groups. What the source last said is kept
on record on the target, because on the day it is needed nobody can ask the source.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mirror.config import Flow
from mirror.copy.control import Control
from mirror.copy.links import links_of
from mirror.kafka.acls import Right, list_rights
from mirror.kafka.cluster import Cluster
from mirror.selection import Selector
from mirror.topics.acls import EVERY_TOPIC
from mirror.wire.flow_state import SourceRights

# Rights in one record: at some hundred bytes each it stays far below the megabyte that a record may have.
RIGHTS_PER_RECORD = 1000
_ANYBODY = "User:*"
_WANTED = {"topic": ("READ", "WRITE"), "group": ("READ",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingRight:
    """An application that may do this on the source, and would be refused on the target."""

    right: Right
    servers: str
    reason: str

    @property
    def command(self) -> str:
        right = self.right
        pattern = " --resource-pattern-type prefixed" if right.pattern == "PREFIXED" else ""
        host = "" if right.host == "*" else f" --allow-host {right.host}"
        return (
            f"kafka-acls.sh --bootstrap-server {self.servers} --add --allow-principal '{right.principal}'{host} "
            f"--operation {right.operation.title()} --{right.resource} '{right.name}'{pattern}"
        )

    def to_json(self) -> dict[str, Any]:
        right = self.right
        return {
            "principal": right.principal,
            "host": right.host,
            "operation": right.operation,
            "resource": right.resource,
            "name": right.name,
            "pattern": right.pattern,
            "reason": self.reason,
            "command": self.command,
        }


def missing_rights(
    selector: Selector, upstream: Iterable[Right], downstream: Iterable[Right], *, servers: str
) -> list[MissingRight]:
    """What the target must grant before the source's applications can work there; a pure function of both sides."""
    has = list(downstream)
    wanted = sorted({right for given in upstream for right in _wanted_there(selector, given)})
    told: list[MissingRight] = []
    for right in wanted:
        denied = next((other for other in has if other.permission == "DENY" and _touches(other, right)), None)
        if denied is not None:
            told.append(MissingRight(right=right, servers=servers, reason=f"denied by: {denied}"))
        elif not any(other.permission == "ALLOW" and _covers(other, right) for other in has):
            told.append(MissingRight(right=right, servers=servers, reason="nothing on the target allows it"))
    return told


def _wanted_there(selector: Selector, given: Right) -> list[Right]:
    """The rights on the target that stand for one on the source; none for what the flow does not copy."""
    if given.permission != "ALLOW":
        return []
    operations = [op for op in _WANTED.get(given.resource, ()) if given.operation in (op, "ALL")]
    place = (given.name, given.pattern) if given.resource == "group" else _remote_place(selector, given)
    if place is None:
        return []
    name, pattern = place
    return [
        Right(
            resource=given.resource,
            name=name,
            pattern=pattern,
            principal=given.principal,
            host=given.host,
            operation=operation,
            permission="ALLOW",
        )
        for operation in operations
    ]


def _remote_place(selector: Selector, given: Right) -> tuple[str, str] | None:
    """Where copies of these topics are; a right on every topic becomes one on every copy."""
    rename, source = selector.policy.format_remote_topic, selector.flow.source
    if given.pattern == "LITERAL" and given.name == EVERY_TOPIC:
        prefix = rename(source, "")
        return (prefix, "PREFIXED") if prefix else (EVERY_TOPIC, "LITERAL")
    if given.pattern == "PREFIXED":
        return rename(source, given.name), "PREFIXED"
    decision = selector.decide(given.name)
    return (decision.remote_topic, "LITERAL") if decision.selected and not decision.is_heartbeats else None


def _covers(has: Right, wanted: Right) -> bool:
    """Whether the whole of what is wanted is covered."""
    if not _same_kind(has, wanted) or has.host not in ("*", wanted.host):
        return False
    if has.pattern == "PREFIXED":
        return wanted.name.startswith(has.name)
    return has.name == EVERY_TOPIC or (has.name == wanted.name and wanted.pattern == "LITERAL")


def _touches(has: Right, wanted: Right) -> bool:
    """Whether a denial takes any of what is wanted away."""
    if not _same_kind(has, wanted):
        return False
    if has.pattern == "PREFIXED":
        return wanted.name.startswith(has.name)
    return has.name in (EVERY_TOPIC, wanted.name)


def _same_kind(has: Right, wanted: Right) -> bool:
    return (
        has.resource == wanted.resource
        and has.principal in (wanted.principal, _ANYBODY)
        and has.operation in (wanted.operation, "ALL")
    )


def note_rights(flow: Flow, source: Cluster, target: Cluster) -> None:
    """Keep on the target what the source's applications may do there; written only where it changed."""
    links = links_of(flow)
    found = list_rights(source)
    if found is None or not target.describe([links.control_topic]):
        return
    rows = tuple(sorted(right.to_row() for right in found if right.permission == "ALLOW"))
    control = Control(links, target)
    known = control.read()
    if (last := known.source_rights) is not None and last.rows == rows:
        return
    parts = [rows[at : at + RIGHTS_PER_RECORD] for at in range(0, max(len(rows), 1), RIGHTS_PER_RECORD)]
    now_ms = int(time.time() * 1000)
    control.write(
        *(
            SourceRights(flow=links.state_key, part=number, parts=len(parts), at_ms=now_ms, rows=part)
            for number, part in enumerate(parts)
        )
    )
