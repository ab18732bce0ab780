"""What came of checkpoints and of moving groups: small documents for pages, commands and Airflow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mirror.errors import GroupRefused, MirrorError, TryAgain
from mirror.groups.values import GroupPartition
from mirror.kafka.values import TopicPartition

# Groups named one by one in a summary; the rest are counted.
LISTED = 50

THERE_ALREADY = "it is there already"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One partition of a target group that gets another offset; None before: it had none."""

    partition: TopicPartition
    before: int | None
    offset: int
    metadata: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone:
    """One partition of a target group that is not written, what it has there, and why."""

    partition: TopicPartition
    offset: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOutcome:
    """What was done about one group on the target."""

    group: str
    moves: tuple[Move, ...] = ()
    left: tuple[LeftAlone, ...] = ()
    error: MirrorError | None = None

    @property
    def word(self) -> str:
        if self.error is not None:
            return "failed"
        if self.moves:
            return "moved"
        return "in place" if all(left.reason == THERE_ALREADY for left in self.left) else "left alone"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why partitions were left alone, each reason once."""
        told = [self.error.message] if self.error is not None else []
        told += [left.reason for left in self.left if left.reason != THERE_ALREADY]
        return tuple(dict.fromkeys(told))

    def to_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "outcome": self.word,
            "moved": [
                {"topic": m.partition.topic, "partition": m.partition.partition, "from": m.before, "to": m.offset}
                for m in self.moves
            ],
            "left_alone": [
                {
                    "topic": left.partition.topic,
                    "partition": left.partition.partition,
                    "offset": left.offset,
                    "reason": left.reason,
                }
                for left in self.left
            ],
            "error": self.error.to_json() if self.error else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSummary:
    """What the groups committed, where that is on the target, and which checkpoints were written."""

    flow: str
    partitions: tuple[GroupPartition, ...] = ()
    written: int = 0
    filtered: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, MirrorError] = field(default_factory=dict)
    # Why nothing was done at all; empty if it was.
    not_done: str = ""

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(sorted({p.group for p in self.partitions}))

    @property
    def untranslated(self) -> Counter[str]:
        """Why partitions have no translation, with how many each."""
        return Counter(p.answer.reason for p in self.partitions if p.answer.downstream is None)

    def failure(self) -> MirrorError | None:
        return _failure(self.flow, self.failures)

    def to_json(self) -> dict[str, Any]:
        known = [p for p in self.partitions if p.answer.downstream is not None]
        return {
            "flow": self.flow,
            "groups": len(self.groups),
            "partitions": len(self.partitions),
            "exact": sum(p.answer.is_exact for p in known),
            "early": sum(not p.answer.is_exact for p in known),
            "early_by_at_most": max((p.answer.early_by for p in known), default=0),
            "checkpoints_written": self.written,
            "not_translated": dict(self.untranslated.most_common(LISTED)),
            "groups_left_out": dict(list(self.left_out.items())[:LISTED]),
            "groups_left_out_count": len(self.left_out),
            "groups_filtered": len(self.filtered),
            "failed": {group: error.to_json() for group, error in list(self.failures.items())[:LISTED]},
            "not_done": self.not_done,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetSummary:
    """What was done about the target's groups."""

    flow: str
    outcomes: tuple[GroupOutcome, ...] = ()
    not_done: str = ""

    def of(self, word: str) -> tuple[GroupOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.word == word)

    def failure(self) -> MirrorError | None:
        return _failure(self.flow, {o.group: o.error for o in self.outcomes if o.error is not None})

    def to_json(self, *, at_most: int = LISTED) -> dict[str, Any]:
        """Counts, and the groups to which something happened or that were left alone for a reason."""
        told = [o.to_json() for o in self.outcomes if o.word != "in place"]
        return {
            "flow": self.flow,
            "moved": len(self.of("moved")),
            "in_place": len(self.of("in place")),
            "left_alone": len(self.of("left alone")),
            "failed": len(self.of("failed")),
            "reasons": dict(Counter(r for o in self.outcomes for r in o.reasons).most_common(LISTED)),
            "groups": told[:at_most],
            "groups_not_listed": len(told[at_most:]),
            "not_done": self.not_done,
        }


def _failure(flow: str, errors: Mapping[str, MirrorError]) -> MirrorError | None:
    """One error for all groups that failed, to raise when the others are done; tried again only if each can be."""
    if not errors:
        return None
    lines = [f"{group}: {error.message}" for group, error in sorted(errors.items())]
    count = "1 group" if len(lines) == 1 else f"{len(lines)} groups"
    message = f"flow {flow}: {count} failed, the others are done:\n  " + "\n  ".join(lines[:LISTED])
    found = list(errors.values())
    kind = type(found[0]) if all(isinstance(error, TryAgain) for error in found) else GroupRefused
    steps = list(dict.fromkeys(error.next_step for error in found if error.next_step))
    return kind(message, next_step="; ".join(steps[:3]), flow=flow, groups=sorted(errors)[:LISTED])
