"""A verification from beginning to end: survey, plan, tasks, and the parts that need no record; changes nothing."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from mirror.config import Flow
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.errors import AttemptsExhausted, MirrorError
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.records import transformation_of
from mirror.verify.beacon import Listener, Way
from mirror.verify.execution import Executor, InProcessExecutor
from mirror.verify.plan import VerifyPlan, pack, plan_comparisons
from mirror.verify.report import PartitionReport, VerifyReport
from mirror.verify.spec import Comparison, TaskSpec
from mirror.verify.structure import PARTS, compare_structure
from mirror.verify.survey import VerifySurvey, survey_both
from mirror.verify.task import run_task

log = logging.getLogger(__name__)

# Seconds between two lines about the progress.
SAY_EVERY_S = 5.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """What is to be compared: everything, the newest offsets of each partition, or what is not older than a time."""

    newest: int | None = None
    since_ms: int | None = None
    topics: re.Pattern[str] | None = None
    parts: Collection[str] = PARTS  # beside the records: topics, settings, acls, groups

    def __str__(self) -> str:
        if self.newest is not None:
            return f"the newest {self.newest} offsets of each partition"
        if self.since_ms is not None:
            return f"records since {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.since_ms / 1000))}"
        return "everything that was copied"


def run_verify(
    flow: Flow,
    *,
    newest: int | None = None,
    since_ms: int | None = None,
    topics: re.Pattern[str] | None = None,
    parts: Collection[str] = PARTS,
    executor: Callable[[], Executor] | None = None,
    say: Say | None = None,
) -> VerifyReport:
    """Compare both sides of a flow; without an executor in threads of this process, which is for small ranges."""
    request = VerifyRequest(newest=newest, since_ms=since_ms, topics=topics, parts=parts)
    return _Verification(flow, request, say or (lambda text: None)).run(executor or InProcessExecutor)


def plan_verify(flow: Flow, request: VerifyRequest) -> VerifyPlan:
    """What a verification would read of each partition; looks at both clusters and reads no record."""
    links = links_of(flow)
    with Cluster(flow.source, links.source_admin) as source, Cluster(flow.target, links.target_admin) as target:
        seen = survey_both(flow, links, source, target, request.topics, request.since_ms)
    return plan_comparisons(seen, newest=request.newest)


class _Verification:
    def __init__(self, flow: Flow, request: VerifyRequest, say: Say) -> None:
        self._flow = flow
        self._request = request
        self._say = say
        self._links: FlowLinks = links_of(flow)
        self._transformation = transformation_of(flow)
        self._started = time.monotonic()

    def run(self, executor: Callable[[], Executor]) -> VerifyReport:
        self._say(f"{self._flow}: looking at both clusters, to compare {self._request}")
        if self._transformation is not None:
            self._transformation.prepare(self._flow.folder)
        with (
            Cluster(self._flow.source, self._links.source_admin) as source,
            Cluster(self._flow.target, self._links.target_admin) as target,
        ):
            deviations, notices = compare_structure(
                self._flow, self._links, source, target, self._request.parts, self._request.topics
            )
            request = self._request
            seen = survey_both(self._flow, self._links, source, target, request.topics, request.since_ms)
            plan = plan_comparisons(seen, newest=request.newest)
        compared = self._compare(plan, executor)
        report = VerifyReport(
            flow=self._flow.id,
            scope=str(self._request),
            partitions=tuple(sorted([*compared, *_failed(seen, plan)], key=lambda p: p.partition)),
            deviations=deviations,
            nothing=plan.nothing,
            notices=notices,
            seconds=time.monotonic() - self._started,
        )
        log.info(
            "verified flow=%s partitions=%d records=%d differences=%d took=%.1fs",
            self._flow.id,
            len(report.partitions),
            report.record_count,
            report.difference_count,
            report.seconds,
        )
        return report

    def _compare(self, plan: VerifyPlan, executor: Callable[[], Executor]) -> list[PartitionReport]:
        due = [c for c in plan.comparisons if c.size]
        idle = [PartitionReport.of(c) for c in plan.comparisons if not c.size]
        if not due:
            return idle
        workers = executor()
        total = sum(c.size for c in due)
        with Listener(workers.host()) as listener:
            specs = [
                replace(self._spec(number, share), told_to=listener.address)
                for number, share in enumerate(pack(due, workers.slot_count()))
            ]
            self._say(f"comparing {total:,} offsets of {len(due)} partitions in {len(specs)} tasks")
            pace = _Pace(self._say, total)
            reports = workers.run_each(run_task, specs, lambda: pace.tell(listener.heard())) or []
        compared = [p for report in reports for p in report.partitions]
        if len(compared) != len(due):  # nothing may pass for equal because nobody looked at it
            raise AttemptsExhausted(
                f"{self._flow}: only {len(compared)} of {len(due)} partitions were compared", next_step="run this again"
            )
        pace.end(sum(p.record_count for p in compared))
        return [*idle, *compared]

    def _spec(self, number: int, share: tuple[Comparison, ...]) -> TaskSpec:
        links = self._links
        return TaskSpec(
            number=number,
            flow=links.flow,
            source=links.source,
            target=links.target,
            source_consumer=links.source_consumer,
            source_admin=links.source_admin,
            target_consumer=links.target_consumer,
            target_admin=links.target_admin,
            isolation_level=self._flow.isolation_level,
            comparisons=share,
            transformation=self._transformation,
        )


class _Pace:
    """Says every few seconds how far it is and how fast."""

    def __init__(self, say: Say, total: int) -> None:
        self._say = say
        self._total = total
        self._started = self._said_at = time.monotonic()

    def tell(self, way: Way) -> bool:
        now = time.monotonic()
        if now - self._said_at >= SAY_EVERY_S:
            self._said_at = now
            share = 100 * way.offsets // self._total if self._total else 100
            rate = way.records / (now - self._started)
            found = f", {way.differences:,} differences" if way.differences else ""
            self._say(
                f"compared {way.offsets:,} of {self._total:,} offsets ({share} %), {rate:,.0f} records a second{found}"
            )
        return True

    def end(self, records: int) -> None:
        took = time.monotonic() - self._started
        self._say(f"compared {records:,} records in {took:.1f} s, {records / max(took, 0.001):,.0f} a second")


def _failed(seen: VerifySurvey, plan: VerifyPlan) -> list[PartitionReport]:
    def report(partition: TopicPartition, error: MirrorError) -> PartitionReport:
        return PartitionReport(partition=partition, remote=seen.source.remote(partition), error=error)

    return [report(partition, error) for partition, error in plan.errors.items()]
