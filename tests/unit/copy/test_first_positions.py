"""Which partitions need a first position, and where each begins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.copy.first_positions import decide_first_positions, undecided
from mirror.copy.survey import Survey
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.wire.control import Started
from unit.copy.surveys import OTHER_ID, P0, SOURCE_ID, first_position, state, survey_of

NOON_MS = 1_772_366_400_000  # 2026-03-01T12:00Z
LATEST = "A.consumer.auto.offset.reset = latest\n"
AT_NOON = "airmirror.start = 2026-03-01T12:00:00+00:00\n"


class TimeIndex(Cluster):
    """A cluster that is asked for nothing but offsets by time, and knows them."""

    def __init__(self, answer: int | None) -> None:
        self._answer = answer
        self.asked: list[int] = []

    def offsets_at(self, at_ms: int, partitions: object) -> dict[TopicPartition, int | None]:
        self.asked.append(at_ms)
        return dict.fromkeys(partitions, self._answer)  # type: ignore[call-overload, no-any-return]


def started(survey: Survey) -> Survey:
    control = replace(survey.control, started=Started(flow="A->B", at_ms=1, run="run-0"))
    return replace(survey, control=control)


FRESH = survey_of(start=5, end=100, stable=90)


@pytest.mark.parametrize(
    ("survey", "lines", "by_time", "expected"),
    [
        pytest.param(FRESH, "", None, (5, "earliest"), id="the beginning is the log's start"),
        pytest.param(FRESH, LATEST, None, (90, "latest"), id="latest is the stable end: open transactions may commit"),
        pytest.param(FRESH, "airmirror.start = orders:0:33", None, (33, "start"), id="an offset"),
        pytest.param(FRESH, LATEST + "airmirror.start = orders:0:33", None, (33, "start"), id="an offset over latest"),
        pytest.param(FRESH, LATEST + "airmirror.start = orders:1:33", None, (90, "latest"), id="another's offset"),
        pytest.param(FRESH, "airmirror.start = orders:1:33", None, (5, "earliest"), id="another's offset, earliest"),
        pytest.param(FRESH, AT_NOON, 42, (42, "start"), id="a moment within the log"),
        pytest.param(FRESH, AT_NOON, None, (100, "start"), id="a moment after the newest record"),
        pytest.param(started(FRESH), "", None, (5, "earliest"), id="appeared later"),
        pytest.param(started(FRESH), LATEST, None, (5, "earliest"), id="appeared later, latest"),
        pytest.param(started(FRESH), AT_NOON, 42, (5, "earliest"), id="appeared later, a moment"),
        pytest.param(started(FRESH), "airmirror.start = orders:0:33", 42, (5, "earliest"), id="appeared later, offset"),
        pytest.param(replace(FRESH, mm2_positions={P0: 60}), "", None, (60, "mm2"), id="MM2 was there"),
        pytest.param(replace(FRESH, mm2_positions={P0: 60}), LATEST, None, (60, "mm2"), id="MM2 was there, latest"),
        pytest.param(replace(FRESH, mm2_positions={P0: 60}), AT_NOON, 42, (60, "mm2"), id="MM2 was there, a moment"),
    ],
)
def test_the_first_run_begins_as_the_file_says_and_what_appears_later_at_its_beginning(
    tmp_path: Path, survey: Survey, lines: str, by_time: int | None, expected: tuple[int, str]
) -> None:
    (first,) = decide_first_positions(flow_from(tmp_path, lines), "A->B", survey, TimeIndex(by_time), [P0])
    assert (first.position, first.chosen_by) == expected
    assert (first.flow, first.topic, first.partition, first.source_topic_id) == ("A->B", "orders", 0, SOURCE_ID)


def test_the_source_is_asked_for_the_very_moment_and_only_in_the_first_run(tmp_path: Path) -> None:
    flow, index = flow_from(tmp_path, AT_NOON), TimeIndex(42)
    decide_first_positions(flow, "A->B", started(FRESH), index, [P0])
    assert index.asked == []
    decide_first_positions(flow, "A->B", FRESH, index, [P0])
    assert index.asked == [NOON_MS]


@pytest.mark.parametrize(
    ("survey", "expected"),
    [
        pytest.param(survey_of(), [P0], id="nothing known"),
        pytest.param(survey_of(state(10)), [], id="copied before"),
        pytest.param(survey_of(firsts=(first_position(0),)), [], id="decided before"),
        pytest.param(
            survey_of(firsts=(first_position(0),), source_id=OTHER_ID), [P0], id="decided for a topic since deleted"
        ),
        pytest.param(survey_of(mm2={P0: 5}), [P0], id="MM2's position is yet to be taken"),
    ],
)
def test_a_partition_is_decided_once(survey: Survey, expected: list[TopicPartition]) -> None:
    assert undecided(survey) == expected


def test_a_partition_without_a_leader_is_not_decided_now() -> None:
    survey = survey_of()
    del survey.source.ends[P0]
    assert undecided(survey) == []
