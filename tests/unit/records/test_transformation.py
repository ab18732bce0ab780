"""What a flow does to a record: the same on the driver, on an executor, and for whoever verifies the copy."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from flow_files import flow_from
from mirror.config import load
from mirror.custom import own_paths
from mirror.errors import ConfigurationRefused
from mirror.records import LeftOut, Record, Transformation, TransformationFailed, transformation_of
from world import project

SMT = "org.apache.kafka.connect.transforms"
FUNCTIONS = "unit.records.shop_records"


def record(**facts: Any) -> Record:
    usual: dict[str, Any] = {
        "topic": "orders",
        "remote_topic": "A.orders",
        "partition": 2,
        "offset": 41,
        "key": b"k",
        "value": b"v",
        "headers": (),
        "timestamp_ms": 1_700_000_000_000,
    }
    return Record(**{**usual, **facts})


def transformation(directory: Path, lines: str) -> Transformation:
    found = transformation_of(flow_from(directory, lines))
    assert found is not None
    return found


def filtering(directory: Path, predicate: str, *, negate: bool = False) -> Transformation:
    lines = f"""
        transforms = f
        transforms.f.type = {SMT}.Filter
        transforms.f.predicate = p
        transforms.f.negate = {str(negate).lower()}
        predicates = p
        predicates.p.type = {SMT}.predicates.{predicate}
    """
    return transformation(directory, lines)


def test_a_flow_without_filters_has_no_transformation(tmp_path: Path) -> None:
    assert transformation_of(flow_from(tmp_path)) is None


@pytest.mark.parametrize(
    ("predicate", "is_true_of", "is_not_true_of"),
    [
        ("RecordIsTombstone", record(value=None), record(value=b"")),
        ("HasHeaderKey\npredicates.p.name = test", record(headers=(("test", None),)), record(headers=(("Test", b""),))),
        ("TopicNameMatches\npredicates.p.pattern = A\\\\.or.*", record(), record(remote_topic="B.A.orders")),
        ("TopicNameMatches\npredicates.p.pattern = orders", record(remote_topic="orders"), record()),
    ],
)
@pytest.mark.parametrize("negate", [False, True])
def test_a_filter_drops_what_its_predicate_is_true_of_under_the_remote_topics_name(
    tmp_path: Path, predicate: str, is_true_of: Record, is_not_true_of: Record, negate: bool
) -> None:
    found = filtering(tmp_path, predicate, negate=negate)
    dropped, kept = (is_not_true_of, is_true_of) if negate else (is_true_of, is_not_true_of)
    assert found.apply(dropped) is None
    assert found.outcome(dropped) is LeftOut.DROPPED
    assert found.apply(kept) == kept


def test_the_function_drops_changes_and_leaves_alone(tmp_path: Path) -> None:
    found = transformation(tmp_path, f"airmirror.record.function = {FUNCTIONS}:hide_cards")
    assert found.apply(record(headers=(("internal", b""),))) is None
    assert found.apply(record(value=None)) == record(value=None)
    assert found.apply(record(value=b"card 4111")) == record(value=b"card ****", headers=(("hidden", b"1"),))


def test_filters_come_before_the_function(tmp_path: Path) -> None:
    lines = f"""
        transforms = f
        transforms.f.type = Filter
        transforms.f.predicate = p
        predicates = p
        predicates.p.type = RecordIsTombstone
        airmirror.record.function = {FUNCTIONS}:fails
    """
    found = transformation(tmp_path, lines)
    assert found.apply(record(value=None)) is None
    with pytest.raises(TransformationFailed):
        found.apply(record())


def test_a_failing_function_is_told_with_its_line_and_without_the_record(tmp_path: Path) -> None:
    found = transformation(tmp_path, f"airmirror.record.function = {FUNCTIONS}:fails")
    with pytest.raises(TransformationFailed, match=r"shop_records:fails raised ValueError at shop_records.py:\d+$"):
        found.apply(record(value=b"4111-1111"))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (b"str", "a str: expected the record"),
        (b"topic", "another topic, partition or offset"),
        (b"offset", "another topic, partition or offset"),
        (b"value", "a value that is a str: expected bytes or None"),
        (b"headers", "headers that are no pairs"),
        (b"timestamp", "timestamp_ms"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, asked: bytes, said: str) -> None:
    found = transformation(tmp_path, f"airmirror.record.function = {FUNCTIONS}:answers_nonsense")
    with pytest.raises(TransformationFailed, match=said):
        found.apply(record(value=asked))


def test_a_record_cannot_be_moved(tmp_path: Path) -> None:
    found = transformation(tmp_path, f"airmirror.record.function = {FUNCTIONS}:moves")
    with pytest.raises(TransformationFailed, match="raised TypeError"):
        found.apply(record())


def test_it_travels_as_a_value_and_loads_its_function_where_it_is_used(tmp_path: Path) -> None:
    lines = f"""
        transforms = f
        transforms.f.type = Filter
        transforms.f.predicate = p
        predicates = p
        predicates.p.type = TopicNameMatches
        predicates.p.pattern = x
        airmirror.record.function = {FUNCTIONS}:hide_cards
    """
    found = transformation(tmp_path, lines)
    found.apply(record())  # whatever it remembers from use stays at home
    there = pickle.loads(pickle.dumps(found))
    assert there.apply(record(value=b"4111")) == found.apply(record(value=b"4111"))
    assert there.apply(record(remote_topic="x")) is None


@pytest.mark.parametrize("path", [f"{FUNCTIONS}:missing", f"{FUNCTIONS}:NOT_CALLABLE"])
def test_a_function_that_is_not_there_is_refused_before_anything_is_copied(tmp_path: Path, path: str) -> None:
    found = transformation(tmp_path, f"airmirror.record.function = {path}")
    with pytest.raises(ConfigurationRefused, match=path.partition(":")[2]):
        found.prepare(tmp_path)


def test_a_module_that_is_not_there_is_refused_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationRefused, match=r"expected an own Python function as package.module:function"):
        flow_from(tmp_path, "airmirror.record.function = no.such:thing")


def test_a_module_beside_the_file_is_found_and_shipped(tmp_path: Path) -> None:
    (tmp_path / "beside_the_file.py").write_text("def same(record):\n    return record\n")
    flow = flow_from(tmp_path, "airmirror.record.function = beside_the_file:same")
    found = transformation_of(flow)
    assert found is not None
    found.prepare(flow.folder)
    assert found.apply(record()) == record()
    assert [path.module for path in own_paths(flow)] == ["beside_the_file"]


def test_the_example_of_the_page_does_what_it_says(tmp_path: Path) -> None:
    page = (project.root() / "docs" / "records.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    *lines, active_active = re.findall(r"```properties\n(.*?)```", page, re.DOTALL)
    (tmp_path / "acme_records.py").write_text(code)
    flow = flow_from(tmp_path, "\n".join(lines))
    found = transformation_of(flow)
    assert found is not None
    found.prepare(flow.folder)
    assert found.apply(record(headers=(("test", b""),))) is None
    assert found.apply(record(topic="payments", remote_topic="A.payments")) is None
    card = record(topic="payments", remote_topic="A.orders-paid", value=b"by 1234567812345678!")
    hidden = found.apply(card)
    assert hidden is not None
    assert hidden.value == b"by ************5678!"
    assert hidden.headers == (("hidden-by", b"hide_cards"),)
    (tmp_path / "active.properties").write_text(active_active)
    both = load(tmp_path / "active.properties")
    assert both.warnings == ()
    assert [transformation_of(flow) is not None for flow in both.enabled_flows] == [True, True]
