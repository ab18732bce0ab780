"""One look at both clusters for all that a comparison needs, in an order that makes up no differences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from mirror.config import Flow
from mirror.copy.control import Control, ControlState
from mirror.copy.spec import FlowLinks
from mirror.copy.state import States, read_states
from mirror.copy.survey import SourceView, view_source
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import ConfigEntry, TopicDescription, TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifySurvey:
    """Both sides' logs and the state between them; partitions are the source's unless they say remote."""

    source: SourceView
    target_topics: Mapping[str, TopicDescription]
    target_starts: Mapping[TopicPartition, int]
    target_ends: Mapping[TopicPartition, int]
    states: States
    control: ControlState
    source_configs: Mapping[str, Mapping[str, ConfigEntry]] = field(default_factory=dict)
    target_configs: Mapping[str, Mapping[str, ConfigEntry]] = field(default_factory=dict)
    # The first offset of each partition that is asked for, where the asking was by time; None: it has none so young.
    since: Mapping[TopicPartition, int | None] | None = None


def survey_both(
    flow: Flow,
    links: FlowLinks,
    source: Cluster,
    target: Cluster,
    topics: re.Pattern[str] | None = None,
    since_ms: int | None = None,
) -> VerifySurvey:
    """The target's ends first, then the states: what lies between is then nobody's copy, also while one is running."""
    view = view_source(flow, source, topics)
    described = target.describe(d.remote_topic for d in view.decisions.values())
    remotes = [TopicPartition(t.name, n) for t in described.values() for n in range(t.partition_count)]
    ends = target.stable_ends(remotes)
    existing = target.describe([links.syncs_topic, links.control_topic])
    # To the high watermark: a state behind another slot's open transaction must not be taken for uncopied.
    states = read_states(links, target) if links.syncs_topic in existing else States(states={}, read_to=0)
    control = Control(links, target).read() if links.control_topic in existing else ControlState()
    return VerifySurvey(
        source=view,
        target_topics=described,
        target_starts=target.log_starts(remotes),
        target_ends=ends,
        states=states,
        control=control,
        source_configs=source.configs(view.topics),
        target_configs=target.configs(described),
        since=None if since_ms is None else source.offsets_at(since_ms, view.partitions),
    )


def is_compacted(configs: Mapping[str, Mapping[str, ConfigEntry]], topic: str) -> bool:
    policy = configs.get(topic, {}).get("cleanup.policy")
    return policy is not None and "compact" in (policy.value or "")


def is_stamped_by_brokers(configs: Mapping[str, Mapping[str, ConfigEntry]], topic: str) -> bool:
    entry = configs.get(topic, {}).get("message.timestamp.type")
    return entry is not None and entry.value == "LogAppendTime"
