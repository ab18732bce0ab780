"""What is to be compared of each record: what the target must hold of the source's, and what it holds."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from mirror.records import LeftOut, Record, Transformation, TransformationFailed
from mirror.verify.differences import Right
from mirror.verify.entries import Content, content_of, downstream_content, headers_of, upstream_content
from mirror.verify.findings import Findings
from mirror.verify.spec import Comparison


class Expected:
    """What the target is to hold of a source record: itself, or what the flow's transformation makes of it.

    None for a record that is not to be there as a copy: left out by the flow, or returned from the target, where its
    original is.
    """

    def __init__(self, findings: Findings, comparison: Comparison, transformation: Transformation | None) -> None:
        self._findings = findings
        self._partition = comparison.partition
        self._remote = comparison.remote.topic
        self._transformation = transformation
        self._with_timestamps = comparison.compares_timestamps
        returned = comparison.state.returned.segments if comparison.state else ()
        self._returned = Ranges([(s.downstream_start, s.downstream_end) for s in returned])

    def __call__(self, message: Any) -> Content | None:
        if self._returned and self._returned.has(message.offset()):
            self._findings.right[Right.RETURNED] += 1
            return None
        content = upstream_content(message) if self._transformation is None else self._transformed(message)
        if content is None or self._with_timestamps:
            return content
        return (*content[:3], 0)

    def _transformed(self, message: Any) -> Content | None:
        (topic, number), headers = self._partition, headers_of(message)
        record = Record(
            topic,
            self._remote,
            number,
            message.offset(),
            message.key(),
            message.value(),
            tuple(headers or ()),
            message.timestamp()[1],
        )
        try:
            outcome = self._transformation.outcome(record) if self._transformation else record
        except TransformationFailed:
            return upstream_content(message)  # it stops a copy, so it has no counterpart but a gap
        if isinstance(outcome, LeftOut):
            self._findings.right[Right.LEFT_OUT] += 1
            return None
        return content_of(outcome.key, outcome.value, outcome.headers, outcome.timestamp_ms)


class Actual:
    """What the target holds of the source's; None for records that were written there first and returned to the source
    since, and for those that say they came another way or were written there."""

    def __init__(self, comparison: Comparison, transformation: Transformation | None = None) -> None:
        self._marks = transformation if transformation is not None and transformation.marks_origin else None
        self._with_timestamps = comparison.compares_timestamps
        returned = comparison.state.returned.segments if comparison.state else ()
        self._returned = Ranges([(s.upstream_start, s.upstream_end) for s in returned])

    def __call__(self, message: Any) -> Content | None:
        if self._returned and self._returned.has(message.offset()):
            return None
        if self._marks is not None and not self._marks.brought(tuple(headers_of(message) or ())):
            return None
        content = downstream_content(message)
        return content if self._with_timestamps else (*content[:3], 0)


class Ranges:
    """Half-open stretches of offsets, rising."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]

    def __bool__(self) -> bool:
        return bool(self._starts)

    def has(self, offset: int) -> bool:
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._ends[at]
