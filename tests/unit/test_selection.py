"""Which topics are copied, and the reason that is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror import naming
from mirror.filters import NameFilter
from mirror.naming import DefaultPolicy, IdentityPolicy, LegacyPolicy, ReplicationPolicy
from mirror.selection import Selector, decide

MM2 = "org.apache.kafka.connect.mirror"
IDENTITY = f"replication.policy.class = {MM2}.IdentityReplicationPolicy\n"
LEGACY = f"replication.policy.class = {MM2}.LegacyReplicationPolicy\n"


@pytest.mark.parametrize(
    ("lines", "topic", "reason"),
    [
        ("", "orders", "selected: matches topics `.*`"),
        ("topics = pay.*, orders", "orders", "selected: matches topics `orders`"),
        ("topics = orders", "orders-2", "not in topics"),
        ("topics =", "orders", "not in topics"),
        ("topics.exclude = ord.*", "orders", "excluded by topics.exclude `ord.*`"),
        ("topics.exclude =", "g.replica", "selected: matches topics `.*`"),
        ("", "g.replica", r"excluded by topics.exclude `.*\.replica`"),
        ("", "__consumer_offsets", "internal topic of Kafka"),
        ("topics.exclude =", "__consumer_offsets", "internal topic of Kafka"),
        ("", "mm2-offsets.A.internal", "internal topic of MM2"),
        ("", "Z.checkpoints.internal", "internal topic of MM2"),
        ("", "user.internal", "selected: matches topics `.*`"),
        ("", "user-internal", "selected: matches topics `.*`"),
        ("", "B.orders", "cycle: `B.orders` came from B"),
        ("", "C.B.orders", "cycle: `B.orders` came from B"),
        ("", "g-x.B.y", "cycle: `B.y` came from B"),
        ("", "orders.B", "selected: matches topics `.*`"),
        ("", "A.orders", "selected: matches topics `.*`"),
        ("", "C.orders", "selected: matches topics `.*`"),
        ("topics = orders", "B.orders", "not in topics"),
        ("topics = orders", "heartbeats", "selected: heartbeats topic, whatever topics says"),
        ("topics = orders", "C.heartbeats", "selected: heartbeats topic, whatever topics says"),
        ("topics = orders", "B.heartbeats", "cycle: `B.heartbeats` came from B"),
        ("topics = orders\nheartbeats.replication.enabled = false", "heartbeats", "not in topics"),
        ("topics = orders", "my-heartbeats", "not in topics"),
        ("replication.policy.separator = _", "B_orders", "cycle: `B_orders` came from B"),
        ("replication.policy.separator = _", "B.orders", "selected: matches topics `.*`"),
        (IDENTITY, "B.orders", "selected: matches topics `.*`"),
        (IDENTITY, "B.heartbeats", "cycle: `B.heartbeats` came from B"),
        (LEGACY, "B.orders", "selected: matches topics `.*`"),
        (LEGACY, "heartbeats", "heartbeats topic, whose copy would be mixed with the target's own"),
        # Elements are one regex, as in MM2: a flag reaches over the comma, and so does a bracket.
        ("topics = (?i)pay, orders", "ORDERS", "selected: matches topics"),
        ("topics = (pay|x, orders)", "orders", "selected: matches topics"),
    ],
)
def test_each_decision_says_why(tmp_path: Path, lines: str, topic: str, reason: str) -> None:
    decision = decide(topic, flow_from(tmp_path, lines))
    assert decision.reason == reason
    assert decision.selected is reason.startswith("selected")


@pytest.mark.parametrize("separator", [".", "_"])
@pytest.mark.parametrize("topic", [naming.syncs_topic("A"), naming.control_topic("us_west")])
def test_our_own_topics_are_never_copied_whatever_the_separator(tmp_path: Path, separator: str, topic: str) -> None:
    flow = flow_from(tmp_path, f"topics.exclude =\nreplication.policy.separator = {separator}")
    assert decide(topic, flow).reason == "internal topic of airmirror"


def test_heartbeats_topics_are_marked(tmp_path: Path) -> None:
    selector = Selector(flow_from(tmp_path))
    assert selector.decide("heartbeats").is_heartbeats
    assert selector.decide("C.heartbeats").is_heartbeats
    assert not selector.decide("my-heartbeats").is_heartbeats


def test_aliases_that_contain_the_separator_neither_loop_nor_lose_their_topics(tmp_path: Path) -> None:
    clusters = {"my-east": "localhost:1", "my-west": "localhost:2"}
    lines = "replication.policy.separator = -"
    forth = Selector(flow_from(tmp_path, lines, clusters=clusters, flow="my-east->my-west"))
    back = Selector(flow_from(tmp_path, lines, clusters=clusters, flow="my-west->my-east"))
    copy = forth.decide("orders").remote_topic
    assert copy == "my-east-orders"
    assert back.decide(copy).reason == "cycle: `my-east-orders` came from my-east"
    # An ordinary topic that shares only the first segment with the alias is not taken for a copy.
    assert back.decide("my-orders").selected


def test_active_active_names_settle_after_one_hop_each_way(tmp_path: Path) -> None:
    clusters = {"us.west": "localhost:1", "us": "localhost:2", "E": "localhost:3"}
    topics = {alias: {"orders"} for alias in clusters}
    flows = [(a, b) for a in clusters for b in clusters if a != b]
    selectors = {pair: Selector(flow_from(tmp_path, clusters=clusters, flow="->".join(pair))) for pair in flows}
    for _ in range(6):
        before = {alias: set(names) for alias, names in topics.items()}
        for (source, target), selector in selectors.items():
            topics[target] |= {d.remote_topic for d in selector.decide_all(before[source]) if d.selected}
        if topics == before:
            break
    else:
        pytest.fail(f"names still grow: {topics}")
    assert "E.us.west.orders" in topics["us"]


def test_remote_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    selector = Selector(flow_from(tmp_path))
    assert selector.decide("x" * 247).selected
    decision = selector.decide("x" * 249)
    assert (decision.selected, decision.refused) == (False, True)
    assert decision.reason == "refused: remote name would have 251 characters, Kafka allows 249"


class FoldingPolicy(ReplicationPolicy):
    """Maps names that differ in case to one."""

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        return topic.lower()

    def topic_source(self, topic: str) -> str | None:
        return None

    def upstream_topic(self, topic: str) -> str | None:
        return None


def test_topics_that_would_share_a_remote_name_are_refused_and_all_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(naming, "policy_of", lambda _flow: FoldingPolicy())
    decisions = Selector(flow_from(tmp_path)).decide_all(["orders", "Orders", "pay", "ORDERS.replica"])
    assert {d.topic: d.selected for d in decisions} == {
        "orders": False, "Orders": False, "pay": True, "ORDERS.replica": False,
    }  # fmt: skip
    shared = [d for d in decisions if d.refused]
    assert [d.topic for d in shared] == ["Orders", "orders"]
    assert {d.reason for d in shared} == {"refused: `Orders`, `orders` would share the remote name `orders`"}


@pytest.mark.parametrize("package", ["", f"{MM2}.", "org.apache.kafka.mirror."])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DefaultReplicationPolicy", DefaultPolicy),
        ("IdentityReplicationPolicy", IdentityPolicy),
        ("LegacyReplicationPolicy", LegacyPolicy),
    ],
)
def test_policies_are_found_by_every_name_that_the_file_may_give_them(
    tmp_path: Path, package: str, name: str, kind: type[ReplicationPolicy]
) -> None:
    flow = flow_from(tmp_path, f"replication.policy.class = {package}{name}")
    assert type(naming.policy_of(flow)) is kind


@pytest.mark.parametrize(
    ("include", "exclude", "name", "accepted"),
    [
        (["a.c"], [], "abc", True),
        (["a.c"], [], "abcd", False),
        (["^abc$"], [], "abc", True),
        ([r"\Qa.c\E"], [], "abc", False),
        ([".*"], ["x.*"], "xy", False),
        ([], [], "xy", False),
    ],
)
def test_names_match_whole_and_exceptions_win(
    include: list[str], exclude: list[str], name: str, accepted: bool
) -> None:
    assert NameFilter(include=include, exclude=exclude, option="topics").judge(name)[0] is accepted
