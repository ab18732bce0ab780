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


def describe_topics(configuration: Configuration, flow: Flow) -> str:
    return (
        f"Creates the topics of **{flow.source}** that flow `{flow.id}` copies where they are missing on "
        f"**{flow.target}**, and grows those that have too few partitions.\n\n"
        f"Without Airflow: `airmirror topics {flow.slug}`; with `--dry-run` it shows each topic's decision and reason."
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


def _options(configuration: Configuration, flow: Flow, options: tuple[Option[Any], ...]) -> str:
    rows = "".join(
        f"| `{option.name}` | {_cell(opt.value_text(flow[option]))} | {flow.origin(option)} |\n" for option in options
    )
    return (
        f"\n\nConfiguration: `{configuration.path}`; all of it: `airmirror config {flow.slug}`.\n\n"
        f"| option | value | from |\n|---|---|---|\n{rows}"
    )


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`" if text else ""
