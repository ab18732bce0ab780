"""A worker's share of a verification: its partitions, one after the other, both sides read at once."""

from __future__ import annotations

import logging
import os
import socket
import time

from mirror.errors import MirrorError
from mirror.kafka.cluster import Cluster
from mirror.kafka.reader import SourceReader
from mirror.kafka.values import TopicPartition
from mirror.verify.beacon import Beacon, Way
from mirror.verify.entries import Stream
from mirror.verify.expectation import Actual, Expected
from mirror.verify.findings import Findings, Rules
from mirror.verify.offset_map import OffsetMap
from mirror.verify.reading import FETCHES, RangeReader
from mirror.verify.report import PartitionReport, TaskReport
from mirror.verify.spec import Comparison, TaskSpec
from mirror.verify.suspects import Share
from mirror.verify.walk import Walk

log = logging.getLogger(__name__)


def run_task(spec: TaskSpec) -> TaskReport:
    """Compare every partition of the share; one that cannot be read is told, and the others go on."""
    task = _Task(spec)
    try:
        reports = tuple(task.compare(comparison) for comparison in spec.comparisons)
    finally:
        task.close()
    return TaskReport(number=spec.number, executor=f"{socket.gethostname()}/{os.getpid()}", partitions=reports)


class _Task:
    def __init__(self, spec: TaskSpec) -> None:
        source, target = {**spec.source_consumer, **FETCHES}, {**spec.target_consumer, **FETCHES}
        self._here = SourceReader(spec.source, source, isolation_level=spec.isolation_level)
        self._there = SourceReader(spec.target, target, isolation_level="read_committed")
        self._source = Cluster(spec.source, spec.source_admin)
        self._target = Cluster(spec.target, spec.target_admin)
        self._beacon = Beacon(spec.number, spec.told_to)
        self._transformation = spec.transformation
        self._done = Way()

    def close(self) -> None:
        self._beacon.close()
        self._here.close()
        self._there.close()

    def compare(self, comparison: Comparison) -> PartitionReport:
        started = time.monotonic()
        try:
            report = self._compare(comparison)
        except MirrorError as error:
            report = PartitionReport.of(comparison, error=error)
        self._done += Way(comparison.size, report.record_count, report.difference_count)
        self._beacon.tell(self._done, at_once=True)
        log.debug(
            "compared %s records=%d differences=%d took=%.1fs",
            comparison.partition,
            report.record_count,
            report.difference_count,
            time.monotonic() - started,
        )
        return report

    def _compare(self, comparison: Comparison) -> PartitionReport:
        """One pass as a rule; more where too many keys of a compacted topic are under suspicion at once."""
        findings = self._walk(comparison, Share())
        report = PartitionReport.of(comparison, findings=findings)
        waiting = list(Share().others(findings.suspects.share))
        while waiting:
            share = waiting.pop()
            more = self._walk(comparison, share)
            waiting += share.others(more.suspects.share)
            report = report.with_suspects(more)
        return report

    def _walk(self, comparison: Comparison, share: Share) -> Findings:
        rules = _rules(comparison, share)
        findings = Findings(rules)
        there = comparison.remote
        expected, actual = Expected(findings, comparison, self._transformation), Actual(comparison)

        def moved_upstream() -> int:
            rules.upstream_start = _log_start(self._source, comparison.partition)
            return rules.upstream_start

        def moved_downstream() -> int:
            rules.downstream_start = _log_start(self._target, there)
            return rules.downstream_start

        upstream = RangeReader(self._here, comparison.partition, comparison.upstream_end, expected, moved_upstream)
        downstream = RangeReader(self._there, there, comparison.downstream_end, actual, moved_downstream)
        Walk(
            Stream(upstream.batches(comparison.upstream_start)),
            Stream(downstream.batches(comparison.downstream_start)),
            findings,
            lambda offset: self._tell(comparison, findings, offset),
        ).run()
        return findings

    def _tell(self, comparison: Comparison, findings: Findings, offset: int) -> None:
        way = Way(offset - comparison.upstream_start, findings.record_count, sum(findings.kinds.values()))
        self._beacon.tell(self._done + way)


def _rules(comparison: Comparison, share: Share) -> Rules:
    return Rules(
        map=OffsetMap(comparison.state),
        gaps=comparison.state.gaps if comparison.state else (),
        upstream_is_compacted=comparison.upstream_is_compacted,
        downstream_is_compacted=comparison.downstream_is_compacted,
        upstream_start=comparison.upstream_log_start,
        downstream_start=comparison.downstream_log_start,
        upstream_certain=comparison.upstream_certain,
        downstream_certain=comparison.downstream_certain,
        share=share,
    )


def _log_start(cluster: Cluster, partition: TopicPartition) -> int:
    return cluster.bounds(partition)[0]
