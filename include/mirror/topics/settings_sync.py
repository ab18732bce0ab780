"""Keep remote topics' settings equal to the source's: MM2's rule, but only what differs is written, and said.

For each setting of a source topic:
    excluded, read-only, sensitive, or from the source's server.properties    nothing: what the target has stays
    a default, and the target's defaults count                                the target's explicit value is deleted
    anything else                                                             set on the target where it is not so
One setting beyond MM2's rule: a remote topic takes records as large as its source topic does (see `settings`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.errors import MirrorError, TopicRefused, TryAgain
from mirror.kafka.cluster import Cluster
from mirror.kafka.configs import SettingChange
from mirror.kafka.forwarding import admin_of
from mirror.kafka.values import ConfigEntry
from mirror.selection import Decision, Selector
from mirror.topics.limits import smallest_record_limit
from mirror.topics.settings import MAX_MESSAGE_BYTES, SettingsRule, harm_of, max_message_bytes, settings_rule
from mirror.topics.values import TopicFailure, joint_failure

log = logging.getLogger(__name__)

_EXPLICIT = "DYNAMIC_TOPIC_CONFIG"
_NEXT_STEP = "add the setting to config.properties.exclude, or change it on the source topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingDifference:
    """One setting of a remote topic that is not as the source's, what makes it so, and why."""

    topic: str
    change: SettingChange
    now: str | None  # the target's explicit value, None where it has none
    reason: str

    def __str__(self) -> str:
        was = "not set" if self.now is None else f"was {self.now}"
        if self.change.operation == "delete":
            return f"delete {self.change.name} ({was}): {self.reason}"
        return f"set {self.change.name}={self.change.value} ({was}): {self.reason}"

    def to_json(self) -> dict[str, Any]:
        return {"topic": self.topic, **asdict(self.change), "now": self.now, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPlan:
    """What is to be changed on the target so that its settings equal the source's."""

    flow: str
    target: str
    differences: tuple[SettingDifference, ...]
    notices: tuple[str, ...]
    topic_count: int

    def to_json(self) -> dict[str, Any]:
        return {
            "topic_count": self.topic_count,
            "change": [difference.to_json() for difference in self.differences],
            "notices": list(self.notices),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSummary:
    """What carrying out such a plan changed, and which topics refused."""

    flow: str
    changed: tuple[SettingDifference, ...]
    failures: tuple[TopicFailure, ...]
    notices: tuple[str, ...]
    topic_count: int

    def failure(self) -> MirrorError | None:
        return joint_failure(self.flow, self.failures)

    def to_json(self) -> dict[str, Any]:
        return {
            "topic_count": self.topic_count,
            "changed": [difference.to_json() for difference in self.changed],
            "failed": [failure.to_json() for failure in self.failures],
            "notices": list(self.notices),
        }


def compare_settings(flow: Flow, source: Cluster, target: Cluster) -> SettingsPlan:
    """Read the settings of every remote topic that exists, and of its source topic; changes nothing."""
    decisions = [d for d in Selector(flow).decide_all(source.topic_names()) if d.selected]
    downstream = target.configs(set(target.topic_names()) & {d.remote_topic for d in decisions})
    existing = [d for d in decisions if d.remote_topic in downstream]
    return plan_settings(
        flow,
        existing,
        source.configs(d.topic for d in existing),
        downstream,
        target_max_message_bytes=smallest_record_limit(target),
    )


def plan_settings(
    flow: Flow,
    decisions: Sequence[Decision],
    upstream: Mapping[str, Mapping[str, ConfigEntry]],
    downstream: Mapping[str, Mapping[str, ConfigEntry]],
    *,
    target_max_message_bytes: int,
) -> SettingsPlan:
    """What differs, per topic that both sides describe; a pure function of what was read."""
    rule = settings_rule(flow)
    differences: list[SettingDifference] = []
    notices: list[str] = []
    known = [d for d in decisions if d.topic in upstream and d.remote_topic in downstream]
    for decision in known:
        here, there = upstream[decision.topic], downstream[decision.remote_topic]
        found = [*_differences(decision, here, there, rule, target_max_message_bytes)]
        differences += found
        notices += [f"{decision.remote_topic}: {text}" for text in _notices(here, there, found, rule)]
    return SettingsPlan(
        flow=flow.id,
        target=flow.target,
        differences=tuple(differences),
        notices=tuple(notices),
        topic_count=len(known),
    )


def _differences(
    decision: Decision,
    upstream: Mapping[str, ConfigEntry],
    downstream: Mapping[str, ConfigEntry],
    rule: SettingsRule,
    target_limit: int,
) -> Iterator[SettingDifference]:
    room = _room_needed(upstream, downstream, rule, target_limit)
    for name, entry in sorted(upstream.items()):
        remote = downstream.get(name)
        if remote is None:  # a setting of newer brokers: to set it would be refused, and all others with it
            continue
        now = remote.value if remote.source == _EXPLICIT else None
        wanted = room if name == MAX_MESSAGE_BYTES and room else _wanted(entry, rule)
        if wanted is None:
            continue
        change, reason = wanted
        is_so = now == change.value if change.operation == "set" else now is None
        if not is_so:
            yield SettingDifference(topic=decision.remote_topic, change=change, now=now, reason=reason)


def _wanted(entry: ConfigEntry, rule: SettingsRule) -> tuple[SettingChange, str] | None:
    """What MM2 would do about one setting of the source topic, and why; None if nothing."""
    if not rule.is_kept_equal(entry) or entry.value is None:
        return None
    if entry.is_default and not rule.takes_default(entry.name):
        return SettingChange(name=entry.name, operation="delete"), "the source topic does not set it"
    reason = "the source topic has it"
    if entry.is_default:
        reason = "it is the source's default, and those are taken (use.defaults.from, or an own filter)"
    elif entry.source != _EXPLICIT:
        reason = "the source's brokers have it as a dynamic default"
    return SettingChange(name=entry.name, operation="set", value=entry.value), reason


def _room_needed(
    upstream: Mapping[str, ConfigEntry], downstream: Mapping[str, ConfigEntry], rule: SettingsRule, target_limit: int
) -> tuple[SettingChange, str] | None:
    """The explicit size without which the target would take smaller records than the source, beyond MM2's rule."""
    entry = upstream.get(MAX_MESSAGE_BYTES)
    if entry is None or rule.is_copied(entry) or rule.is_excluded(MAX_MESSAGE_BYTES):
        return None
    wanted = max_message_bytes(upstream)
    # With a default at the source, MM2's rule deletes what the target has, so that its brokers' limit counts; with a
    # value of the source's brokers it leaves the target alone, so that what is there counts.
    would_have = target_limit if entry.is_default else max_message_bytes(downstream)
    if wanted <= would_have:
        return None
    return (
        SettingChange(name=MAX_MESSAGE_BYTES, operation="set", value=str(wanted)),
        f"the source takes records up to {wanted} bytes and the target by itself only {would_have}",
    )


def _notices(
    upstream: Mapping[str, ConfigEntry],
    downstream: Mapping[str, ConfigEntry],
    found: Sequence[SettingDifference],
    rule: SettingsRule,
) -> Iterator[str]:
    for difference in found:
        if difference.change.operation == "set" and (harm := harm_of(upstream[difference.change.name])):
            yield harm
    for name, entry in sorted(upstream.items()):
        if name not in downstream and rule.is_copied(entry) and not entry.is_default:
            yield f"{name}={entry.value} is not copied, because the target's brokers do not know it"


def apply_settings(plan: SettingsPlan, target: Cluster) -> SettingsSummary:
    """Write the differences; each topic by itself, so that one that is refused does not hold up the others."""
    by_topic: dict[str, list[SettingDifference]] = {}
    for difference in plan.differences:
        by_topic.setdefault(difference.topic, []).append(difference)
    changes = {topic: [d.change for d in found] for topic, found in by_topic.items()}
    outcomes = admin_of(target).alter_settings(changes) if changes else {}
    changed: list[SettingDifference] = []
    failures: list[TopicFailure] = []
    for topic, found in by_topic.items():
        if (error := outcomes.get(topic)) is not None:
            failures.append(_failure(plan.target, topic, error))
            continue
        changed += found
        for difference in found:
            log.info("settings flow=%s topic=%s %s", plan.flow, topic, difference)
    return SettingsSummary(
        flow=plan.flow,
        changed=tuple(changed),
        failures=tuple(failures),
        notices=plan.notices,
        topic_count=plan.topic_count,
    )


def _failure(cluster: str, topic: str, error: MirrorError) -> TopicFailure:
    log.info("refused cluster=%s topic=%s reason=%s", cluster, topic, error.message)
    if not isinstance(error, TryAgain):
        error = TopicRefused(error.message, next_step=error.next_step or _NEXT_STEP, cluster=cluster, topic=topic)
    return TopicFailure(cluster=cluster, topic=topic, error=error)


def settings_switch(flow: Flow) -> str:
    """Why this flow's settings are not kept equal; empty if they are."""
    option = opt.SYNC_TOPIC_CONFIGS_ENABLED
    return "" if flow[option] else f"{option.name} = false ({flow.origin(option)})"
