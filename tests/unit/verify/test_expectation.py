"""What is compared of a record, and which records are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mirror.kafka.values import TopicPartition
from mirror.records import transformation_of
from mirror.records.provenance import HEADER
from mirror.verify.differences import Right
from mirror.verify.entries import ANY_TIME, content_of, differing_fields
from mirror.verify.expectation import Actual, Expected
from mirror.verify.findings import Findings, Rules
from mirror.verify.offset_map import OffsetMap
from mirror.verify.spec import Comparison
from mirror.wire.history import EMPTY
from unit.groups.meshes import PAIR, file_of, flows_of
from unit.verify.walks import state_of


class Message:
    """As the client gives it."""

    def __init__(self, offset: int, *, kind: int = 1, headers: Any = None) -> None:
        self._offset, self._kind, self._headers = offset, kind, headers

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes:
        return b"k"

    def value(self) -> bytes:
        return b"v"

    def headers(self) -> Any:
        if isinstance(self._headers, Exception):
            raise self._headers
        return self._headers

    def timestamp(self) -> tuple[int, int]:
        return self._kind, 7


def comparison(**more: Any) -> Comparison:
    ends = {"upstream_start": 0, "upstream_end": 100, "downstream_start": 0, "downstream_end": 100}
    return Comparison(partition=TopicPartition("t", 0), remote=TopicPartition("A.t", 0), **{**ends, **more})


def findings() -> Findings:
    return Findings(Rules(map=OffsetMap(None)))


def test_what_returned_from_the_target_is_compared_on_neither_side() -> None:
    # The reverse flow's map: its upstream is our downstream. Offsets 50 to 54 here came from 60 to 64 there.
    returned = EMPTY.append_run(60, 5, 50, 5)
    state = replace(state_of([(0, 0)], position=100), returned=returned)
    books = findings()
    expected, actual = Expected(books, comparison(state=state), None), Actual(comparison(state=state))
    assert [n for n in range(40, 70) if expected(Message(n)) is None] == [50, 51, 52, 53, 54]
    assert [n for n in range(40, 70) if actual(Message(n)) is None] == [60, 61, 62, 63, 64]
    assert books.right == {Right.RETURNED: 5}


def test_a_timestamp_that_the_targets_brokers_set_says_nothing() -> None:
    stamped = Actual(comparison())(Message(1, kind=2))
    assert stamped is not None
    assert stamped[3] == ANY_TIME
    assert differing_fields(content_of(b"k", b"v", None, 99), stamped) == ()
    unstamped = Actual(comparison(compares_timestamps=False))(Message(1, kind=2))
    assert unstamped == Expected(findings(), comparison(compares_timestamps=False), None)(Message(5))


def test_no_headers_and_an_empty_list_are_the_same_and_unreadable_ones_equal_none() -> None:
    expected = Expected(findings(), comparison(), None)
    assert expected(Message(1)) == expected(Message(2, headers=[]))
    broken = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no name")
    assert expected(Message(1, headers=broken)) != expected(Message(2, headers=broken))


def test_of_a_topic_that_several_flows_write_only_what_this_one_brought_is_compared() -> None:
    transformation = transformation_of(flows_of(file_of(PAIR))["A->B"])
    books = findings()
    expected, actual = Expected(books, comparison(), transformation), Actual(comparison(), transformation)
    own, returned = Message(1), Message(2, headers=[(HEADER, b"B")])
    copied, others, written_there = (
        Message(3, headers=[(HEADER, b"A")]),
        Message(4, headers=[(HEADER, b"C")]),
        Message(5),
    )
    assert expected(returned) is None
    assert actual(others) is None
    assert actual(written_there) is None
    assert expected(own) == actual(copied)
    assert books.right == {Right.LEFT_OUT: 1}
