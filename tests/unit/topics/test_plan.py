"""What a plan holds, from what was read: no cluster is needed to decide."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.errors import TopicRefused
from mirror.kafka.values import ConfigEntry, NewTopic, TopicDescription
from mirror.selection import Selector
from mirror.topics import ClusterView, Creation, Growth, TopicPlan, plan_topics
from mirror.topics.internal import check_internal

SYNCS, CONTROL = "mm2-offset-syncs-airmirror.A.internal", "mm2-airmirror.A.internal"
OWN = {SYNCS: 1, CONTROL: 1}


def view(
    alias: str,
    topics: Mapping[str, int],
    *,
    settings: Mapping[str, Mapping[str, str]] | None = None,
    gone: tuple[str, ...] = (),
    broker_count: int = 3,
) -> ClusterView:
    """A cluster with these topics (name to partition count) and settings made on topics."""
    return ClusterView(
        alias=alias,
        topics={
            name: TopicDescription(name=name, id=f"id-{name}", partition_count=count) for name, count in topics.items()
        },
        configs={name: _entries((settings or {}).get(name, {})) for name in topics if name not in gone},
        broker_count=broker_count,
        max_message_bytes=1_048_588,
    )


def _entries(settings: Mapping[str, str]) -> dict[str, ConfigEntry]:
    return {
        name: ConfigEntry(name=name, value=value, source="DYNAMIC_TOPIC_CONFIG", is_read_only=False, is_sensitive=False)
        for name, value in settings.items()
    }


def plan_of(tmp_path: Path, source: ClusterView, target: ClusterView, lines: str = "") -> TopicPlan:
    return plan_topics(source, target, Selector(flow_from(tmp_path, lines)))


def created(plan: TopicPlan) -> dict[str, NewTopic]:
    return {creation.topic.name: creation.topic for creation in plan.creations}


def test_a_missing_topic_is_created_with_the_sources_partitions_and_settings(tmp_path: Path) -> None:
    source = view("A", {"orders": 7}, settings={"orders": {"retention.ms": "1000"}})
    plan = plan_of(tmp_path, source, view("B", OWN))
    topic = NewTopic(name="A.orders", partition_count=7, replication_factor=2, configs={"retention.ms": "1000"})
    assert plan.creations == (Creation(cluster="B", topic=topic, upstream_topic="orders"),)
    assert (plan.topic_count, plan.selected_count, plan.notices) == (1, 1, ())


@pytest.mark.parametrize(
    ("source_count", "target_count", "grown", "notice_count"), [(3, 3, False, 0), (5, 3, True, 0), (3, 5, False, 1)]
)
def test_only_a_topic_with_fewer_partitions_is_grown(
    tmp_path: Path, source_count: int, target_count: int, grown: bool, notice_count: int
) -> None:
    plan = plan_of(tmp_path, view("A", {"t": source_count}), view("B", {**OWN, "A.t": target_count}))
    growth = Growth(topic="A.t", upstream_topic="t", partition_count_now=target_count, partition_count=source_count)
    assert plan.growths == ((growth,) if grown else ())
    assert plan.creations == ()
    assert len(plan.notices) == notice_count


def test_an_existing_copy_that_takes_smaller_records_is_told_with_the_command(tmp_path: Path) -> None:
    source = view("A", {"t": 1}, settings={"t": {"max.message.bytes": "9000000"}})
    for lines in ("sync.topic.configs.enabled = false", "config.properties.exclude = max.message.bytes"):
        plan = plan_of(tmp_path, source, view("B", {**OWN, "A.t": 1}), lines)
        assert plan.is_empty
        assert "--entity-name A.t --add-config max.message.bytes=9000000" in plan.notices[0]
    # Where settings are kept equal, their sync makes the room.
    assert not plan_of(tmp_path, source, view("B", {**OWN, "A.t": 1})).notices


def test_a_topic_deleted_while_it_was_looked_at_is_left_out(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, view("A", {"t": 1, "gone": 1}, gone=("gone",)), view("B", OWN))
    assert list(created(plan)) == ["A.t"]


def test_our_own_topics_are_compacted_of_one_partition_and_stamped_by_the_broker(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, view("A", {}), view("B", {}))
    topics = created(plan)
    assert list(topics) == [SYNCS, CONTROL]
    for topic in topics.values():
        assert (topic.partition_count, topic.replication_factor) == (1, 3)
        assert topic.configs["cleanup.policy"] == "compact"
    assert topics[CONTROL].configs["message.timestamp.type"] == "LogAppendTime"
    assert "message.timestamp.type" not in topics[SYNCS].configs


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", None),
        ("offset-syncs.topic.location = source", ("A", "mm2-offset-syncs.B.internal")),
        ("offset-syncs.topic.location = target", ("B", "mm2-offset-syncs.A.internal")),
        ("offset-syncs.topic.location = target\nreplication.policy.separator = _",
         ("B", "mm2-offset-syncs_A_internal")),
    ],
)  # fmt: skip
def test_mm2s_syncs_topic_is_made_only_where_the_file_says_where(
    tmp_path: Path, lines: str, expected: tuple[str, str] | None
) -> None:
    plan = plan_of(tmp_path, view("A", {}), view("B", OWN), lines)
    assert [(c.cluster, c.topic.name) for c in plan.creations] == ([expected] if expected else [])
    assert all(c.topic.configs == {"cleanup.policy": "compact"} for c in plan.creations)


@pytest.mark.parametrize(
    ("lines", "broker_count", "own", "data", "notice_count"),
    [
        ("", 1, 1, 1, 2),
        ("", 2, 2, 2, 1),
        ("", 3, 3, 2, 0),
        ("replication.factor = 3", 1, 1, 3, 1),
        ("replication.factor = -1", 1, 1, -1, 1),
        ("offset-syncs.topic.replication.factor = 3\nreplication.factor = 2", 1, 3, 2, 0),
    ],
)
def test_a_default_replication_factor_bends_to_a_small_cluster_and_a_set_one_does_not(
    tmp_path: Path, lines: str, broker_count: int, own: int, data: int, notice_count: int
) -> None:
    plan = plan_of(tmp_path, view("A", {"t": 1}), view("B", {}, broker_count=broker_count), lines)
    factors = {name: topic.replication_factor for name, topic in created(plan).items()}
    assert factors == {SYNCS: own, CONTROL: own, "A.t": data}
    assert len(plan.notices) == notice_count


def test_a_plan_that_creates_nothing_has_nothing_to_say_about_replicas(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, view("A", {"t": 1}), view("B", {**OWN, "A.t": 1}, broker_count=1))
    assert plan.is_empty
    assert plan.notices == ()


def test_a_plan_survives_json_and_leaves_the_long_list_of_decisions_behind(tmp_path: Path) -> None:
    source = view("A", {"new": 2, "grown": 4, "B.cycle": 1, "x" * 249: 1}, settings={"new": {"retention.ms": "1"}})
    plan = plan_of(tmp_path, source, view("B", {"A.grown": 1}, broker_count=1))
    document = json.loads(json.dumps(plan.to_json()))
    read = TopicPlan.from_json(document)
    assert (read.creations, read.growths, read.refused, read.notices) == (
        plan.creations, plan.growths, plan.refused, plan.notices,
    )  # fmt: skip
    assert read.to_json() == plan.to_json()
    assert [decision.topic for decision in read.decisions] == ["x" * 249]
    assert (read.topic_count, read.selected_count) == (4, 2)


@pytest.mark.parametrize(
    ("topics", "settings", "word"),
    [
        ({SYNCS: 1}, {SYNCS: {"cleanup.policy": "delete"}}, "cleanup.policy=delete"),
        ({CONTROL: 1}, {CONTROL: {"cleanup.policy": "compact,delete"}}, "cleanup.policy=compact,delete"),
        ({SYNCS: 2}, {SYNCS: {"cleanup.policy": "compact"}}, "2 partitions"),
    ],
)
def test_a_state_topic_that_would_lose_state_is_refused(
    tmp_path: Path, topics: dict[str, int], settings: dict[str, dict[str, str]], word: str
) -> None:
    target = view("B", topics, settings=settings)
    with pytest.raises(TopicRefused, match=word):
        check_internal(flow_from(tmp_path), target.topics, target.configs)
