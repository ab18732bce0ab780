"""What a drill found: values that travel as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mirror.errors import DrillFailed
from mirror.kafka.values import TopicPartition
from mirror.operations.drill.compare import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionPoint:
    """How far the target was behind in one partition when the source was taken for gone."""

    partition: TopicPartition
    position: int
    source_end: int
    lag: int | None
    # The newest record that was copied, and the first that was not; None where there is none to be seen.
    newest_ms: int | None
    oldest_missing_ms: int | None

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "position": self.position,
            "source_end": self.source_end,
            "lag_records": self.lag,
            "newest_record": iso(self.newest_ms),
            "oldest_missing": iso(self.oldest_missing_ms),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryPoint:
    """What a failover at this moment would have lost: measured at the source, which a real one could not ask."""

    at_ms: int
    partitions: tuple[PartitionPoint, ...]

    @property
    def missing(self) -> int:
        """Offsets not yet copied: an upper bound of the records among them."""
        return sum(p.lag or 0 for p in self.partitions)

    @property
    def behind_s(self) -> float:
        """The age of the oldest record that was not copied yet; 0 where all were."""
        oldest = min((p.oldest_missing_ms for p in self.partitions if p.oldest_missing_ms is not None), default=None)
        return 0.0 if oldest is None else max(self.at_ms - oldest, 0) / 1000

    @property
    def newest_ms(self) -> int | None:
        return max((p.newest_ms for p in self.partitions if p.newest_ms is not None), default=None)

    @property
    def newest_age_s(self) -> float | None:
        """The age of the newest record on the target; of a quiet source it is old though nothing is missing."""
        return None if self.newest_ms is None else max(self.at_ms - self.newest_ms, 0) / 1000

    def to_json(self) -> dict[str, Any]:
        return {
            "as_of": iso(self.at_ms),
            "records_missing": self.missing,
            "oldest_missing_seconds": round(self.behind_s, 3),
            "newest_record": iso(self.newest_ms),
            "newest_record_age_seconds": None if self.newest_age_s is None else round(self.newest_age_s, 3),
            "partitions": [p.to_json() for p in self.partitions],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFinding:
    """One partition of one group: where its copy stood, and what came of reading there."""

    remote: TopicPartition
    upstream_offset: int
    offset: int
    comparison: Comparison
    # How far the group has gone on at the source since its checkpoint: read again after a failover. None: not known.
    behind_checkpoint: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.remote.topic,
            "partition": self.remote.partition,
            "upstream_offset": self.upstream_offset,
            "offset": self.offset,
            "verdict": self.comparison.verdict,
            "records_compared": self.comparison.compared,
            "records_read_again": self.comparison.read_again,
            "offsets_since_checkpoint": self.behind_checkpoint,
            "reason": self.comparison.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFinding:
    """One group: how long its consumer took, and what it read."""

    group: str
    partitions: tuple[PartitionFinding, ...] = ()
    without_offset: tuple[tuple[TopicPartition, str], ...] = ()
    left_alone: tuple[str, ...] = ()
    joined_s: float | None = None
    first_record_s: float | None = None
    # Why the group could not be rehearsed at all; empty if it could.
    error: str = ""

    @property
    def failures(self) -> tuple[str, ...]:
        """What an application would stumble over."""
        told = [self.error] if self.error else []
        told += [f"{p.remote}: {p.comparison.reason}" for p in self.partitions if p.comparison.verdict == "differs"]
        return tuple(told)

    @property
    def verdicts(self) -> Counter[str]:
        return Counter(p.comparison.verdict for p in self.partitions)

    @property
    def ready_s(self) -> float | None:
        """From its consumer's start to its first record, or to knowing that there is none."""
        return self.joined_s if self.first_record_s is None else self.first_record_s

    @property
    def read_again(self) -> int:
        """At most so many records are processed twice: early translations, and what followed the checkpoint."""
        return sum(p.comparison.read_again + (p.behind_checkpoint or 0) for p in self.partitions)

    def to_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "passed": not self.failures,
            "seconds_to_join": _rounded(self.joined_s),
            "seconds_to_first_record": _rounded(self.first_record_s),
            "records_read_again_at_most": self.read_again,
            "partitions": [p.to_json() for p in self.partitions],
            "without_offset": {str(p): reason for p, reason in self.without_offset},
            "failover_would_leave_alone": list(self.left_alone),
            "error": self.error,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillReport:
    """A failover rehearsed: what it would have lost, how long it would have taken, and where each group went on."""

    flow: str
    run: str
    started_ms: int
    ended_ms: int
    point: RecoveryPoint
    # Seconds from reading the checkpoints to the last offset set.
    moved_s: float
    groups: tuple[GroupFinding, ...]
    not_chosen: int = 0
    leftovers_removed: int = 0
    # What a failover would have told of the loss, by the source as it was last seen: at least so much.
    told_missing: int = 0
    # Applications that the target would refuse, and on what ground that is known.
    rights: tuple[Mapping[str, Any], ...] = ()
    rights_known: str = ""

    @property
    def recovery_s(self) -> float:
        """Groups moved, and the slowest of them at its first record; applications start at the same time."""
        return self.moved_s + max((g.ready_s for g in self.groups if g.ready_s is not None), default=0.0)

    @property
    def failed(self) -> tuple[GroupFinding, ...]:
        return tuple(group for group in self.groups if group.failures)

    @property
    def passed(self) -> bool:
        return not self.failed

    @property
    def verdicts(self) -> Counter[str]:
        return sum((group.verdicts for group in self.groups), Counter())

    @property
    def compared(self) -> int:
        return sum(p.comparison.compared for group in self.groups for p in group.partitions)

    def failure(self) -> DrillFailed | None:
        """The error to end with, when the report is told."""
        if self.passed:
            return None
        lines = [f"{group.group}: {group.failures[0]}" for group in self.failed[:10]]
        return DrillFailed(
            f"flow {self.flow}: {len(self.failed)} of {len(self.groups)} groups would not go on after a failover "
            "as they should:\n  " + "\n  ".join(lines),
            next_step=f"airmirror translate '{self.flow}' --group {self.failed[0].group}",
            flow=self.flow,
            groups=[group.group for group in self.failed[:50]],
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "operation": "drill",
            "flow": self.flow,
            "run": self.run,
            "passed": self.passed,
            "started": iso(self.started_ms),
            "ended": iso(self.ended_ms),
            "recovery_point": {**self.point.to_json(), "failover_would_tell_at_least": self.told_missing},
            "recovery_time": {
                "seconds": round(self.recovery_s, 3),
                "seconds_to_move_groups": round(self.moved_s, 3),
            },
            "records_compared": self.compared,
            "verdicts": dict(self.verdicts),
            "groups": [group.to_json() for group in self.groups],
            "groups_not_chosen": self.not_chosen,
            "leftovers_removed": self.leftovers_removed,
            "rights_missing": [dict(right) for right in self.rights],
            "rights_known": self.rights_known,
        }


def iso(at_ms: int | None) -> str | None:
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
