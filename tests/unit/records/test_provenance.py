"""A record says which clusters it has been on, never comes back to one, and takes one way of several."""

from __future__ import annotations

import pickle

import pytest

from mirror.config.options import PROVENANCE_HEADERS
from mirror.custom import own_paths
from mirror.errors import ConfigurationRefused
from mirror.records import LeftOut, Record, transformation_of
from mirror.records.provenance import HEADER, path_of
from mirror.records.record import Headers
from mirror.records.routes import Place, routes_of
from unit.groups.meshes import FULL, PAIR, SHAPES, file_of, flows_of

DEFAULT_POLICY = "replication.policy.class = org.apache.kafka.connect.mirror.DefaultReplicationPolicy"


def record(path: str = "", *, topic: str = "orders", others: Headers = ()) -> Record:
    headers = (*others, (HEADER, path.encode())) if path else others
    return Record(topic, topic, 0, 1, b"k", b"v", headers, 1)


def outcome(flows: tuple[str, ...], flow: str, given: Record, lines: str = "") -> Record | LeftOut:
    found = transformation_of(flows_of(file_of(flows, lines))[flow])
    assert found is not None
    return found.outcome(given)


def test_a_copy_gets_the_path_behind_its_other_headers() -> None:
    first = outcome(PAIR, "A->B", record(others=(("x", None),)))
    assert isinstance(first, Record)
    assert first.headers == (("x", None), (HEADER, b"A"))
    assert path_of(first.headers) == ("A",)


def test_a_second_hop_adds_to_the_path_and_keeps_one_header() -> None:
    second = outcome(SHAPES["spokes"], "H->B", record("A", others=(("x", b"1"),)))
    assert isinstance(second, Record)
    assert second.headers == (("x", b"1"), (HEADER, b"A,H"))


@pytest.mark.parametrize(
    ("flows", "flow", "path", "is_copied"),
    [
        (PAIR, "B->A", "A", False),  # written there
        (PAIR, "B->A", "", True),
        (SHAPES["ring"], "C->A", "A,B", False),
        (SHAPES["ring"], "C->A", "B", True),
        (SHAPES["spokes"], "H->C", "A", True),
        (SHAPES["spokes"], "H->A", "B,A", False),  # been there, though not written there
        (FULL, "B->C", "A", False),  # A has a flow of its own to C
        (FULL, "A->C", "", True),
        (SHAPES["diamond"], "B->D", "A", True),  # of two equal ways the file's first
        (SHAPES["diamond"], "C->D", "A", False),
        (PAIR, "B->A", "elsewhere", True),  # a cluster that this file does not know
    ],
)
def test_a_record_is_copied_where_it_has_not_been_and_comes_by_no_other_flow(
    flows: tuple[str, ...], flow: str, path: str, is_copied: bool
) -> None:
    found = outcome(flows, flow, record(path))
    assert isinstance(found, Record) if is_copied else found is LeftOut.THERE_ALREADY


def test_a_direct_flow_that_does_not_take_the_topic_leaves_it_to_the_way_round() -> None:
    lines = "A->C.topics = payments"
    assert isinstance(outcome(FULL, "B->C", record("A"), lines), Record)
    assert outcome(FULL, "B->C", record("A", topic="payments"), lines) is LeftOut.THERE_ALREADY


def test_a_disabled_flow_brings_nothing() -> None:
    flows = tuple(flow for flow in FULL if flow != "A->C")
    assert isinstance(outcome(flows, "B->C", record("A")), Record)


def test_with_prefixes_the_name_is_followed_back_hop_by_hop() -> None:
    """On B the topic `shop.orders` of A is `A.shop.orders`: A's own flow to C takes it, whatever the dots say."""
    given = record("A", topic="A.shop.orders")
    assert outcome(FULL, "B->C", given, DEFAULT_POLICY) is LeftOut.THERE_ALREADY
    only = f"{DEFAULT_POLICY}\nA->C.topics = orders\n"
    assert isinstance(outcome(FULL, "B->C", given, only), Record)


def test_a_function_cannot_make_a_record_forget_its_path() -> None:
    lines = "airmirror.record.function = unit.records.shop_records:forget_headers"
    found = outcome(SHAPES["spokes"], "H->B", record("A"), lines)
    assert isinstance(found, Record)
    assert found.headers == ((HEADER, b"A,H"),)


def test_what_a_flow_brought_is_told_from_what_others_did() -> None:
    found = transformation_of(flows_of(file_of(FULL))["A->B"])
    assert found is not None
    told = {path: found.brought(record(path).headers) for path in ("A", "C", "C,A", "A,C", "")}
    assert told == {"A": True, "C": False, "C,A": True, "A,C": False, "": False}


def test_it_travels_without_credentials() -> None:
    flow = flows_of(file_of(PAIR, "A.sasl.jaas.config = secret-word required;\nB.ssl.key.password = secret-word"))[
        "A->B"
    ]
    packed = pickle.dumps(transformation_of(flow))
    assert b"secret-word" not in packed
    found = pickle.loads(packed)
    assert found.outcome(record("B")) is LeftOut.THERE_ALREADY
    assert isinstance(found.outcome(record()), Record)


def test_other_flows_own_classes_are_shipped_too() -> None:
    lines = "A->B.topic.filter.class = unit.records.shop_records:Only"
    flow = flows_of(file_of(PAIR, lines))["B->A"]
    assert [path.name for path in own_paths(flow)] == ["Only"]


def test_a_way_ends_where_a_topic_is_called_by_another_name() -> None:
    routes = routes_of(flows_of(file_of(SHAPES["chain"], DEFAULT_POLICY))["A->B"])
    assert routes.step_to("C", Place("A", "orders")) == (Place("B", "A.orders"), Place("C", "B.A.orders"))
    assert routes.step_to("A", Place("A", "orders")) is None


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigurationRefused) as caught:
        flows_of(text)
    found: list[str] = caught.value.about["problems"]
    return found


def test_every_flow_that_brings_records_must_mark_them_and_all_that_do_not_are_told() -> None:
    text = file_of(FULL).replace("airmirror.provenance.headers = true", "A->B.airmirror.provenance.headers = true")
    told = problems_of(text)
    assert len(told) == 2
    assert all("A->B.airmirror.provenance.headers" in line for line in told)
    assert any("write B->A.airmirror.provenance.headers = true" in line for line in told)
    assert any("write C->A.airmirror.provenance.headers = true" in line for line in told)


def test_a_flow_out_of_the_mesh_need_not_mark() -> None:
    text = file_of((*PAIR, "A->C"), "A->C.airmirror.provenance.headers = false")
    assert [flow.id for flow in flows_of(text).values() if not flow[PROVENANCE_HEADERS]] == ["A->C"]
