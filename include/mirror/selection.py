"""Which topics a flow copies, each with the reason in words.

MM2's rule: (the filter accepts the name, or it is a heartbeats topic and those are wanted) and the topic is not
internal and is no cycle. Beyond MM2, whose creation requests would fail again at every refresh: a remote name that
Kafka cannot take, or that two topics would share, is refused here and said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.filters import topic_judge
from mirror.naming import ReplicationPolicy

_CYCLE = "cycle: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether one source topic is copied, and why; `refused` if the file wants it and the target cannot have it."""

    topic: str
    remote_topic: str
    selected: bool
    reason: str
    refused: bool = False
    is_heartbeats: bool = False
    # Left out because its name tells that its records came from the target.
    is_cycle: bool = False


class Selector:
    """Decides about the topics of one flow's source."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.policy: ReplicationPolicy = naming.policy_of(flow)
        self._filter = topic_judge(flow)
        self._heartbeats_wanted = flow[opt.HEARTBEATS_REPLICATION_ENABLED]

    def decide(self, topic: str) -> Decision:
        """The decision about one topic, as far as its name alone tells."""
        is_heartbeats = self.policy.is_heartbeats(topic)
        remote_topic = self.policy.format_remote_topic(self.flow.source, topic)
        selected, reason = self._judge(topic, remote_topic, is_heartbeats)
        problem = naming.name_problem(remote_topic) if selected else ""
        return Decision(
            topic=topic,
            remote_topic=remote_topic,
            selected=selected and not problem,
            reason=f"refused: remote name {problem}" if problem else reason,
            refused=bool(problem),
            is_heartbeats=is_heartbeats,
            is_cycle=not selected and reason.startswith(_CYCLE),
        )

    def decide_all(self, topics: Iterable[str]) -> tuple[Decision, ...]:
        """The decisions about all topics of the source, by name; topics that would share a remote name are refused."""
        decisions = [self.decide(topic) for topic in sorted(topics)]
        shared = _shared_names(decisions)
        return tuple(
            _refuse_shared(decision, shared[decision.remote_topic])
            if decision.selected and decision.remote_topic in shared
            else decision
            for decision in decisions
        )

    def _judge(self, topic: str, remote_topic: str, is_heartbeats: bool) -> tuple[bool, str]:
        if (owner := self._internal_owner(topic)) is not None:
            return False, f"internal topic of {owner}"
        if is_heartbeats and remote_topic == self.policy.heartbeats_topic():
            # MM2's policies prefix it; under others the copy would feed the target's own, and come back.
            return False, "heartbeats topic, whose copy would be mixed with the target's own"
        accepted, reason = self._filter.judge(topic)
        if is_heartbeats and self._heartbeats_wanted:
            accepted, reason = True, "heartbeats topic, whatever topics says"
        if not accepted:
            return False, reason
        if (copy_of := self._copied_from_target(topic)) is not None:
            return False, f"{_CYCLE}`{copy_of}` came from {self.flow.target}"
        return True, f"selected: {reason}"

    def _internal_owner(self, topic: str) -> str | None:
        # Kafka's and ours are tested apart from the policy, which may be a user's own and know neither.
        if naming.is_own(topic):
            return "airmirror"
        if self.policy.is_mm2_internal(topic):
            return "MM2"
        return "Kafka" if naming.is_kafka_internal(topic) or self.policy.is_internal(topic) else None

    def _copied_from_target(self, topic: str) -> str | None:
        """The name, after any later hops are taken off, under which the target's records came; None if none did."""
        name = topic
        for alias, upstream in self.policy.hops(topic):
            if alias == self.flow.target:
                return name
            name = upstream
        return None


def decide(topic: str, flow: Flow) -> Decision:
    """The decision about one topic; for many, make one Selector."""
    return Selector(flow).decide(topic)


def _shared_names(decisions: Sequence[Decision]) -> Mapping[str, tuple[str, ...]]:
    """Each remote name that more than one selected topic would have, with those topics."""
    counts = Counter(decision.remote_topic for decision in decisions if decision.selected)
    return {
        remote: tuple(d.topic for d in decisions if d.selected and d.remote_topic == remote)
        for remote, count in counts.items()
        if count > 1
    }


def _refuse_shared(decision: Decision, sharers: Sequence[str]) -> Decision:
    others = ", ".join(f"`{topic}`" for topic in sharers)
    return replace(
        decision,
        selected=False,
        refused=True,
        reason=f"refused: {others} would share the remote name `{decision.remote_topic}`",
    )
