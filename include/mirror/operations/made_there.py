"""Topics that applications made on the target since the failover: which of them return, and which stay and why.

A topic whose name is that of a copy belongs to the flow, made by whom it may: where names stay that is every topic that
the file selects, with prefixes `A.orders`, which returns as `orders`. With prefixes `orders` on B is B's own, now as
before the failover, and goes to A as `B.orders` if at all: that is the opposite flow's.

Kafka does not tell when a topic was made, so the failover puts on record which ones were there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mirror.config import Flow
from mirror.copy.control import Control, ControlState
from mirror.copy.links import links_of
from mirror.kafka.cluster import Cluster
from mirror.operations.report import Section
from mirror.selection import Selector
from mirror.wire.flow_state import TargetTopics

# Names have up to 249 characters: so many stay within the megabyte that a record may have.
TOPICS_PER_RECORD = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeThere:
    """One such topic: its name on the target, and on the source where it returns; else why it stays, what to type."""

    topic: str
    home: str = ""
    reason: str = ""
    commands: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"topic": self.topic, "returns_to": self.home, "reason": self.reason, "commands": list(self.commands)}


def note_topics(flow: Flow, target: Cluster, control: Control, operation: str) -> None:
    """Put the topics that are on the target now on record, once for an operation: later ones are applications' own."""
    if control.read().target_topics(operation) is not None:
        return
    selector = Selector(flow)
    names = tuple(topic for topic in target.topic_names() if is_of_interest(selector, topic))
    parts = [names[at : at + TOPICS_PER_RECORD] for at in range(0, max(len(names), 1), TOPICS_PER_RECORD)]
    key = links_of(flow).state_key
    control.write(
        *(
            TargetTopics(flow=key, part=number, parts=len(parts), operation=operation, topics=part)
            for number, part in enumerate(parts)
        )
    )


def made_since(
    flow: Flow, home: Flow, control: ControlState, topics: Iterable[str], known: Iterable[str]
) -> tuple[MadeThere, ...]:
    """What was made since the failover among the target's topics; `known` are names of copies."""
    failover = control.operations.get("failover")
    before = control.target_topics(failover.operation) if failover is not None else None
    if before is None:
        return ()  # a failover of an older version: what is new cannot be told from what is not
    selector = Selector(flow)
    new = sorted(set(topics) - before - set(known))
    return tuple(_judged(selector, home, topic) for topic in new if is_of_interest(selector, topic))


def is_of_interest(selector: Selector, topic: str) -> bool:
    """Whether the file means a topic of this name on the target: as a copy, or if it were the source's."""
    if origin_of(selector, topic) is not None:
        return True
    decision = selector.decide(topic)
    is_copy = selector.policy.topic_source(topic) in selector.flow.aliases
    return decision.selected and not decision.is_heartbeats and not is_copy


def origin_of(selector: Selector, remote: str) -> str | None:
    """The source's topic whose copy has this name; None if no topic that the file selects has such a copy."""
    policy = selector.policy
    for topic in (policy.upstream_topic(remote), remote):
        if topic and policy.format_remote_topic(selector.flow.source, topic) == remote:
            decision = selector.decide(topic)
            return topic if decision.selected and not decision.is_heartbeats else None
    return None


def _judged(selector: Selector, home: Flow, topic: str) -> MadeThere:
    origin = origin_of(selector, topic)
    return MadeThere(topic=topic, home=origin) if origin is not None else _stays(home, topic)


def _stays(home: Flow, topic: str) -> MadeThere:
    """A topic of the target's own: the opposite flow is the one that brings it over, under its name for it."""
    decision = Selector(home).decide(topic)
    reason = f"it is {home.source}'s own by its name; "
    if not decision.selected:
        return MadeThere(topic=topic, reason=f"{reason}{home.id} does not copy it either: {decision.reason}")
    regex = topic.replace(".", r"\.")
    commands = (f"airmirror topics '{home.id}'", f"airmirror copy '{home.id}' --topics '{regex}'")
    how = "copies it" if home.enabled else f"would copy it, with {home.id}.enabled = true in the file,"
    return MadeThere(
        topic=topic,
        reason=f"{reason}{home.id} {how} to {home.target} as {decision.remote_topic}",
        commands=commands,
    )


def section_of(topics: Sequence[Mapping[str, Any]], source: str, target: str, at_most: int) -> Section | None:
    """The topics as a person reads of them, in the plan and in the report; None if there are none."""
    if not topics:
        return None
    rows = [(t["topic"], f"to {t['returns_to']}" if t["returns_to"] else "stays", t["reason"]) for t in topics]
    commands = [command for t in topics[:at_most] for command in t["commands"]]
    return Section(
        heading=f"Topics made on {target} since the failover",
        headings=("topic", f"returns to {source}", "because"),
        rows=tuple(rows[:at_most]),
        commands=tuple(dict.fromkeys(commands)),
    )
