"""The control topic's records: stable keys, readable values, and nothing damaged taken for true."""

from __future__ import annotations

from typing import Any

import pytest

from mirror.errors import StateUnreadable
from mirror.wire.control import (
    Claim,
    Clock,
    FirstPosition,
    Life,
    Removed,
    RunResult,
    SourceEnds,
    Started,
    Unrecognised,
    decode,
    flow_key,
)
from mirror.wire.flow_state import FlowState, Operation, SourceRights, TargetTopics
from mirror.wire.mm2_positions import Mm2Positions

CLAIM = Claim(
    flow="A->B",
    run="r1",
    slots=2,
    highest_slot=31,
    run_number=40,
    host="hürth",
    pid=7,
    holder="copy",
)
LIFE = Life(flow="A->B", run="r1", state="alive", signs=4)
CASES: list[tuple[Any, str, str]] = [
    (
        CLAIM,
        '{"flow":"A->B","kind":"claim"}',
        '{"highest_slot":31,"holder":"copy","host":"hürth","pid":7,"run":"r1","run_number":40,"slots":2}',
    ),
    (
        FirstPosition(
            flow="A->B",
            topic="t",
            partition=1,
            position=700,
            source_topic_id="8vpX",
            chosen_by="latest",
        ),
        '{"flow":"A->B","kind":"first-position","partition":1,"topic":"t"}',
        '{"chosen_by":"latest","position":700,"source_topic_id":"8vpX"}',
    ),
    (
        SourceEnds(flow="A->B", topic="t", at_ms=5, ends={0: 10, 11: 3, 2: 0}, stable={0: 9, 11: 3, 2: 0}),
        '{"flow":"A->B","kind":"source-ends","topic":"t"}',
        '{"at_ms":5,"ends":{"0":10,"2":0,"11":3},"stable":{"0":9,"2":0,"11":3}}',
    ),
    (
        RunResult(flow="A->B", run_number=40, run="r1", document={"copied": 5, "slots": [{"slot": 0}]}),
        '{"flow":"A->B","kind":"run-result","place":8}',
        '{"document":{"copied":5,"slots":[{"slot":0}]},"run":"r1","run_number":40}',
    ),
    (
        Mm2Positions(flow="A->B", topic="t", positions={0: 10, 11: 3}),
        '{"flow":"A->B","kind":"mm2-positions","topic":"t"}',
        '{"positions":{"0":10,"11":3}}',
    ),
    (LIFE, '{"flow":"A->B","kind":"life","run":"r1"}', '{"signs":4,"state":"alive"}'),
    (Clock(flow="A->B"), '{"flow":"A->B","kind":"clock"}', "{}"),
    (
        FlowState(flow="A->B", state="failed-over", operation="o1", at_ms=5, by="a person"),
        '{"flow":"A->B","kind":"flow-state"}',
        '{"at_ms":5,"by":"a person","operation":"o1","state":"failed-over"}',
    ),
    (
        TargetTopics(flow="A->B", part=0, parts=2, operation="o1", topics=("a", "b")),
        '{"flow":"A->B","kind":"target-topics","part":0}',
        '{"operation":"o1","parts":2,"topics":["a","b"]}',
    ),
    (
        SourceRights(flow="A->B", part=1, parts=2, at_ms=5, rows=(("topic", "t", "LITERAL", "User:x"),)),
        '{"flow":"A->B","kind":"source-rights","part":1}',
        '{"at_ms":5,"parts":2,"rows":[["topic","t","LITERAL","User:x"]]}',
    ),
    (
        Operation(
            flow="A->B", what="failover", operation="o1", started_ms=5, request={"planned": True}, done=("claim",)
        ),
        '{"flow":"A->B","kind":"operation","what":"failover"}',
        '{"done":["claim"],"facts":{},"is_finished":false,"operation":"o1","request":{"planned":true},"started_ms":5}',
    ),
    (Started(flow="A->B", at_ms=5, run="r1"), '{"flow":"A->B","kind":"started"}', '{"at_ms":5,"run":"r1"}'),
]


@pytest.mark.parametrize(("record", "key", "value"), CASES, ids=[type(case[0]).__name__ for case in CASES])
def test_record_on_the_wire_and_back(record: Any, key: str, value: str) -> None:
    assert record.encode_key().decode() == key
    assert record.encode_value().decode() == value
    assert decode(key.encode(), value.encode()) == record
    removed = Removed.of(record)
    assert removed == decode(key.encode(), None)
    assert (removed.kind, removed.flow) == (record.KIND, "A->B")
    assert (removed.encode_key(), removed.encode_value()) == (key.encode(), None)


@pytest.mark.parametrize(("record", "key", "value"), CASES, ids=[type(case[0]).__name__ for case in CASES])
def test_member_of_a_newer_airmirror_is_passed_over(record: Any, key: str, value: str) -> None:
    newer = value.replace("{", '{"new":[1],', 1).replace(",}", "}")
    assert decode(key.encode(), newer.encode()) == record


def test_value_cannot_contradict_its_key() -> None:
    found = decode(CLAIM.encode_key(), CLAIM.encode_value().replace(b"{", b'{"flow":"B->A",', 1))
    assert found == CLAIM


def test_results_share_a_ring_of_keys() -> None:
    keys = {RunResult(flow="A->B", run_number=n, run="r", document={}).encode_key() for n in range(100)}
    assert len(keys) == 32


def test_deployments_on_the_same_aliases_have_their_own_keys() -> None:
    assert flow_key("A->B") == "A->B"
    assert flow_key("A->B", "blue") == "A->B#blue"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (b'{"flow":"A->B","kind":"news"}', "news"),
        (b"{}", ""),
        (b'{"kind":1}', ""),
        (b"[]", ""),
        (b"\xff", ""),
    ],
)
def test_unknown_kind_is_recognised_as_such(key: bytes, kind: str) -> None:
    assert decode(key, b"whatever") == Unrecognised(kind=kind)
    assert decode(key, None) == Unrecognised(kind=kind)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (b"\xff", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"{}", "'run' .* text"),
        (CLAIM.encode_value().replace(b'"pid":7', b'"pid":true'), "'pid' .* whole number"),
        (CLAIM.encode_value().replace(b'"pid":7', b'"pid":7.5'), "'pid' .* whole number"),
    ],
)
def test_damaged_claim_is_an_error_rather_than_a_guess(value: bytes, names: str) -> None:
    with pytest.raises(StateUnreadable, match=names):
        decode(CLAIM.encode_key(), value)


@pytest.mark.parametrize("ends", [b'{"a":1}', b'{"0":null}', b'{"0":1.5}', b'{"0":true}', b"[]"])
def test_damaged_ends_are_an_error(ends: bytes) -> None:
    with pytest.raises(StateUnreadable, match="'ends'"):
        decode(b'{"flow":"A->B","kind":"source-ends","topic":"t"}', b'{"at_ms":5,"stable":{},"ends":' + ends + b"}")


def test_life_in_a_state_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(StateUnreadable, match=r"'state' .* one of alive, ended"):
        decode(LIFE.encode_key(), LIFE.encode_value().replace(b"alive", b"undead"))
