"""What clusters say about themselves, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class TopicPartition(NamedTuple):
    """One partition of one topic; sorts by topic, then partition."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDescription:
    """A topic as a cluster describes it; `id` is empty where brokers are older than 2.8."""

    name: str
    id: str
    partition_count: int
    is_internal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """A topic about to be created; a replication factor of -1 leaves the choice to the brokers."""

    name: str
    partition_count: int
    replication_factor: int
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """One setting of a topic and where it comes from (MM2's rules look at all of these)."""

    name: str
    value: str | None
    source: str  # a name of Kafka's ConfigSource, such as DYNAMIC_TOPIC_CONFIG or DEFAULT_CONFIG
    is_read_only: bool
    is_sensitive: bool

    @property
    def is_default(self) -> bool:
        return self.source == "DEFAULT_CONFIG"
