"""Names of remote topics: MM2's rules, their mend for aliases that contain the separator, and users' own policies."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror import naming
from mirror.errors import ConfigurationRefused
from mirror.naming import DefaultPolicy, IdentityPolicy, LegacyPolicy, ReplicationPolicy


@pytest.mark.parametrize(
    ("separator", "topic", "source", "upstream"),
    [
        (".", "orders", None, None),
        (".", "A.orders", "A", "orders"),
        (".", "A.B.orders", "A", "B.orders"),
        (".", "a.", None, None),
        (".", "a..", None, None),
        (".", ".", None, None),
        (".", "", None, None),
        (".", ".b", "", "b"),
        (".", "a..b", "a", ".b"),
        (".", "a.b.", "a", "b."),
        (".", "A-orders", None, None),
        ("_", "A_orders", "A", "orders"),
        ("_", "A.orders", None, None),
        ("__", "A__x_y", "A", "x_y"),
        ("__", "A_x", None, None),
    ],
)
def test_default_policy_reads_a_name_as_java_splits_it(
    separator: str, topic: str, source: str | None, upstream: str | None
) -> None:
    policy = DefaultPolicy(separator=separator)
    assert policy.topic_source(topic) == source
    assert policy.upstream_topic(topic) == upstream


@pytest.mark.parametrize(
    ("separator", "aliases", "topic", "source", "upstream"),
    [
        (".", ("us.west", "E"), "us.west.orders", "us.west", "orders"),
        (".", ("us", "us.west"), "us.west.orders", "us.west", "orders"),
        (".", ("us", "us.west"), "us.orders", "us", "orders"),
        (".", ("us.west",), "us.west", "us", "west"),
        (".", ("us.west",), "us.west.", "us", "west."),
        (".", ("us.west",), "us.westward.x", "us", "westward.x"),
        ("-", ("my-cluster-source", "my-cluster-target"), "my-cluster-target-t", "my-cluster-target", "t"),
        ("__", ("A_", "B"), "A___t", "A_", "t"),
    ],
)
def test_an_alias_that_contains_the_separator_is_recognised_whole(
    separator: str, aliases: tuple[str, ...], topic: str, source: str, upstream: str
) -> None:
    policy = DefaultPolicy(separator=separator, aliases=aliases)
    assert policy.topic_source(topic) == source
    assert policy.upstream_topic(topic) == upstream


def test_with_plain_aliases_every_name_is_read_exactly_as_by_mm2() -> None:
    mm2, mended = DefaultPolicy(), DefaultPolicy(aliases=("A", "B", "east"))
    dice = random.Random(7)
    for _ in range(3000):
        topic = "".join(dice.choices(["A", "B", "east", ".", ".", "x", "-"], k=dice.randint(0, 6)))
        assert (mended.topic_source(topic), mended.upstream_topic(topic)) == (
            mm2.topic_source(topic),
            mm2.upstream_topic(topic),
        ), topic


def test_every_remote_name_is_read_back_to_its_source_and_name() -> None:
    dice = random.Random(8)
    aliases = ("A", "us.west", "eu_1", "my-cluster")
    for separator in (".", "_", "-", "__"):
        policy = DefaultPolicy(separator=separator, aliases=aliases)
        for alias in aliases:
            topic = "".join(dice.choices("abcXYZ", k=5))
            remote = policy.format_remote_topic(alias, topic)
            assert (policy.topic_source(remote), policy.upstream_topic(remote)) == (alias, topic)


def test_original_topic_takes_every_hop_off() -> None:
    policy = DefaultPolicy()
    assert policy.original_topic("A.B.orders") == "orders"
    assert policy.original_topic("orders") == "orders"
    assert [alias for alias, _ in policy.hops("A.B.orders")] == ["A", "B"]


@pytest.mark.parametrize(
    ("topic", "remote", "source", "upstream"),
    [
        ("orders", "orders", "A", "orders"),
        ("B.orders", "B.orders", "A", "B.orders"),
        ("heartbeats", "A.heartbeats", None, None),
        ("B.heartbeats", "A.B.heartbeats", "B", "heartbeats"),
        ("my-heartbeats", "A.my-heartbeats", None, None),
        ("heartbeats-2", "heartbeats-2", "A", "heartbeats-2"),
    ],
)
def test_identity_policy_keeps_names_but_prefixes_those_that_end_with_heartbeats(
    topic: str, remote: str, source: str | None, upstream: str | None
) -> None:
    policy = IdentityPolicy(source_alias="A")
    assert policy.format_remote_topic("A", topic) == remote
    assert policy.topic_source(topic) == source
    assert policy.upstream_topic(topic) == upstream


@pytest.mark.parametrize("topic", ["orders", "A.orders", "heartbeats", "A.heartbeats"])
def test_legacy_policy_keeps_every_name_and_knows_no_source(topic: str) -> None:
    policy = LegacyPolicy()
    assert policy.format_remote_topic("A", topic) == topic
    assert policy.topic_source(topic) is None
    assert policy.upstream_topic(topic) is None
    assert policy.original_topic(topic) == topic


@pytest.mark.parametrize(
    ("topic", "is_heartbeats"),
    [
        ("heartbeats", True),
        ("A.heartbeats", True),
        ("A.B.heartbeats", True),
        ("heartbeats!", False),
        ("!heartbeats", False),
        ("Aheartbeats", False),
        ("A-heartbeats", False),
        ("heartbeats.A", False),
    ],
)
def test_heartbeats_topics_are_those_whose_original_name_is_heartbeats(topic: str, is_heartbeats: bool) -> None:
    assert DefaultPolicy().is_heartbeats(topic) is is_heartbeats


@pytest.mark.parametrize(
    ("separator", "enabled", "topic", "is_internal"),
    [
        (".", True, "user.internal", False),
        (".", True, "user-internal", False),
        (".", True, "mm2-user-internal", False),
        (".", True, "mm2-user.internal", True),
        (".", True, "Z.checkpoints.internal", True),
        (".", True, "checkpoints.internal", False),
        (".", True, "checkpoints-internal", False),
        (".", True, "mm2-offsets.A.internal", True),
        (".", True, "__consumer_offsets", True),
        (".", True, ".hidden", True),
        ("_", True, "mm2-offset-syncs_V_internal", True),
        ("_", True, "U_checkpoints_internal", True),
        ("_", True, "mm2-offsets.A.internal", False),
        ("_", False, "mm2-offset-syncs.V.internal", True),
        ("_", False, "mm2-offset-syncs_V_internal", False),
        (".", True, naming.syncs_topic("A"), True),
        (".", True, naming.control_topic("A"), True),
        (".", True, naming.syncs_topic("us.west"), True),
    ],
)
def test_internal_topics_follow_the_rule_of_mm2_4(separator: str, enabled: bool, topic: str, is_internal: bool) -> None:
    policy = DefaultPolicy(separator=separator, internal_separator_enabled=enabled)
    assert policy.is_internal(topic) is is_internal


def test_our_own_topics_have_fixed_names_and_are_known_as_ours() -> None:
    assert naming.syncs_topic("A") == "mm2-offset-syncs-airmirror.A.internal"
    assert naming.control_topic("A") == "mm2-airmirror.A.internal"
    assert naming.is_own(naming.syncs_topic("us.west"))
    assert naming.is_own(naming.control_topic("us.west"))
    assert not naming.is_own("mm2-offset-syncs.A.internal")
    assert not naming.is_own("orders.mm2-airmirror.A.internal")


def test_internal_names_take_the_separator_only_where_it_is_enabled() -> None:
    custom = DefaultPolicy(separator="__")
    dotted = DefaultPolicy(separator="__", internal_separator_enabled=False)
    assert custom.offset_syncs_topic("B") == "mm2-offset-syncs__B__internal"
    assert dotted.offset_syncs_topic("B") == "mm2-offset-syncs.B.internal"
    assert custom.checkpoints_topic("A") == "A__checkpoints__internal"
    assert dotted.checkpoints_topic("A") == "A.checkpoints.internal"
    assert custom.heartbeats_topic() == dotted.heartbeats_topic() == "heartbeats"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("x" * 249, ""),
        ("x" * 250, "would have 250 characters, Kafka allows 249"),
        ("", "would be empty"),
        ("..", "would be `..`, which Kafka does not allow"),
        ("A:orders", "would be `A:orders`, Kafka allows only letters, digits, `.`, `_` and `-`"),
        ("A_b-c.9", ""),
    ],
)
def test_names_that_kafka_would_not_take_are_told_with_the_reason(name: str, problem: str) -> None:
    assert naming.name_problem(name) == problem


class SuffixPolicy(ReplicationPolicy):
    """A user's own policy, as one would write it: `orders@A` with a configurable mark."""

    mark = "-from-"

    def configure(self, raw: dict[str, str]) -> None:
        self.mark = raw.get("replication.policy.mark", self.mark)

    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        return f"{topic}{self.mark}{source_alias}"

    def topic_source(self, topic: str) -> str | None:
        return topic.rpartition(self.mark)[2] if self.mark in topic else None

    def upstream_topic(self, topic: str) -> str | None:
        return topic.rpartition(self.mark)[0] if self.mark in topic else None


class HalfPolicy(ReplicationPolicy):
    def format_remote_topic(self, source_alias: str, topic: str) -> str:
        return topic


class RoundPolicy(SuffixPolicy):
    """Badly written: two names are each other's upstream."""

    def topic_source(self, topic: str) -> str | None:
        return "A"

    def upstream_topic(self, topic: str) -> str | None:
        return {"x": "y", "y": "x"}.get(topic)


@pytest.fixture
def own_policies(monkeypatch: pytest.MonkeyPatch) -> str:
    """This module under a name that can be imported, as a user's module would be."""
    import sys

    monkeypatch.setitem(sys.modules, "acme_policies", sys.modules[__name__])
    return "acme_policies"


def policy_by(path: str, tmp_path: Path, lines: str = "") -> ReplicationPolicy:
    return naming.policy_of(flow_from(tmp_path, f"replication.policy.class = {path}\n{lines}"))


@pytest.mark.parametrize("dot", [".", ":"])
def test_an_own_policy_is_loaded_by_its_import_path_and_configured(own_policies: str, dot: str, tmp_path: Path) -> None:
    policy = policy_by(f"{own_policies}{dot}SuffixPolicy", tmp_path, "replication.policy.mark = @\n")
    assert policy.format_remote_topic("A", "t") == "t@A"
    assert policy.is_heartbeats("heartbeats@A@B")
    assert policy.original_topic("t@A@B") == "t"
    assert policy.checkpoints_topic("A") == "A.checkpoints.internal"


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("acme_policies.HalfPolicy", "lacks topic_source, upstream_topic"),
        ("collections.OrderedDict", "lacks format_remote_topic"),
    ],
)
def test_a_policy_that_lacks_functions_is_refused_with_the_way_out(
    own_policies: str, path: str, word: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationRefused, match=word) as refused:
        policy_by(path, tmp_path)
    assert "mirror.naming.ReplicationPolicy" in refused.value.next_step


def test_an_own_policy_whose_names_go_in_a_circle_does_not_hang() -> None:
    policy = RoundPolicy()
    assert policy.original_topic("x") == "y"
    assert len(list(policy.hops("x"))) == 2
