"""How a copy's progress is told, on a terminal and in a log."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from mirror.cli import copy_progress
from mirror.cli.copy_progress import BARS_AT_MOST, LINE_S, BarProgress, LineProgress, Way, bars_of
from mirror.copy.engine import OPEN_END
from mirror.copy.spec import PartitionSpec
from mirror.kafka.values import TopicPartition


def spec(number: int, position: int = 0, end: int = 100, topic: str = "orders") -> PartitionSpec:
    partition = TopicPartition(topic, number)
    return PartitionSpec(
        partition=partition, remote=partition, position=position, end=end, source_topic_id="", target_topic_id=""
    )


P0, P1, ELSEWHERE = TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("payments", 0)


def test_the_way_counts_from_this_runs_positions_and_only_its_own_partitions() -> None:
    way = Way([spec(0, 40), spec(1, 90)])
    way.update({P0: 70, P1: 100, ELSEWHERE: 5000})
    assert (way.copied(), way.total(), way.done()) == (40, 70, 1)
    assert (way.copied([P0]), way.total([P0])) == (30, 60)
    assert way.line() == "40 of 70 offsets copied (57 %), 1 of 2 partitions done"


def test_a_position_that_is_read_late_does_not_go_back() -> None:
    way = Way([spec(0)])
    way.update({P0: 70})
    way.update({P0: 30})
    assert way.copied() == 70


def test_with_a_window_there_is_no_total() -> None:
    way = Way([spec(0, end=OPEN_END)])
    way.update({P0: 7})
    assert (way.total(), way.line()) == (None, "7 offsets copied in 1 partition, more may arrive")


def test_a_log_gets_a_line_every_few_seconds_and_not_every_update(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        now = 100.0

        def monotonic(self) -> float:
            return self.now

    clock, stream = Clock(), io.StringIO()
    monkeypatch.setattr(copy_progress, "time", clock)
    progress = LineProgress(stream)
    progress.update({P0: 1})  # before it began: nothing to tell
    progress.begin([spec(0), spec(1)])
    for second in range(1, 11):
        clock.now = 100.0 + second
        progress.update({P0: second})
    progress.end()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "copying 2 partitions of 1 topic"
    assert [line.split()[0] for line in lines[1:]] == [str(int(LINE_S)), str(int(2 * LINE_S))]


def test_few_partitions_have_a_bar_each_and_many_share_their_topics() -> None:
    few = [TopicPartition("orders", n) for n in range(BARS_AT_MOST)]
    assert bars_of(few) == {f"orders-{n}": [few[n]] for n in range(BARS_AT_MOST)}
    many = [*few, ELSEWHERE]
    assert bars_of(many) == {f"orders ({BARS_AT_MOST})": few, "payments (1)": [ELSEWHERE]}


def test_bars_show_how_much_of_how_much() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    progress = BarProgress(console)
    progress.say("starting [bold]Spark[/bold]")
    progress.begin([spec(0), spec(1, end=OPEN_END, topic="payments")][:1])
    progress.update({P0: 25})
    progress.end()
    progress.end()
    shown = stream.getvalue()
    assert "starting [bold]Spark[/bold]" in shown
    assert "orders-0" in shown
    assert "25 of 100" in shown


@pytest.mark.parametrize(("is_terminal", "kind"), [(True, BarProgress), (False, LineProgress)])
def test_the_reader_of_the_stream_decides_which(is_terminal: bool, kind: type[Any]) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return is_terminal

    with copy_progress.progress_on(Stream()) as progress:
        assert isinstance(progress, kind)
