"""What a Dag's page says about its flow: what it does, with which values, and where each of them comes from."""

from __future__ import annotations

from typing import Any

from mirror.config import Configuration, Flow
from mirror.config import options as opt
from mirror.config.options import Option

# Only options that can hold no secret.
_TOPICS: tuple[Option[Any], ...] = (
    opt.TOPICS,
    opt.TOPICS_EXCLUDE,
    opt.REPLICATION_POLICY_CLASS,
    opt.REPLICATION_FACTOR,
    opt.REFRESH_TOPICS_ENABLED,
    opt.REFRESH_TOPICS_INTERVAL,
)
_COPY: tuple[Option[Any], ...] = (
    opt.TOPICS,
    opt.TOPICS_EXCLUDE,
    opt.COPY_SCHEDULE,
    opt.COPY_WINDOW_SECONDS,
    opt.COPY_MAX_BYTES_PER_SECOND,
    opt.TASKS_MAX,
    opt.ON_GAP,
    opt.ON_RECREATED,
    opt.ON_FOREIGN_DATA,
)
_CONFIGS: tuple[Option[Any], ...] = (
    opt.SYNC_TOPIC_CONFIGS_ENABLED,
    opt.SYNC_TOPIC_CONFIGS_INTERVAL,
    opt.CONFIG_PROPERTIES_EXCLUDE,
    opt.USE_DEFAULTS_FROM,
)
_ACLS: tuple[Option[Any], ...] = (
    opt.SYNC_TOPIC_ACLS_ENABLED,
    opt.SYNC_TOPIC_ACLS_INTERVAL,
    opt.ACLS_PRUNE,
    opt.TOPICS,
    opt.TOPICS_EXCLUDE,
)
_GROUPS: tuple[Option[Any], ...] = (
    opt.GROUPS,
    opt.GROUPS_EXCLUDE,
    opt.EMIT_CHECKPOINTS_ENABLED,
    opt.EMIT_CHECKPOINTS_INTERVAL,
    opt.SYNC_GROUP_OFFSETS_ENABLED,
    opt.SYNC_GROUP_OFFSETS_INTERVAL,
)
_HEARTBEATS: tuple[Option[Any], ...] = (
    opt.EMIT_HEARTBEATS_ENABLED,
    opt.EMIT_HEARTBEATS_INTERVAL,
    opt.HEARTBEATS_REPLICATION_ENABLED,
    opt.HEARTBEATS_REPLICATION_FACTOR,
)


def describe_topics(configuration: Configuration, flow: Flow) -> str:
    return (
        f"Creates the topics of **{flow.source}** that flow `{flow.id}` copies where they are missing on "
        f"**{flow.target}**, and grows those that have too few partitions. `discover` begins with the quick part of "
        "preflight: that these are two clusters, and that the rights for topics are there; what is missing fails it "
        "with the command that grants it.\n\n"
        f"Without Airflow: `airmirror topics {flow.slug}`; with `--dry-run` it shows each topic's decision and reason. "
        f"All checks: `airmirror preflight {flow.slug}`; what every Dag would change: `airmirror plan {flow.slug}`."
        + _options(configuration, flow, _TOPICS)
    )


def describe_copy(configuration: Configuration, flow: Flow) -> str:
    return (
        f"Copies records from **{flow.source}** to **{flow.target}**, each exactly once and in order.\n\n"
        "`look` asks both clusters what is new; if nothing is, `copy` is skipped and Spark is not started. "
        "A run that finds another copy of this flow at work is skipped. A partition that cannot be copied fails the "
        "run at its end, when all others are done; the log names it, its offset and the next command.\n\n"
        f"Without Airflow: `airmirror copy {flow.slug}`; how far behind: `airmirror lag {flow.slug}`."
        + _options(configuration, flow, _COPY)
    )


def describe_configs(configuration: Configuration, flow: Flow) -> str:
    return (
        f"Makes the settings of remote topics on **{flow.target}** equal to those of their topics on "
        f"**{flow.source}**. Only what differs is written, and the log says each change with its reason; what was "
        "changed by hand on the target comes back, unless its name is excluded.\n\n"
        f"Without Airflow: `airmirror topics {flow.slug}`; with `--dry-run` it shows what differs."
        + _options(configuration, flow, _CONFIGS)
    )


def describe_acls(configuration: Configuration, flow: Flow) -> str:
    return (
        f"Copies the ACLs of topics' readers from **{flow.source}** to remote topics on **{flow.target}**: no right to "
        "write goes with them, and none is removed unless `airmirror.acls.prune` says so.\n\n"
        f"Without Airflow: `airmirror topics {flow.slug}`; with `--dry-run` it shows what would change."
        + _options(configuration, flow, _ACLS)
    )


def describe_groups(configuration: Configuration, flow: Flow) -> str:
    return (
        f"Takes the consumer groups of **{flow.source}** over to **{flow.target}**. `checkpoints` translates what they "
        "committed and publishes it in MM2's format; `sync_group_offsets` moves the groups of the same name on "
        f"{flow.target}, where `sync.group.offsets.enabled` is true: only groups that nobody uses there, and never "
        "backwards. The log and the summary name each group that was moved, and each that was left alone and why.\n\n"
        "After each copy that wrote records, and on the shorter of the two intervals, not under a minute.\n\n"
        f"Without Airflow: `airmirror groups {flow.slug}`; one group in detail: "
        f"`airmirror translate {flow.slug} --group G`." + _options(configuration, flow, _GROUPS)
    )


def describe_heartbeats(configuration: Configuration, flow: Flow) -> str:
    copies = f"copies the heartbeats topics of **{flow.source}** there, in this task and without Spark"
    return (
        f"Writes the heartbeat of `{flow.id}` on **{flow.target}**"
        + (f" and {copies}" if flow.enabled else "; the flow itself is not enabled and copies nothing")
        + ". Not more often than once a minute, whatever `emit.heartbeats.interval.seconds` says: a task costs more "
        "than a thread of MM2's.\n\n"
        f"That the opposite flow `{flow.target}->{flow.source}` lives is seen on {flow.source} by this heartbeat. "
        f"Where nothing may be written on {flow.target}, because it is only read: "
        f"`{flow.id}.emit.heartbeats.enabled = false`.\n\n"
        f"Without Airflow: `airmirror heartbeats {flow.slug}`, which also tells how old the newest are."
        + _options(configuration, flow, _HEARTBEATS)
    )


def _options(configuration: Configuration, flow: Flow, options: tuple[Option[Any], ...]) -> str:
    rows = "".join(f"| `{option.name}` | {_cell(flow.text(option))} | {flow.origin(option)} |\n" for option in options)
    return (
        f"\n\nConfiguration: `{configuration.path}`; all of it: `airmirror config {flow.slug}`.\n\n"
        f"| option | value | from |\n|---|---|---|\n{rows}"
    )


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`" if text else ""
