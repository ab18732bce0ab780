"""A result document becomes a small summary, and the error whose kind decides about a retry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mirror import errors
from mirror.airflow.outcomes import LISTED, error_from_json, error_of, summary_of
from mirror.copy.result import CopyResult, PartitionResult
from mirror.errors import MirrorError
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap, GapReason


def partition(number: int, *, end: int = 10, **fields: Any) -> PartitionResult:
    place = TopicPartition("orders", number)
    remote = TopicPartition("A.orders", number)
    return PartitionResult(partition=place, remote=remote, start=0, end=end, record_count=end, byte_count=end, **fields)


def document(*partitions: PartitionResult, **fields: Any) -> dict[str, Any]:
    result = CopyResult(flow="A->B", run="r1", partitions=partitions, **fields)
    # As it comes from the control topic: through JSON.
    return dict(json.loads(json.dumps(result.to_json())))


def refused(number: int) -> errors.RecordRefused:
    return errors.RecordRefused(
        f"orders-{number}: offset 10 is too large", next_step="airmirror resume", partition=number
    )


def every_leaf(kind: type[MirrorError] = MirrorError) -> list[type[MirrorError]]:
    below = kind.__subclasses__()
    return [leaf for each in below for leaf in every_leaf(each)] if below else [kind]


class TestErrors:
    @pytest.mark.parametrize("leaf", every_leaf(), ids=lambda leaf: leaf.__name__)
    def test_every_error_of_the_tree_comes_back_as_itself(self, leaf: type[MirrorError]) -> None:
        error = error_from_json(leaf("what happened", next_step="airmirror flows", topic="orders").to_json())
        assert type(error) is leaf
        assert str(error) == "what happened\n  next: airmirror flows"
        assert error.about == {"topic": "orders"}

    @pytest.mark.parametrize("kind", [errors.TryAgain, errors.PersonMustAct, errors.StopNow])
    def test_an_error_of_a_newer_version_keeps_its_kind(self, kind: type[MirrorError]) -> None:
        told = {"error": "InventedLater", "kind": kind.kind, "message": "what", "next_step": ""}
        assert type(error_from_json(told)) is kind

    def test_a_name_that_is_no_error_of_ours_is_not_taken_from_the_module(self) -> None:
        assert type(error_from_json({"error": "Any", "kind": "", "message": ""})) is MirrorError

    def test_a_run_that_copied_everything_has_no_error(self) -> None:
        assert error_of(document(partition(0), partition(1))) is None

    def test_a_superseded_run_stops_now(self) -> None:
        error = error_of(document(partition(0), superseded_by="r2"))
        assert isinstance(error, errors.StopNow)
        assert "superseded by run r2" in error.message

    def test_a_run_that_failed_as_a_whole_raises_its_own_error(self) -> None:
        error = error_of(document(error=errors.ClusterUnreachable("no broker of A answers", cluster="A")))
        assert isinstance(error, errors.ClusterUnreachable)

    def test_stopped_partitions_are_named_with_their_offsets_and_the_next_command(self) -> None:
        error = error_of(document(partition(0), partition(1, error=refused(1)), partition(2, error=refused(2))))
        assert isinstance(error, errors.CopyIncomplete)
        text = str(error)
        assert "2 partitions stopped, all others were copied" in text
        assert "orders-1, copied up to offset 10: orders-1: offset 10 is too large" in text
        assert "orders-2, copied up to offset 10" in text
        assert text.endswith("next: airmirror resume")

    def test_only_when_every_stopped_partition_can_be_tried_again_the_run_is(self) -> None:
        busy = errors.ClusterBusy("no leader", partition=0)
        assert isinstance(error_of(document(partition(0, error=busy))), errors.TryAgain)
        assert isinstance(
            error_of(document(partition(0, error=busy), partition(1, error=refused(1)))), errors.PersonMustAct
        )

    def test_a_thousand_stopped_partitions_are_not_all_listed(self) -> None:
        error = error_of(document(*(partition(number, error=refused(number)) for number in range(1000))))
        assert error is not None
        assert error.message.count("\n") == LISTED + 1
        assert f"and {1000 - LISTED} more" in error.message


class TestSummary:
    def test_counts_are_of_all_partitions_though_few_are_listed(self) -> None:
        summary = summary_of(document(*(partition(number) for number in range(200)), partition(200, end=0)))
        assert (summary["records"], summary["bytes"]) == (2000, 2000)
        assert len(summary["partitions"]) == LISTED
        assert summary["partitions_not_listed"] == 200 - LISTED
        assert summary["partitions_idle"] == 1

    def test_gaps_and_stopped_partitions_are_told(self) -> None:
        gap = Gap(start=0, end=5, reason=GapReason.RETENTION, at_ms=1)
        summary = summary_of(document(partition(0, gaps=(gap,)), partition(1, error=refused(1))))
        assert summary["gaps"] == [{"topic": "orders", "partition": 0, "from": 0, "to": 5, "reason": "retention"}]
        assert summary["partitions_stopped"] == 1
        assert {p["partition"]: p.get("error") for p in summary["partitions"]} == {0: None, 1: "RecordRefused"}

    def test_what_was_left_out_is_counted(self) -> None:
        summary = summary_of(document(partition(0, dropped_count=3), partition(1, there_already_count=9)))
        assert (summary["dropped"], summary["there_already"]) == (3, 9)
        assert [p.get("dropped") for p in summary["partitions"]] == [3, None]

    def test_it_is_plain_json(self) -> None:
        summary = summary_of(document(partition(0)))
        assert json.loads(json.dumps(summary)) == summary
