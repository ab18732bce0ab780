"""What a copy's summary says, and that it leaves out nothing that went wrong."""

from __future__ import annotations

from typing import Any

import pytest

from mirror.cli.copy_summary import headline, print_summary, remarks, topic_rows
from mirror.copy.result import CopyResult, PartitionResult
from mirror.errors import RecordRefused
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap, GapReason

GAP = Gap(start=5, end=9, reason=GapReason.RETENTION, at_ms=1)
REFUSED = RecordRefused("orders-1: refuses the record at offset 60", next_step="airmirror resume ...")


def part(number: int, start: int = 0, end: int = 10, topic: str = "orders", **facts: Any) -> PartitionResult:
    partition = TopicPartition(topic, number)
    remote = TopicPartition(f"A.{topic}", number)
    return PartitionResult(partition=partition, remote=remote, start=start, end=end, **facts)


def result(*partitions: PartitionResult, **facts: Any) -> CopyResult:
    return CopyResult(flow="A->B", run="r", partitions=partitions, seconds=4.2, **facts)


@pytest.mark.parametrize(
    ("copied", "expected"),
    [
        (result(part(0, record_count=10, byte_count=2000)), "A->B: copied 10 records, 2.0 kB, in 4.2 s"),
        (result(part(0, 7, 7)), "A->B: nothing to copy, in 4.2 s"),
        (result(part(0)), "A->B: no record to copy, positions moved on, in 4.2 s"),
        (
            result(part(0, record_count=1), part(1, 0, 0, error=REFUSED), waiting={"new": "no remote topic"}),
            "A->B: copied 1 record, 0 B, in 4.2 s; 1 partition stopped; 1 topic waiting",
        ),
        (
            result(part(0, record_count=7, dropped_count=3), part(1, record_count=0, there_already_count=1000)),
            "A->B: copied 7 records, 0 B, in 4.2 s; dropped 3; 1,000 there already",
        ),
        (result(part(0, dropped_count=10)), "A->B: no record to copy, in 4.2 s; dropped 10"),
        (result(part(0, record_count=1), superseded_by="r2"), "A->B: run r2 took over after 4.2 s"),
    ],
)
def test_the_last_line_says_what_came_of_it(copied: CopyResult, expected: str) -> None:
    assert headline(copied) == expected


def test_partitions_of_a_topic_are_one_row_and_each_way_is_told() -> None:
    rows = list(topic_rows([part(0, 0, 1200, record_count=9), part(1, 5, 7, record_count=2), part(0, topic="a")]))
    assert rows == [["a", "1", "0", "0 B", "0 → 10"], ["orders", "2", "11", "0 B", "0: 0 → 1200, 1: 5 → 7"]]
    (row,) = topic_rows([part(n) for n in range(9)])
    assert row[-1].endswith("4: 0 → 10 and 4 more")


def test_everything_that_is_not_as_it_should_be_has_its_line() -> None:
    told = list(
        remarks(
            result(
                part(0, gaps=(GAP,), altered=(3, 4)),
                part(1, error=REFUSED),
                waiting={"new": "has no remote topic"},
                notices=("something is odd",),
            )
        )
    )
    assert told == [
        "gap: orders-0 [5, 9): 4 offsets not copied (retention)",
        "altered: orders-0 at 3, 4: a timestamp of 0 or below became the time of the copy",
        "waiting: new: has no remote topic",
        "note: something is odd",
        "stopped: orders-1: refuses the record at offset 60\n  next: airmirror resume ...",
    ]


def test_an_idle_copy_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary(result(part(0, 7, 7)))
    assert capsys.readouterr().out.splitlines() == ["A->B: nothing to copy, in 4.2 s"]


def test_what_was_left_out_has_columns_only_where_there_is_any(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary(result(part(0, record_count=1)))
    assert "dropped" not in capsys.readouterr().out
    print_summary(result(part(0, record_count=7, dropped_count=3), part(1, dropped_count=4)))
    table = capsys.readouterr().out.splitlines()
    assert next(line.split() for line in table if "topic" in line)[:5] == [
        "topic", "partitions", "records", "bytes", "dropped",
    ]  # fmt: skip
    assert next(line.split() for line in table if "orders" in line)[:6] == ["orders", "2", "7", "0", "B", "7"]
