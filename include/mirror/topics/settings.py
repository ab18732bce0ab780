"""Which settings of a source topic its copy is created with: MM2's rule, and the room that large records need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mirror.config import Flow
from mirror.filters import ConfigPropertyFilter, settings_filter
from mirror.kafka.values import ConfigEntry

MAX_MESSAGE_BYTES = "max.message.bytes"
# What a Kafka broker allows where nobody set anything.
KAFKA_MAX_MESSAGE_BYTES = 1_048_588

_TIMESTAMP_BOUNDS = ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSettings:
    """The settings that a new topic gets, and what a person should know about them."""

    settings: Mapping[str, str]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingsRule:
    """MM2's rule about settings, around the filter that the file names."""

    filter: ConfigPropertyFilter

    def is_copied(self, entry: ConfigEntry) -> bool:
        """Whether MM2 would make the entry an explicit setting of the remote topic."""
        return self.is_kept_equal(entry) and (not entry.is_default or self.takes_default(entry.name))

    def is_kept_equal(self, entry: ConfigEntry) -> bool:
        """Whether MM2 concerns itself with the entry at all; defaults too, whose explicit counterpart it deletes."""
        return (
            not entry.is_read_only
            and not entry.is_sensitive
            # A value from the source's server.properties belongs to that cluster, not to the topic.
            and entry.source != "STATIC_BROKER_CONFIG"
            and not self.is_excluded(entry.name)
        )

    def is_excluded(self, name: str) -> bool:
        return not self.filter.should_replicate_config_property(name)

    def takes_default(self, name: str) -> bool:
        """Whether a default of the source becomes an explicit setting of the remote topic."""
        return self.filter.should_replicate_source_default(name)


def settings_rule(flow: Flow) -> SettingsRule:
    """The flow's rule about settings."""
    return SettingsRule(settings_filter(flow))


def settings_at_creation(
    upstream: Mapping[str, ConfigEntry], rule: SettingsRule, *, target_max_message_bytes: int
) -> NewSettings:
    """The settings of a copy that does not exist yet."""
    settings = {
        name: entry.value
        for name, entry in sorted(upstream.items())
        if rule.is_copied(entry) and entry.value is not None
    }
    notices = [harm for name in settings if (harm := harm_of(upstream[name]))]
    wanted = max_message_bytes(upstream)
    would_have = int(settings.get(MAX_MESSAGE_BYTES, target_max_message_bytes))
    if wanted > would_have:
        why = f"the source takes records up to {wanted} bytes and the target by itself only {would_have}"
        if not rule.is_excluded(MAX_MESSAGE_BYTES):
            settings[MAX_MESSAGE_BYTES] = str(wanted)
            notices.append(f"{MAX_MESSAGE_BYTES}={wanted} is set, because {why}")
        else:
            notices.append(
                f"{why}; larger ones will stop their partition, because config.properties.exclude "
                f"or an own filter leaves out {MAX_MESSAGE_BYTES}"
            )
    return NewSettings(settings=settings, notices=tuple(notices))


def harm_of(entry: ConfigEntry) -> str:
    """What a person should know of a setting that is copied because MM2 does; empty for most."""
    if entry.name not in _TIMESTAMP_BOUNDS or entry.is_default:
        return ""
    return (
        f"{entry.name}={entry.value} is copied as MM2 does; the target will refuse every record outside that bound, "
        "and the partition stops there: add it to config.properties.exclude if the source holds such records"
    )


def max_message_bytes(effective: Mapping[str, ConfigEntry]) -> int:
    """The size of the largest batch that the topic takes, wherever that is set."""
    entry = effective.get(MAX_MESSAGE_BYTES)
    return int(entry.value) if entry is not None and entry.value else KAFKA_MAX_MESSAGE_BYTES
