"""What came of a verification: per partition, for the flow's topics and groups, and as a whole, as values and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mirror.errors import MirrorError, VerificationFailed
from mirror.kafka.values import TopicPartition
from mirror.verify.differences import Difference, Right
from mirror.verify.findings import NAMED, Findings
from mirror.verify.spec import Comparison
from mirror.wire.gaps import Gap

# Partitions named one by one in an error; the report has them all.
LISTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionReport:
    """One partition: what was compared, what differs, and what is different and right."""

    partition: TopicPartition
    remote: TopicPartition
    upstream_start: int = 0
    upstream_end: int = 0
    downstream_start: int = 0
    downstream_end: int = 0
    record_count: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    first: tuple[Difference, ...] = ()
    right: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    # Offsets: records that nobody of ours wrote before ours, and what is not copied yet.
    foreign: int = 0
    not_copied: int = 0
    error: MirrorError | None = None

    @classmethod
    def of(
        cls, comparison: Comparison, *, findings: Findings | None = None, error: MirrorError | None = None
    ) -> PartitionReport:
        right = dict(findings.right) if findings else {}
        for reason, offsets in (
            (Right.GONE_UPSTREAM, comparison.gone_upstream),
            (Right.GONE_DOWNSTREAM, comparison.gone_downstream),
        ):
            if offsets:
                right[reason] = right.get(reason, 0) + offsets
        gaps = comparison.state.gaps if comparison.state else ()
        return cls(
            partition=comparison.partition,
            remote=comparison.remote,
            upstream_start=comparison.upstream_start,
            upstream_end=comparison.upstream_end,
            downstream_start=comparison.downstream_start,
            downstream_end=comparison.downstream_end,
            record_count=findings.record_count if findings else 0,
            kinds=dict(findings.kinds) if findings else {},
            first=findings.first if findings else (),
            right={reason.value: count for reason, count in right.items()},
            gaps=tuple(gap for gap in gaps if gap.end > comparison.upstream_start),
            foreign=comparison.foreign,
            not_copied=comparison.not_copied,
            error=error,
        )

    def with_suspects(self, findings: Findings) -> PartitionReport:
        """This report and what a further pass found about the keys that it had no room for."""
        kinds = dict(self.kinds)
        for kind, count in findings.kinds.items():
            kinds[kind] = kinds.get(kind, 0) + count
        right = dict(self.right)
        compacted = findings.right[Right.COMPACTED]
        if compacted:
            right[Right.COMPACTED.value] = right.get(Right.COMPACTED.value, 0) + compacted
        named = {*self.first, *findings.first}
        return replace(self, kinds=kinds, right=right, first=tuple(sorted(named, key=Difference.order)[:NAMED]))

    @property
    def difference_count(self) -> int:
        return sum(self.kinds.values())

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "remote_topic": self.remote.topic,
            "upstream": [self.upstream_start, self.upstream_end],
            "downstream": [self.downstream_start, self.downstream_end],
            "records": self.record_count,
            "differences": dict(self.kinds),
            "first_differences": [difference.to_json() for difference in self.first],
            "right": dict(self.right),
            "gaps": [{"from": g.start, "to": g.end, "reason": g.reason.name.lower()} for g in self.gaps],
            "foreign_offsets": self.foreign,
            "not_copied_offsets": self.not_copied,
        }
        if self.error is not None:
            document["error"] = self.error.to_json()
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """What one worker compared, and where it ran."""

    number: int
    executor: str = ""
    partitions: tuple[PartitionReport, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A topic, a setting, an ACL or a group that is not on the target as it is on the source."""

    part: str  # topics, settings, acls, groups
    name: str
    what: str

    def to_json(self) -> dict[str, Any]:
        return {"part": self.part, "name": self.name, "what": self.what}

    def __str__(self) -> str:
        return f"{self.part}: {self.name}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """Both sides of a flow compared."""

    flow: str
    scope: str
    partitions: tuple[PartitionReport, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    # Partitions with nothing to compare, and parts that the file switches off; each with the reason.
    nothing: Mapping[TopicPartition, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def record_count(self) -> int:
        return sum(p.record_count for p in self.partitions)

    @property
    def difference_count(self) -> int:
        return sum(p.difference_count for p in self.partitions) + len(self.deviations)

    @property
    def failed(self) -> tuple[PartitionReport, ...]:
        """Partitions that could not be compared."""
        return tuple(p for p in self.partitions if p.error is not None)

    @property
    def differences(self) -> tuple[str, ...]:
        """Every difference that has a name: the first of each partition, then those of topics and groups."""
        records = (f"{p.partition}: {difference}" for p in self.partitions for difference in p.first)
        return (*records, *map(str, self.deviations))

    @property
    def is_equal(self) -> bool:
        """Whether everything that was to be compared was, and nothing differs."""
        return not self.difference_count and not self.failed

    @property
    def records_per_second(self) -> float:
        return self.record_count / self.seconds if self.seconds else 0.0

    def to_json(self, *, at_most: int | None = None) -> dict[str, Any]:
        """The document; with `at_most` so many partitions, those with something to tell first."""
        told = sorted(self.partitions, key=lambda p: (not p.error, not p.kinds, not p.gaps, p.partition))
        return {
            "flow": self.flow,
            "scope": self.scope,
            "equal": self.is_equal,
            "records": self.record_count,
            "differences": self.difference_count,
            "seconds": round(self.seconds, 3),
            "records_per_second": round(self.records_per_second),
            "partitions": [p.to_json() for p in told[:at_most]],
            "partitions_not_listed": len(told[at_most:]) if at_most is not None else 0,
            "deviations": [deviation.to_json() for deviation in self.deviations],
            "nothing_to_compare": {str(p): why for p, why in self.nothing.items()},
            "notices": list(self.notices),
        }

    def raise_if_different(self) -> None:
        """Fail with everything that differs, or could not be compared, named."""
        if self.is_equal:
            return
        lines = [f"{p.partition}: {p.error.message}" for p in self.failed if p.error]
        lines += self.differences
        more = f"\n  and {len(lines) - LISTED} more" if len(lines) > LISTED else ""
        raise VerificationFailed(
            f"flow {self.flow}: {self.difference_count} differences, {len(self.failed)} partitions could not be "
            "compared:\n  " + "\n  ".join(lines[:LISTED]) + more,
            next_step=f"airmirror verify '{self.flow}' --json lists each partition with its offsets",
            flow=self.flow,
            differences=self.difference_count,
        )
