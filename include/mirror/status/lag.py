"""How far a flow is behind, per partition, topic and flow; values that travel as JSON.

    log start ........ position ........ stable end ........ high watermark
                       |<- can be copied ->|<- held: open transactions ->|
                       |<------------------- lag ----------------------->|

Lag counts offsets, an upper bound of the records among them; its age is that of the first record not yet copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap

# Copied up to the end; something to copy; nothing can be until the source decides an open transaction; a person must
# act; its remote topic is not there; no run has seen it yet.
LagState = Literal["current", "behind", "held", "stopped", "waiting", "new"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLag:
    """One partition: where its copy stands, where the source does, and what is wrong with it."""

    partition: TopicPartition
    remote: TopicPartition
    state: LagState
    position: int
    log_start: int
    stable_end: int
    end: int
    # The first record not yet copied; None where there is none, or where it could not be seen.
    oldest_ms: int | None = None
    gaps: tuple[Gap, ...] = ()
    # Found lost just now; the next copy puts it on record.
    lost: Gap | None = None
    committed_ms: int | None = None
    # The position is one of another log: nothing can be counted from it.
    is_other_log: bool = False
    stopped: Mapping[str, Any] | None = None

    @property
    def lag(self) -> int | None:
        """Offsets not yet copied; None while the position belongs to a log that is gone."""
        return None if self.is_other_log else max(self.end - self.position, 0)

    def behind_s(self, now_ms: int) -> float | None:
        """Age of the first record not yet copied; 0 when there is none, None when it could not be seen."""
        if self.lag == 0:
            return 0.0
        return None if self.oldest_ms is None else max(now_ms - self.oldest_ms, 0) / 1000

    @property
    def held_since_ms(self) -> int | None:
        return self.oldest_ms if self.state == "held" else None

    def to_json(self, now_ms: int) -> dict[str, Any]:
        behind_s = self.behind_s(now_ms)
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "remote_topic": self.remote.topic,
            "state": self.state,
            "position": self.position,
            "log_start": self.log_start,
            "stable_end": self.stable_end,
            "source_end": self.end,
            "lag_records": self.lag,
            "lag_seconds": None if behind_s is None else round(behind_s, 3),
            "held_since": _iso(self.held_since_ms),
            "newest_commit": _iso(self.committed_ms),
            "gaps": [_gap_json(gap, recorded=True) for gap in self.gaps]
            + ([_gap_json(self.lost, recorded=False)] if self.lost else []),
            "stopped": None if self.stopped is None else dict(self.stopped),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLag:
    """A topic's partitions together, told by the worst of them."""

    topic: str
    partitions: tuple[PartitionLag, ...]

    @property
    def lag(self) -> int:
        return sum(p.lag or 0 for p in self.partitions)

    @property
    def worst(self) -> PartitionLag:
        """The one a person should look at first: stopped before held before far behind."""
        return max(self.partitions, key=lambda p: (_GRAVITY[p.state], p.lag or 0, -p.partition.partition))

    def behind_s(self, now_ms: int) -> float | None:
        """The oldest of its partitions' records not yet copied; None where one could not be seen."""
        ages = [p.behind_s(now_ms) for p in self.partitions]
        known = [age for age in ages if age is not None]
        return max(known) if known and (max(known) > 0 or len(known) == len(ages)) else None

    @property
    def held_since_ms(self) -> int | None:
        return min((p.held_since_ms for p in self.partitions if p.held_since_ms is not None), default=None)

    @property
    def gaps(self) -> int:
        """Offsets on record as not copied, and those found lost just now."""
        return sum(gap.end - gap.start for p in self.partitions for gap in (*p.gaps, *([p.lost] if p.lost else [])))

    @property
    def committed_ms(self) -> int | None:
        return _newest(self.partitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowLag:
    """A flow as it stands at one moment."""

    flow: str
    at_ms: int
    partitions: tuple[PartitionLag, ...]
    waiting: Mapping[str, str] = field(default_factory=dict)  # topic: why it is not copied yet
    notices: tuple[str, ...] = ()
    never_copied: bool = False

    @property
    def topics(self) -> tuple[TopicLag, ...]:
        by_topic: dict[str, list[PartitionLag]] = {}
        for partition in sorted(self.partitions, key=lambda p: p.partition):
            by_topic.setdefault(partition.partition.topic, []).append(partition)
        return tuple(TopicLag(topic=topic, partitions=tuple(parts)) for topic, parts in by_topic.items())

    @property
    def lag(self) -> int:
        return sum(p.lag or 0 for p in self.partitions)

    @property
    def behind_s(self) -> float:
        """The age of the oldest record not yet copied that could be seen."""
        return max((p.behind_s(self.at_ms) or 0.0 for p in self.partitions), default=0.0)

    @property
    def stopped(self) -> tuple[PartitionLag, ...]:
        return tuple(p for p in self.partitions if p.stopped is not None)

    @property
    def committed_ms(self) -> int | None:
        return _newest(self.partitions)

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow,
            "at": _iso(self.at_ms),
            "never_copied": self.never_copied,
            "lag_records": self.lag,
            "lag_seconds": round(self.behind_s, 3),
            "newest_commit": _iso(self.committed_ms),
            "partitions": [p.to_json(self.at_ms) for p in self.partitions],
            "waiting": dict(self.waiting),
            "notices": list(self.notices),
        }


_GRAVITY: dict[LagState, int] = {"current": 0, "behind": 1, "new": 1, "waiting": 2, "held": 3, "stopped": 4}


def _newest(partitions: tuple[PartitionLag, ...]) -> int | None:
    return max((p.committed_ms for p in partitions if p.committed_ms is not None), default=None)


def _iso(at_ms: int | None) -> str | None:
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _gap_json(gap: Gap, *, recorded: bool) -> dict[str, Any]:
    return {
        "from": gap.start,
        "to": gap.end,
        "reason": gap.reason.name.lower(),
        "noticed": _iso(gap.at_ms),
        "recorded": recorded,
    }
