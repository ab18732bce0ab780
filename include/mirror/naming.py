"""What a topic is called on the other side, and what a name tells about where its records came from.

A policy answers three questions (`format_remote_topic`, `topic_source`, `upstream_topic`); all others follow
from them. The answers are MirrorMaker 2's, so that either program recognises the other's topics, with one mend:
where a name starts with a known alias and the separator, that alias is recognised whole. MM2 takes the first
segment only, so with an alias like `us.west` it never recognises its own copies: it loses their growth and
settings, and active/active flows copy them back and forth under ever longer names.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.import_paths import built_in_name
from mirror.custom import load_configured

# Kafka refuses longer names, because a partition's directory on the broker's disk must stay within 255 characters.
TOPIC_NAME_MAX_LENGTH = 249

_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class ReplicationPolicy(ABC):
    """How remote topics are named; subclasses give the three primitives, the rest follows as in MM2."""

    @abstractmethod
    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        """The name that the copy of `topic` has on the target."""

    @abstractmethod
    def topic_source(self, topic: str) -> str | None:
        """The alias of the cluster that `topic` was copied from; None where the name does not tell."""

    @abstractmethod
    def upstream_topic(self, topic: str) -> str | None:
        """The name that `topic` has on the cluster it was copied from, one hop back; None if it is no copy."""

    def hops(self, topic: str) -> Iterator[tuple[str, str]]:
        """Each hop that the name tells of, newest first, as (alias, name there); ends where a name repeats."""
        seen = {topic}
        while (source := self.topic_source(topic)) is not None:
            upstream = self.upstream_topic(topic)
            yield source, topic if upstream is None else upstream
            if upstream is None or upstream in seen:
                return
            seen.add(upstream)
            topic = upstream

    def original_topic(self, topic: str) -> str:
        """The name with all hops taken off."""
        seen = {topic}
        while (upstream := self.upstream_topic(topic)) is not None and upstream not in seen:
            seen.add(upstream)
            topic = upstream
        return topic

    def heartbeats_topic(self) -> str:
        return "heartbeats"

    def offset_syncs_topic(self, alias: str) -> str:
        """MM2's offset-syncs topic; it carries the alias of the cluster on the other side from where it lives."""
        return f"mm2-offset-syncs.{alias}.internal"

    def checkpoints_topic(self, alias: str) -> str:
        return f"{alias}.checkpoints.internal"

    def is_heartbeats(self, topic: str) -> bool:
        return self.original_topic(topic) == self.heartbeats_topic()

    def is_checkpoints(self, topic: str) -> bool:
        return topic.endswith(".checkpoints.internal")

    def is_mm2_internal(self, topic: str) -> bool:
        """Whether MM2 made the topic for itself (the rule of 4.0 and later: `user.internal` is the user's)."""
        return (topic.startswith("mm2") and topic.endswith(".internal")) or self.is_checkpoints(topic)

    def is_internal(self, topic: str) -> bool:
        return self.is_mm2_internal(topic) or is_kafka_internal(topic)


class DefaultPolicy(ReplicationPolicy):
    """`orders` of cluster A is `A.orders` on the target: alias, separator, name."""

    def __init__(
        self, *, separator: str = ".", internal_separator_enabled: bool = True, aliases: Sequence[str] = ()
    ) -> None:
        self.separator = separator
        self._internal_separator = separator if internal_separator_enabled else "."
        # Longest first: with aliases `us` and `us.west`, `us.west.orders` came from `us.west`.
        self._aliases = tuple(sorted(set(aliases), key=lambda alias: (-len(alias), alias)))

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        return f"{source_alias}{self.separator}{topic}"

    def topic_source(self, topic: str) -> str | None:
        for alias in self._aliases:
            prefix = alias + self.separator
            # MM2's rule too: `A.` and `A..` tell of no source, because only separators follow.
            if topic.startswith(prefix) and any(topic[len(prefix) :].split(self.separator)):
                return alias
        parts = _java_split(topic, self.separator)
        return parts[0] if len(parts) >= 2 else None

    def upstream_topic(self, topic: str) -> str | None:
        source = self.topic_source(topic)
        return None if source is None else topic[len(source) + len(self.separator) :]

    def offset_syncs_topic(self, alias: str) -> str:
        s = self._internal_separator
        return f"mm2-offset-syncs{s}{alias}{s}internal"

    def checkpoints_topic(self, alias: str) -> str:
        s = self._internal_separator
        return f"{alias}{s}checkpoints{s}internal"

    def is_checkpoints(self, topic: str) -> bool:
        s = self._internal_separator
        return topic.endswith(f"{s}checkpoints{s}internal")

    def is_mm2_internal(self, topic: str) -> bool:
        suffix = f"{self._internal_separator}internal"
        return (topic.startswith("mm2") and topic.endswith(suffix)) or self.is_checkpoints(topic)


class IdentityPolicy(DefaultPolicy):
    """Names stay as they are, except those that end with `heartbeats`, which are named as by the default policy.

    Every other topic of the target counts as a copy from the source, so cycles of data topics cannot be seen.
    """

    def __init__(
        self,
        *,
        source_alias: str | None = None,
        separator: str = ".",
        internal_separator_enabled: bool = True,
        aliases: Sequence[str] = (),
    ) -> None:
        super().__init__(separator=separator, internal_separator_enabled=internal_separator_enabled, aliases=aliases)
        self._source_alias = source_alias

    def _is_prefixed(self, topic: str) -> bool:
        return topic.endswith(self.heartbeats_topic())

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        return super().format_remote_topic(source_alias, topic) if self._is_prefixed(topic) else topic

    def topic_source(self, topic: str) -> str | None:
        return super().topic_source(topic) if self._is_prefixed(topic) else self._source_alias

    def upstream_topic(self, topic: str) -> str | None:
        return super().upstream_topic(topic) if self._is_prefixed(topic) else topic


class LegacyPolicy(DefaultPolicy):
    """As MirrorMaker 1 named topics: every name stays, and no name tells where its records came from.

    MirrorMaker 1 knew neither prefixes nor heartbeats, so nothing here can see a cycle: two flows of opposite
    directions would send each record round for ever. MM2's internal topics are named as by the default policy.
    """

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        return topic

    def topic_source(self, topic: str) -> str | None:
        return None

    def upstream_topic(self, topic: str) -> str | None:
        return None


# What airmirror asks of a policy; ReplicationPolicy derives all but the first three.
_FUNCTIONS = (
    "format_remote_topic",
    "topic_source",
    "upstream_topic",
    "hops",
    "original_topic",
    "heartbeats_topic",
    "offset_syncs_topic",
    "checkpoints_topic",
    "is_heartbeats",
    "is_checkpoints",
    "is_mm2_internal",
    "is_internal",
)


def policy_of(flow: Flow) -> ReplicationPolicy:
    """The policy that the file names for this flow: one of MM2's by its Java name, or a Python class of the user's."""
    separator = flow[opt.REPLICATION_POLICY_SEPARATOR]
    enabled = flow[opt.INTERNAL_TOPIC_SEPARATOR_ENABLED]
    match built_in_name(flow[opt.REPLICATION_POLICY_CLASS]):
        case "DefaultReplicationPolicy":
            return DefaultPolicy(separator=separator, internal_separator_enabled=enabled, aliases=flow.aliases)
        case "IdentityReplicationPolicy":
            return IdentityPolicy(
                source_alias=flow.source, separator=separator, internal_separator_enabled=enabled, aliases=flow.aliases
            )
        case "LegacyReplicationPolicy":
            return LegacyPolicy(separator=separator, internal_separator_enabled=enabled, aliases=flow.aliases)
    own: ReplicationPolicy = load_configured(flow, opt.REPLICATION_POLICY_CLASS, ReplicationPolicy, _FUNCTIONS)
    return own


def syncs_topic(source_alias: str) -> str:
    """Our offset syncs of the flows from this source, on the target; dots whatever the separator is."""
    return f"mm2-offset-syncs-airmirror.{source_alias}.internal"


def control_topic(source_alias: str) -> str:
    """Our claims, flow states and results of the flows from this source, on the target; always with dots."""
    return f"mm2-airmirror.{source_alias}.internal"


def is_own(topic: str) -> bool:
    """Whether airmirror made the topic for itself; never copied, whatever a policy of the user's own says."""
    return re.fullmatch(r"mm2-(offset-syncs-)?airmirror\..*\.internal", topic) is not None


def is_kafka_internal(topic: str) -> bool:
    return topic.startswith(("__", "."))


def name_problem(name: str) -> str:
    """Why Kafka would not take a topic of this name; empty if it would."""
    if not name:
        return "would be empty"
    if name in (".", ".."):
        return f"would be `{name}`, which Kafka does not allow"
    if len(name) > TOPIC_NAME_MAX_LENGTH:
        return f"would have {len(name)} characters, Kafka allows {TOPIC_NAME_MAX_LENGTH}"
    if _LEGAL_NAME.fullmatch(name) is None:
        return f"would be `{name}`, Kafka allows only letters, digits, `.`, `_` and `-`"
    return ""


def _java_split(text: str, separator: str) -> list[str]:
    """Split as Java does: trailing empty parts are dropped, leading ones stay."""
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts
