"""What came of a copy: per partition, per slot, and for the whole run, as values that travel as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mirror.errors import CopyIncomplete, FencedByNewerRun, MirrorError
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionResult:
    """One partition's way in this run: `[start, end)` upstream, what it held, and why it stopped if it did."""

    partition: TopicPartition
    remote: TopicPartition
    start: int
    end: int
    record_count: int = 0
    byte_count: int = 0
    # Read and left out: dropped by filters or the record function; or kept from going where they have been.
    dropped_count: int = 0
    there_already_count: int = 0
    gaps: tuple[Gap, ...] = ()
    altered: tuple[int, ...] = ()
    error: MirrorError | None = None

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "remote_topic": self.remote.topic,
            "from": self.start,
            "to": self.end,
            "records": self.record_count,
            "bytes": self.byte_count,
        }
        if self.dropped_count:
            document["dropped"] = self.dropped_count
        if self.there_already_count:
            document["there_already"] = self.there_already_count
        if self.gaps:
            document["gaps"] = [{"from": g.start, "to": g.end, "reason": g.reason.name.lower()} for g in self.gaps]
        if self.altered:
            document["altered"] = list(self.altered)
        if self.error is not None:
            document["error"] = self.error.to_json()
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotResult:
    """What one slot did and where it ran; superseded when a newer run had the flow."""

    slot: int
    executor: str = ""
    partitions: tuple[PartitionResult, ...] = ()
    superseded_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyResult:
    """What the whole run did; the document that goes to the control topic, the summary and the exit code."""

    flow: str
    run: str
    partitions: tuple[PartitionResult, ...] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)  # topic: why it is not copied yet
    notices: tuple[str, ...] = ()
    slots: tuple[SlotResult, ...] = ()
    superseded_by: str = ""
    seconds: float = 0.0
    error: MirrorError | None = None

    @property
    def record_count(self) -> int:
        return sum(p.record_count for p in self.partitions)

    @property
    def byte_count(self) -> int:
        return sum(p.byte_count for p in self.partitions)

    @property
    def dropped_count(self) -> int:
        return sum(p.dropped_count for p in self.partitions)

    @property
    def there_already_count(self) -> int:
        return sum(p.there_already_count for p in self.partitions)

    @property
    def failed(self) -> tuple[PartitionResult, ...]:
        return tuple(p for p in self.partitions if p.error is not None)

    @property
    def gaps(self) -> tuple[tuple[TopicPartition, Gap], ...]:
        return tuple((p.partition, gap) for p in self.partitions for gap in p.gaps)

    def to_json(self, *, at_most: int | None = None) -> dict[str, Any]:
        """Only partitions with something to tell: a thousand idle ones would drown the rest.

        With `at_most`, so many of them, those with trouble first: a record of the control topic has its limit.
        """
        worth_telling = [p for p in self.partitions if p.end != p.start or p.error or p.gaps or p.altered]
        told = [p.to_json() for p in sorted(worth_telling, key=lambda p: not (p.error or p.gaps))[:at_most]]
        return {
            "flow": self.flow,
            "run": self.run,
            "records": self.record_count,
            "bytes": self.byte_count,
            "dropped": self.dropped_count,
            "there_already": self.there_already_count,
            "seconds": round(self.seconds, 3),
            "partitions": told,
            "partitions_not_listed": len(worth_telling) - len(told),
            "idle_partitions": len(self.partitions) - len(worth_telling),
            "waiting": dict(self.waiting),
            "notices": list(self.notices),
            "slots": [{"slot": s.slot, "executor": s.executor, "partitions": len(s.partitions)} for s in self.slots],
            "superseded_by": self.superseded_by,
            "error": self.error.to_json() if self.error else None,
        }

    def raise_if_incomplete(self) -> None:
        """Fail as the run failed: superseded, as a whole, or in part with every partition named."""
        if self.superseded_by:
            raise FencedByNewerRun(f"run {self.superseded_by} took {self.flow} over from {self.run}", flow=self.flow)
        if self.error is not None:
            raise self.error
        if self.failed:
            raise CopyIncomplete(
                f"{self.flow}: {len(self.failed)} of {len(self.partitions)} partitions stopped, the others were copied",
                next_step=next((p.error.next_step for p in self.failed if p.error and p.error.next_step), ""),
                partitions=[p.to_json() for p in self.failed],
            )


def joined(results: Iterable[PartitionResult]) -> tuple[PartitionResult, ...]:
    return tuple(sorted(results, key=lambda result: result.partition))
