"""A group's partition on both sides, and the answer to where it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mirror.errors import MirrorError
from mirror.kafka.groups import Committed, Offsets
from mirror.kafka.values import TopicPartition
from mirror.wire.history import Early, Exact, Translation, Unknown


@dataclass(frozen=True, slots=True)
class Answer:
    """Where a group goes on downstream, and on what ground that is known."""

    translation: Translation
    reason: str

    @property
    def downstream(self) -> int | None:
        """The offset, for rows and documents; there is none where the translation is unknown."""
        return None if isinstance(self.translation, Unknown) else self.translation.downstream

    @property
    def early_by(self) -> int:
        return self.translation.at_most if isinstance(self.translation, Early) else 0

    @property
    def is_exact(self) -> bool:
        return isinstance(self.translation, Exact)


def unknown(reason: str) -> Answer:
    return Answer(Unknown(reason), reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPartition:
    """One partition that a group committed on the source, and where that is on the target."""

    group: str
    partition: TopicPartition
    remote: TopicPartition
    committed: Committed
    answer: Answer
    remote_topic_id: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "remote_topic": self.remote.topic,
            "upstream_offset": self.committed.offset,
            "downstream_offset": self.answer.downstream,
            "exact": self.answer.is_exact,
            "early_by_at_most": self.answer.early_by,
            "reason": self.answer.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsFound:
    """The groups of a source: what the selected ones committed, and why the others are left out."""

    groups: Mapping[str, Offsets]
    # By their names, as the file says; and those that have nothing to translate.
    filtered: Mapping[str, str]
    left_out: Mapping[str, str]
    failures: Mapping[str, MirrorError]
    # When they were asked, in milliseconds; each checkpoint bears it.
    at_ms: int
