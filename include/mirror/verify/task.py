"""A worker's share of a verification: its partitions, one after the other, both sides read at once."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mirror.errors import MirrorError
from mirror.kafka.cluster import Cluster
from mirror.kafka.reader import SourceReader
from mirror.kafka.values import TopicPartition
from mirror.verify.beacon import Beacon, Way
from mirror.verify.entries import Stream
from mirror.verify.expectation import Actual, Expected
from mirror.verify.findings import Findings, Rules
from mirror.verify.offset_map import OffsetMap
from mirror.verify.reading import FETCHES, LogMoved, RangeReader, read_together
from mirror.verify.report import PartitionReport, TaskReport
from mirror.verify.spec import Comparison, TaskSpec
from mirror.verify.suspects import Share
from mirror.verify.walk import Walk

log = logging.getLogger(__name__)

# Offsets of a partition that is read together with others; partitions and offsets of such a company, which is kept in
# memory as entries of some 300 bytes.
SMALL, COMPANY_MAX, COMPANY_OFFSETS = 2_000, 100, 20_000


def run_task(spec: TaskSpec) -> TaskReport:
    """Compare every partition of the share; one that cannot be read is told, and the others go on."""
    task = _Task(spec)
    try:
        reports = tuple(report for share in together(spec.comparisons) for report in task.compare(share))
    finally:
        task.close()
    return TaskReport(number=spec.number, executor=f"{socket.gethostname()}/{os.getpid()}", partitions=reports)


class _Reading(NamedTuple):
    """One pass along a partition: what is read of both sides, and the books it goes into."""

    comparison: Comparison
    findings: Findings
    upstream: RangeReader
    downstream: RangeReader


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

    def compare(self, comparisons: Sequence[Comparison]) -> Iterator[PartitionReport]:
        """One partition, or several small ones that are read together."""
        readings = {c.partition: self._reading(c, Share()) for c in comparisons} if len(comparisons) > 1 else {}
        try:
            self._read_together(list(readings.values()))
        except (MirrorError, LogMoved):
            readings = {}  # by itself, each tells its own error
        for comparison in comparisons:
            try:
                report = self._compare(comparison, readings.get(comparison.partition))
            except MirrorError as error:
                report = PartitionReport.of(comparison, error=error)
            self._done += Way(comparison.size, report.record_count, report.difference_count)
            self._beacon.tell(self._done, at_once=True)
            log.debug("compared %s records=%d", comparison.partition, report.record_count)
            yield report

    def _read_together(self, readings: Sequence[_Reading]) -> None:
        if not readings:
            return
        sides = (self._here, [r.upstream for r in readings]), (self._there, [r.downstream for r in readings])
        for reader, ranges in sides:  # both are fetched at once
            reader.assign({r.partition: r.start for r in ranges if not r.is_done})
        for reader, ranges in sides:
            read_together(reader, ranges)

    def _compare(self, comparison: Comparison, reading: _Reading | None) -> PartitionReport:
        """One pass as a rule; more where too many keys of a compacted topic are under suspicion at once."""
        findings = self._walk(reading or self._alone(comparison, Share()))
        report = PartitionReport.of(comparison, findings=findings)
        waiting = list(Share().others(findings.suspects.share))
        while waiting:
            share = waiting.pop()
            more = self._walk(self._alone(comparison, share))
            waiting += share.others(more.suspects.share)
            report = report.with_suspects(more)
        return report

    def _alone(self, comparison: Comparison, share: Share) -> _Reading:
        reading = self._reading(comparison, share)
        reading.upstream.begin()
        reading.downstream.begin()
        return reading

    def _reading(self, comparison: Comparison, share: Share) -> _Reading:
        rules = _rules(comparison, share)
        findings = Findings(rules)

        def moved_upstream() -> int:
            rules.upstream_start = _log_start(self._source, comparison.partition)
            return rules.upstream_start

        def moved_downstream() -> int:
            rules.downstream_start = _log_start(self._target, comparison.remote)
            return rules.downstream_start

        expected = Expected(findings, comparison, self._transformation)
        actual = Actual(comparison, self._transformation)
        here = comparison.upstream_start, comparison.upstream_end
        there = comparison.downstream_start, comparison.downstream_end
        return _Reading(
            comparison,
            findings,
            RangeReader(self._here, comparison.partition, here, expected, moved_upstream),
            RangeReader(self._there, comparison.remote, there, actual, moved_downstream),
        )

    def _walk(self, reading: _Reading) -> Findings:
        findings = reading.findings
        streams = Stream(reading.upstream.batches()), Stream(reading.downstream.batches())
        Walk(*streams, findings, lambda offset: self._tell(reading.comparison, findings, offset)).run()
        return findings

    def _tell(self, comparison: Comparison, findings: Findings, offset: int) -> None:
        way = Way(offset - comparison.upstream_start, findings.record_count, sum(findings.kinds.values()))
        self._beacon.tell(self._done + way)


def together(comparisons: Sequence[Comparison]) -> Iterator[list[Comparison]]:
    """Large partitions alone, small ones in company: a flow may have thousands of them."""
    company: list[Comparison] = []
    for comparison in comparisons:
        if comparison.size > SMALL:
            yield [comparison]
            continue
        if len(company) == COMPANY_MAX or sum(c.size for c in company) + comparison.size > COMPANY_OFFSETS:
            yield company
            company = []
        company.append(comparison)
    if company:
        yield company


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
