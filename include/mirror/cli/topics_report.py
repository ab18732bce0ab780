"""What `airmirror topics` prints: what would be done, what was done, and what was switched off or refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from mirror.cli.quantities import counted
from mirror.cli.tables import print_table
from mirror.errors import MirrorError
from mirror.topics import AclPlan, AclSummary, SettingsPlan, SettingsSummary, Switched, TopicPlan, TopicSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """All that a run would do."""

    topics: TopicPlan
    settings: SettingsPlan | Switched | MirrorError
    acls: AclPlan | Switched | MirrorError

    def errors(self) -> list[MirrorError]:
        return [part for part in (self.settings, self.acls) if isinstance(part, MirrorError)]

    def to_json(self) -> dict[str, Any]:
        return {
            **self.topics.to_json(),
            "decisions": [asdict(decision) for decision in self.topics.decisions],
            "settings": self.settings.to_json(),
            "acls": self.acls.to_json(),
        }


def print_plans(plans: Plans) -> None:
    _print_topic_plan(plans.topics)
    settings, acls = plans.settings, plans.acls
    if isinstance(settings, SettingsPlan):
        rows = [(difference.topic, str(difference)) for difference in settings.differences]
        _print_table(f"settings on {settings.target} that differ", ("topic", "would"), rows)
        _print_notices(settings.notices)
    if isinstance(acls, AclPlan):
        rows = [("create", str(acl)) for acl in acls.grants] + [("remove", str(acl)) for acl in acls.revocations]
        rows += [("leave", f"{acl}, which the source has not") for acl in acls.stale if not acls.prunes]
        _print_table(f"ACLs on {acls.target}", ("would", "binding"), rows)
        _print_notices(acls.notices)
    plan = plans.topics
    print(
        f"{plan.flow}: {plan.selected_count} of {plan.topic_count} topics selected; would create "
        f"{len(plan.creations)} and grow {len(plan.growths)}; {_settings_words(settings)}; {_acl_words(acls)}. "
        "Nothing was changed."
    )


def _settings_words(settings: SettingsPlan | Switched | MirrorError) -> str:
    if isinstance(settings, SettingsPlan):
        return f"would change {counted(len(settings.differences), 'setting')}"
    return _off_words("settings", settings)


def _acl_words(acls: AclPlan | Switched | MirrorError) -> str:
    if isinstance(acls, AclPlan):
        return f"would create {counted(len(acls.grants), 'ACL')} and remove {len(acls.revocations)}"
    return _off_words("ACLs", acls)


def _off_words(part: str, outcome: Switched | MirrorError) -> str:
    return f"{part} are off by {outcome.off}" if isinstance(outcome, Switched) else f"{part} could not be compared"


def _print_topic_plan(plan: TopicPlan) -> None:
    actions = {c.upstream_topic: f"create, {_partitions(c.topic.partition_count)}" for c in plan.creations}
    actions |= {g.upstream_topic: f"grow from {g.partition_count_now} to {g.partition_count}" for g in plan.growths}
    print_table(
        f"topics of {plan.source} for {plan.flow}",
        ("source topic", "decision", "remote topic", "would"),
        [
            (
                decision.topic,
                decision.reason,
                decision.remote_topic if decision.selected else "",
                actions.get(decision.topic, "nothing: it is there") if decision.selected else "",
            )
            for decision in plan.decisions
        ],
        wrapped=("source topic", "decision", "remote topic"),
        dim=[not decision.selected and not decision.refused for decision in plan.decisions],
    )
    for creation in plan.creations:
        if not creation.upstream_topic:
            print(f"would create internal topic {creation.topic.name} on {creation.cluster}")
    _print_notices(plan.notices)


def print_summaries(
    topics: TopicSummary, settings: SettingsSummary | Switched | MirrorError, acls: AclSummary | Switched | MirrorError
) -> None:
    target = topics.flow.partition("->")[2]
    rows = [*_topic_rows(topics, target)]
    notices = [*topics.notices]
    if isinstance(settings, SettingsSummary):
        rows += [(target, difference.topic, str(difference)) for difference in settings.changed]
        rows += [(failure.cluster, failure.topic, failure.error.message) for failure in settings.failures]
        notices += settings.notices
    if isinstance(acls, AclSummary):
        rows += [(target, acl.topic, f"granted: {acl}") for acl in acls.granted]
        rows += [(target, acl.topic, f"removed: {acl}") for acl in acls.revoked]
        rows += [(failure.cluster, failure.topic, failure.error.message) for failure in acls.failures]
        notices += acls.notices
    _print_table(f"topics of {topics.flow}", ("cluster", "topic", "done"), rows)
    _print_notices(notices)
    _print_last_line(topics, settings, acls, has_rows=bool(rows))


def _print_last_line(
    topics: TopicSummary,
    settings: SettingsSummary | Switched | MirrorError,
    acls: AclSummary | Switched | MirrorError,
    *,
    has_rows: bool,
) -> None:
    head = f"{topics.flow}: {topics.selected_count} of {topics.topic_count} topics selected; "
    parts = []
    if has_rows:
        parts.append(f"created {len(topics.created)}, grew {len(topics.grown)}, failed {len(topics.failures)}")
    else:
        parts.append("all are there, nothing to do")
    if isinstance(settings, SettingsSummary) and settings.changed:
        parts.append(f"changed {counted(len(settings.changed), 'setting')}")
    if isinstance(acls, AclSummary) and (acls.granted or acls.revoked):
        parts.append(f"granted {counted(len(acls.granted), 'ACL')} and removed {len(acls.revoked)}")
    for name, part in (("settings", settings), ("ACLs", acls)):
        if isinstance(part, Switched | MirrorError):
            parts.append(_off_words(name, part))
    print(head + "; ".join(parts) + ".")


def _topic_rows(summary: TopicSummary, target: str) -> Iterator[tuple[str, str, str]]:
    for creation in summary.created:
        topic = creation.topic
        settings = "".join(f", {name}={value}" for name, value in topic.configs.items())
        yield creation.cluster, topic.name, f"created, {_partitions(topic.partition_count)}{settings}"
    for growth in summary.grown:
        done = f"grown from {growth.partition_count_now} to {growth.partition_count} partitions"
        yield target, growth.topic, done
    for failure in summary.failures:
        yield failure.cluster, failure.topic, failure.error.message


def _print_table(title: str, headings: tuple[str, ...], rows: list[Any]) -> None:
    if rows:
        print_table(title, headings, rows, wrapped=headings[1:])


def _partitions(count: int) -> str:
    return counted(count, "partition")


def _print_notices(notices: Iterable[str]) -> None:
    for notice in notices:
        print(f"note: {notice}")
