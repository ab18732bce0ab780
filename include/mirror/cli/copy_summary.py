"""What came of a copy, for people: a table of topics, then everything that is not as it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from mirror.cli.quantities import bytes_text, count_text, counted, duration_text
from mirror.cli.tables import print_table
from mirror.copy.result import CopyResult, PartitionResult
from mirror.wire.gaps import Gap

# Columns of flows that leave records out; others do not show them.
LEFT_OUT = (("dropped", attrgetter("dropped_count")), ("there already", attrgetter("there_already_count")))
# Offsets named one by one; more would bury the rest.
NAMED_AT_MOST = 5


def print_summary(result: CopyResult) -> None:
    moved = [p for p in result.partitions if p.end != p.start]
    if moved:
        headings = headings_of(moved)
        rows = list(topic_rows(moved))
        print_table(result.flow, headings, rows, wrapped=headings[-1:], right=headings[1:-1])
    for line in remarks(result):
        print(line)
    print(headline(result))


def headline(result: CopyResult) -> str:
    took = f"in {duration_text(result.seconds)}"
    if result.superseded_by:
        return f"{result.flow}: run {result.superseded_by} took over after {duration_text(result.seconds)}"
    if result.record_count:
        done = f"copied {counted(result.record_count, 'record')}, {bytes_text(result.byte_count)}, {took}"
    elif result.dropped_count or result.there_already_count:
        done = f"no record to copy, {took}"
    elif any(p.end != p.start for p in result.partitions):
        done = f"no record to copy, positions moved on, {took}"
    else:
        done = f"nothing to copy, {took}"
    dropped = f"; dropped {count_text(result.dropped_count)}" if result.dropped_count else ""
    there = f"; {count_text(result.there_already_count)} there already" if result.there_already_count else ""
    stopped = f"; {counted(len(result.failed), 'partition')} stopped" if result.failed else ""
    waiting = f"; {counted(len(result.waiting), 'topic')} waiting" if result.waiting else ""
    return f"{result.flow}: {done}{dropped}{there}{stopped}{waiting}"


def headings_of(partitions: Sequence[PartitionResult]) -> list[str]:
    return ["topic", "partitions", "records", "bytes", *(name for name, _ in _left_out(partitions)), "from → to"]


def _left_out(partitions: Sequence[PartitionResult]) -> list[tuple[str, Callable[[PartitionResult], int]]]:
    return [(name, count) for name, count in LEFT_OUT if any(map(count, partitions))]


def topic_rows(partitions: Sequence[PartitionResult]) -> Iterator[list[str]]:
    columns = _left_out(partitions)
    by_topic: dict[str, list[PartitionResult]] = {}
    for partition in partitions:
        by_topic.setdefault(partition.partition.topic, []).append(partition)
    for topic, members in sorted(by_topic.items()):
        yield [
            topic,
            count_text(len(members)),
            count_text(sum(p.record_count for p in members)),
            bytes_text(sum(p.byte_count for p in members)),
            *(count_text(sum(map(count, members))) for _, count in columns),
            _ways(members),
        ]


def _ways(members: list[PartitionResult]) -> str:
    if len(members) == 1:
        return f"{count_text(members[0].start)} → {count_text(members[0].end)}"
    named = [f"{p.partition.partition}: {p.start} → {p.end}" for p in members[:NAMED_AT_MOST]]
    more = len(members) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def remarks(result: CopyResult) -> Iterator[str]:
    """One line for each thing a person should know, the next command below where there is one."""
    for partition, gap in result.gaps:
        yield f"gap: {partition} {gap_text(gap)}"
    for p in result.partitions:
        if p.altered:
            offsets = ", ".join(str(offset) for offset in p.altered[:NAMED_AT_MOST])
            yield f"altered: {p.partition} at {offsets}: a timestamp of 0 or below became the time of the copy"
    for topic, why in sorted(result.waiting.items()):
        yield f"waiting: {topic}: {why}"
    for notice in result.notices:
        yield f"note: {notice}"
    for p in result.failed:
        if p.error is not None:
            yield f"stopped: {p.error}"


def gap_text(gap: Gap) -> str:
    """A gap in words: which offsets, how many, and why."""
    why = gap.reason.name.lower()
    return f"[{gap.start}, {gap.end}): {counted(gap.end - gap.start, 'offset')} not copied ({why})"
