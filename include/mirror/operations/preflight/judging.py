"""Judges each right of the table by what the clusters said; pure.

What a broker tells of a name that exists is certain. For what does not exist yet the ACLs are read, where that is
allowed; a refusal to describe tells that READ, WRITE and ALTER are missing too, since each of them would bring it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mirror import naming
from mirror.errors import NotAuthorized
from mirror.kafka.rights import EVERY, Resource, Standing, is_granted
from mirror.operations.preflight.checks import Check, Status
from mirror.operations.preflight.facts import PROBE, Facts, Trial
from mirror.operations.preflight.rights import Right

# Names told one by one in a reason.
NAMED = 3
_ON_CHECKPOINTS = ("CREATE", "READ", "WRITE")
_BRINGS_DESCRIBE = ("READ", "WRITE", "ALTER", "DESCRIBE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How one right stands, and by what that is known."""

    right: Right
    status: Status
    reason: str


def judge_rights(rights: Iterable[Right], source: Facts | None, target: Facts | None) -> tuple[Finding, ...]:
    """The findings for every right of the sides that answered; those for a case that is not met are left out."""
    by_side = {"source": source, "target": target}
    found = []
    for right in rights:
        facts = by_side[right.side]
        if facts is not None and (right.need != "if met" or _is_met(right, facts, target)):
            found.append(judge_right(right, facts))
    return tuple(found)


def _is_met(right: Right, facts: Facts, target: Facts | None) -> bool:
    if naming.is_own(right.resource.name):
        return facts.has_returning
    return target is not None and target.has_mm2


def judge_right(right: Right, facts: Facts) -> Finding:
    status, reason = _judge(right, facts)
    if status == "failed" and right.need == "unless made" and _is_there(right, facts):
        status, reason = "warning", f"{reason}; the topic is there, so it is missed only if that is deleted"
    return Finding(right=right, status=status, reason=reason)


def _is_there(right: Right, facts: Facts) -> bool:
    standing = facts.topics.get(right.resource.name)
    return standing is not None and standing.is_there


def _judge(right: Right, facts: Facts) -> tuple[Status, str]:
    match right.resource.kind:
        case "cluster":
            return _by_operations(right.operation, facts.cluster if facts.tells_rights else None)
        case "transactional-id":
            return _by_trial(facts.tried.get(right), "an id was initialised")
        case "group":
            return _by_names(right, facts, facts.groups)
    if right.operation == "CREATE":
        if "CREATE" in facts.cluster:
            return "ok", "the cluster allows it"
        if not _is_there(right, facts):
            return _by_trial(facts.tried.get(right), "the controller would let it pass")
    return _by_names(right, facts, facts.topics)


def _by_operations(operation: str, operations: frozenset[str] | None) -> tuple[Status, str]:
    if operations is None:
        return "unknown", "the brokers do not tell, as those before 2.3"
    return ("ok", "the brokers say so") if operation in operations else ("failed", "the brokers say no")


def _by_trial(trial: Trial | None, well: str) -> tuple[Status, str]:
    if trial is None or not trial.refused:
        return "ok", f"tried: {well}"
    denied = [name for name, error in trial.refused.items() if isinstance(error, NotAuthorized)]
    if not denied:
        first = next(iter(trial.refused.values()))
        return "unknown", f"tried: {first.message}"
    if trial.is_made_up:
        return "warning", f"tried with a made-up name, {denied[0]}, and refused: a new one would be, too"
    return "failed", f"tried, and refused for {_some(denied)}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(sorted(names)[:NAMED])}{more}"


def _by_names(right: Right, facts: Facts, standings: Mapping[str, Standing]) -> tuple[Status, str]:
    """By every name that the right is about; the worst of them counts."""
    resource = right.resource
    if resource.prefixed or resource.name == EVERY:
        counted = facts.pattern_names - (frozenset() if right.operation in _ON_CHECKPOINTS else facts.checkpoints)
        matching = [name for name in standings if name in counted and resource.matches(name)]
    else:
        matching = [name for name in standings if name == resource.name]
    if not matching:
        return _by_bindings(
            right, facts, resource, f"no such {resource.kind} is seen: there is none, or it may not be described"
        )
    by_name = {name: _by_name(right, facts, name, standings[name]) for name in sorted(matching)}
    for status in ("failed", "unknown"):
        found = [name for name, (each, _) in by_name.items() if each == status]
        if found:
            return by_name[found[0]][0], f"{_some(found)}: {by_name[found[0]][1]}"
    return "ok", next(iter(by_name.values()))[1]


def _by_name(right: Right, facts: Facts, name: str, standing: Standing) -> tuple[Status, str]:
    if name == PROBE:
        status, reason = _by_operations(right.operation, standing.operations)
        return (
            ("ok", reason) if status == "ok" else ("unknown", "there is no group to ask about, and this one is refused")
        )
    if standing.is_there:
        return _by_operations(right.operation, standing.operations)
    resource = Resource(kind=right.resource.kind, name=name)
    if not standing.is_hidden:
        if right.operation == "DESCRIBE" or right.need == "if there":
            return "ok", "it is not there, and the brokers say so"
        return _by_bindings(right, facts, resource, "it is not there yet, and nobody tells rights on what is not there")
    if not facts.believes_bindings and right.operation in _BRINGS_DESCRIBE:
        return "failed", "the brokers do not even say whether it is there"
    return _by_bindings(right, facts, resource, "the brokers do not even say whether it is there")


def _by_bindings(right: Right, facts: Facts, resource: Resource, otherwise: str) -> tuple[Status, str]:
    """By the ACLs; without a broker's word on a real name this is the next best."""
    if facts.believes_bindings and facts.bindings is not None:
        granted = is_granted(facts.bindings, facts.principal, right.operation, resource)
        return ("ok", "by its ACLs") if granted else ("failed", f"no ACL grants it to {facts.principal}")
    if "CLUSTER_ACTION" in facts.cluster:
        return "ok", "a super user, or a cluster without an authorizer"
    return "unknown", otherwise


def to_check(finding: Finding, facts: Facts) -> Check:
    """The finding as a line of the report; what is missing comes with the command that grants it."""
    right = finding.right
    reason = f"{finding.reason} (needed to {right.why})" if finding.status != "ok" else finding.reason
    spared = f"; or {right.spared_by}" if right.spared_by else ""
    command = right.command(facts.principal or "<airmirror's principal>", facts.servers or "...")
    return Check(
        area="rights",
        subject=f"{facts.alias}: {right}",
        status=finding.status,
        reason=reason,
        next_step="" if finding.status == "ok" else f"{command}{spared}",
    )
