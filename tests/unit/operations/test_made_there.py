"""Topics made on the target since the failover: told from those that were there, and judged by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import write_file
from mirror.config import load
from mirror.copy.control import ControlState
from mirror.operations.made_there import made_since
from mirror.wire.flow_state import Operation, TargetTopics

POLICY = "replication.policy.class = org.apache.kafka.connect.mirror.{}ReplicationPolicy\n"


def control(*before: str, parts: int = 1, operation: str = "o1") -> ControlState:
    failover = Operation(flow="A->B", what="failover", operation="o1", started_ms=1, request={})
    noted = TargetTopics(flow="A->B", part=0, parts=parts, operation=operation, topics=before)
    return ControlState(operations={"failover": failover}, topics_there={0: noted})


def judged(directory: Path, lines: str, state: ControlState, *topics: str, known: tuple[str, ...] = ()) -> dict:  # type: ignore[type-arg]
    configuration = load(write_file(directory, lines, clusters=dict.fromkeys("ABC", "localhost:1")))
    flow = configuration.flow("A->B")
    made = made_since(flow, configuration.opposite(flow), state, topics, known)
    return {each.topic: each.home or each.reason for each in made}


@pytest.mark.parametrize("policy", ["Identity", "Legacy"])
def test_where_names_stay_every_selected_topic_returns_under_its_name(tmp_path: Path, policy: str) -> None:
    lines = f"topics = orders.*\ntopics.exclude = orders.tmp\n{POLICY.format(policy)}"
    there = ("orders.new", "orders.before", "orders.copied", "orders.tmp", "users", "__consumer_offsets", "heartbeats")
    found = judged(tmp_path, lines, control("orders.before"), *there, known=("orders.copied",))
    assert found == {"orders.new": "orders.new"}


def test_with_prefixes_the_name_says_whose_it_is(tmp_path: Path) -> None:
    there = ("A.orders", "orders", "A.heartbeats", "C.orders", "B.orders", "A.B.orders", "mm2-offset-syncs.A.internal")
    found = judged(tmp_path, f"clusters = A, B, C\n{POLICY.format('Default')}", control(), *there)
    assert found.pop("A.orders") == "orders"
    assert found.keys() == {"orders"}, "neither copies of other clusters' topics, nor what would go round, nor our own"
    assert "B->A would copy it, with B->A.enabled = true in the file, to A as B.orders" in found["orders"]


def test_the_opposite_flow_is_named_as_the_file_has_it(tmp_path: Path) -> None:
    enabled = "B->A.enabled = true\n"
    assert "B->A copies it to A as B.orders" in judged(tmp_path, enabled, control(), "orders")["orders"]
    narrow = f"{enabled}B->A.topics = users\n"
    assert "B->A does not copy it either" in judged(tmp_path, narrow, control(), "orders")["orders"]


@pytest.mark.parametrize("state", [ControlState(), control(parts=2), control(operation="an older one")])
def test_what_was_there_is_not_on_record_so_nothing_is_called_new(tmp_path: Path, state: ControlState) -> None:
    assert judged(tmp_path, POLICY.format("Identity"), state, "orders") == {}
