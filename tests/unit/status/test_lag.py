"""Lag as values: where each partition stands, how old what is missing is, and what is said of topics and flows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flow_files import flow_from
from mirror.copy.judge import judge
from mirror.copy.links import links_of
from mirror.copy.survey import Survey
from mirror.kafka.values import TopicPartition
from mirror.status.lag import FlowLag, LagState, PartitionLag
from mirror.status.stand import Findings, stand, unseen, with_ages
from mirror.wire.control import RunResult, Started
from mirror.wire.gaps import Gap, GapReason
from unit.copy.surveys import NOW_MS, OTHER_ID, P0, TOPIC, first_position, state, survey_of


def stands(tmp_path: Path, survey: Survey, new: frozenset[TopicPartition] = frozenset(), lines: str = "") -> FlowLag:
    flow = flow_from(tmp_path, lines)
    judgement = judge(flow, links_of(flow), survey)
    return stand(flow.id, Findings(survey=survey, judgement=judgement, new=new), NOW_MS)


@pytest.mark.parametrize(
    ("survey", "expected", "lag"),
    [
        pytest.param(survey_of(state(100)), "current", 0, id="copied to the end"),
        pytest.param(survey_of(state(60)), "behind", 40, id="something to copy"),
        pytest.param(survey_of(state(60), stable=60), "held", 40, id="an open transaction and nothing before it"),
        pytest.param(survey_of(state(60), stable=80), "behind", 40, id="an open transaction and something before it"),
        pytest.param(survey_of(state(60), remote_exists=False), "waiting", 40, id="no remote topic"),
        pytest.param(survey_of(state(60), source_id=OTHER_ID), "stopped", None, id="source made anew"),
        pytest.param(survey_of(state(60), end=40), "stopped", None, id="truncated"),
        pytest.param(survey_of(state(5), start=30), "behind", 70, id="retention was faster"),
        pytest.param(survey_of(state(60), mm2={P0: 90}), "behind", 10, id="MM2 copied on"),
        pytest.param(survey_of(firsts=(first_position(30),)), "behind", 70, id="begun, nothing copied"),
    ],
)
def test_each_partition_is_told_as_it_stands(
    tmp_path: Path, survey: Survey, expected: LagState, lag: int | None
) -> None:
    (partition,) = stands(tmp_path, survey).partitions
    assert (partition.state, partition.lag) == (expected, lag)


def test_a_partition_that_no_run_has_seen_is_new(tmp_path: Path) -> None:
    survey = survey_of(firsts=(first_position(0),))
    (partition,) = stands(tmp_path, survey, new=frozenset({P0})).partitions
    assert (partition.state, partition.lag) == ("new", 100)


def test_a_flow_without_any_state_was_never_copied(tmp_path: Path) -> None:
    survey = survey_of(firsts=(first_position(0),))
    assert stands(tmp_path, survey).never_copied
    survey.control.started = Started(flow="A->B", at_ms=1, run="r")
    assert not stands(tmp_path, survey).never_copied


def test_what_is_found_lost_is_told_before_it_is_on_record(tmp_path: Path) -> None:
    recorded = Gap(start=1, end=2, reason=GapReason.SKIPPED, at_ms=NOW_MS)
    document = stands(tmp_path, survey_of(state(5, gaps=(recorded,)), start=30)).to_json()
    gaps = document["partitions"][0]["gaps"]
    assert [(g["from"], g["to"], g["reason"], g["recorded"]) for g in gaps] == [
        (1, 2, "skipped", True),
        (5, 30, "retention", False),
    ]


def result(run_number: int, to: int, error: dict[str, Any] | None) -> RunResult:
    told = {"topic": TOPIC, "partition": 0, "from": 0, "to": to} | ({"error": error} if error else {})
    return RunResult(flow="A->B", run_number=run_number, run=f"run-{run_number}", document={"partitions": [told]})


REFUSED = {"error": "RecordRefused", "message": "refused at 60", "next_step": "airmirror resume"}


@pytest.mark.parametrize(
    ("results", "position", "is_stopped"),
    [
        pytest.param([result(1, 60, REFUSED)], 60, True, id="the last run stopped it here"),
        pytest.param([result(1, 60, REFUSED)], 61, False, id="it stands elsewhere now"),
        pytest.param([result(1, 60, REFUSED), result(2, 60, None)], 60, False, id="a later run says otherwise"),
        pytest.param([result(33, 60, REFUSED), result(2, 60, None)], 60, True, id="the newest run counts"),
        pytest.param([result(1, 100, REFUSED)], 100, False, id="nothing is left to copy"),
    ],
)
def test_a_refused_record_is_known_from_the_run_that_met_it(
    tmp_path: Path, results: list[RunResult], position: int, is_stopped: bool
) -> None:
    survey = survey_of(state(position))
    survey.control.results.update({r.place: r for r in results})
    (partition,) = stands(tmp_path, survey).partitions
    assert (partition.state == "stopped", partition.stopped == REFUSED) == (is_stopped, is_stopped)


def test_ages_are_read_only_where_something_is_missing(tmp_path: Path) -> None:
    survey = survey_of(state(60), state(100, 1), state(5, 2), partitions=3)
    survey.source.log_starts[TopicPartition(TOPIC, 2)] = 30
    assert unseen(stands(tmp_path, survey)) == {P0: 60, TopicPartition(TOPIC, 2): 30}
    assert unseen(stands(tmp_path, survey_of(state(60), source_id=OTHER_ID))) == {}


@pytest.mark.parametrize(
    ("oldest", "expected"),
    [({P0: NOW_MS - 1500}, 1.5), ({P0: NOW_MS + 9000}, 0.0), ({P0: None}, None), ({}, None)],
    ids=["age of the first record", "a clock that runs ahead", "no record there", "not answered"],
)
def test_the_age_of_the_first_record_not_yet_copied_is_the_lag_in_seconds(
    tmp_path: Path, oldest: dict[TopicPartition, int | None], expected: float | None
) -> None:
    lag = with_ages(stands(tmp_path, survey_of(state(60))), oldest)
    assert lag.partitions[0].behind_s(NOW_MS) == expected
    assert lag.to_json()["partitions"][0]["lag_seconds"] == expected


def test_held_since_is_the_time_of_the_first_held_record(tmp_path: Path) -> None:
    lag = with_ages(stands(tmp_path, survey_of(state(60), stable=60)), {P0: NOW_MS - 60_000})
    assert lag.to_json()["partitions"][0]["held_since"] == "2023-11-14T22:12:20.000Z"
    behind = with_ages(stands(tmp_path, survey_of(state(60))), {P0: NOW_MS - 60_000})
    assert behind.to_json()["partitions"][0]["held_since"] is None


def test_a_partition_without_a_leader_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    survey = survey_of(state(60), state(60, 1), partitions=2)
    del survey.source.stable_ends[P0]
    lag = stands(tmp_path, survey)
    assert [p.partition.partition for p in lag.partitions] == [1]
    assert "orders-0 has no leader" in lag.notices[0]


def part(number: int, **facts: Any) -> PartitionLag:
    known: dict[str, Any] = {"state": "behind", "position": 0, "log_start": 0, "stable_end": 10, "end": 10}
    partition = TopicPartition(TOPIC, number)
    return PartitionLag(partition=partition, remote=partition, **(known | facts))


@pytest.mark.parametrize(
    ("partitions", "worst"),
    [
        ((part(0), part(1, end=90), part(2)), 1),
        ((part(0, end=90), part(1, state="held")), 1),
        ((part(0, state="held"), part(1, state="stopped", is_other_log=True)), 1),
        ((part(0), part(1)), 0),
    ],
    ids=["most behind", "held before behind", "stopped before held", "the first of equals"],
)
def test_a_topic_is_told_by_its_worst_partition(partitions: tuple[PartitionLag, ...], worst: int) -> None:
    (topic,) = FlowLag(flow="A->B", at_ms=NOW_MS, partitions=partitions).topics
    assert topic.worst.partition.partition == worst


def test_topics_and_flows_add_up_their_partitions() -> None:
    hole = Gap(start=0, end=3, reason=GapReason.SKIPPED, at_ms=1)
    first = part(0, end=30, oldest_ms=NOW_MS - 2000, gaps=(hole,), committed_ms=5)
    second = part(1, end=10, oldest_ms=NOW_MS - 9000, committed_ms=9, lost=replace(hole, end=4))
    other = replace(part(0, position=10, state="current"), partition=TopicPartition("payments", 0))
    flow = FlowLag(flow="A->B", at_ms=NOW_MS, partitions=(first, second, other))
    orders, payments = flow.topics
    assert (orders.lag, orders.behind_s(NOW_MS), orders.gaps, orders.committed_ms) == (40, 9.0, 7, 9)
    assert (payments.lag, payments.behind_s(NOW_MS), payments.gaps, payments.committed_ms) == (0, 0.0, 0, None)
    assert (flow.lag, flow.behind_s, flow.committed_ms) == (40, 9.0, 9)
    assert json.loads(json.dumps(flow.to_json()))["lag_records"] == 40


def test_an_age_that_could_not_be_seen_is_not_told_as_none() -> None:
    (topic,) = FlowLag(flow="A->B", at_ms=NOW_MS, partitions=(part(0), part(1, position=10, state="current"))).topics
    assert topic.behind_s(NOW_MS) is None
