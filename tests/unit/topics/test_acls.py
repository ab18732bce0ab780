"""Which rights go with a topic to its copy, and which may be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.kafka.acls import TopicAcl
from mirror.selection import Selector
from mirror.topics.acls import AclPlan, plan_acls

IDENTITY = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
PRUNE = "airmirror.acls.prune = true\n"


def acl(
    topic: str,
    principal: str = "reader",
    operation: str = "READ",
    permission: str = "ALLOW",
    *,
    pattern: str = "LITERAL",
    host: str = "*",
) -> TopicAcl:
    return TopicAcl(
        topic=topic,
        pattern=pattern,
        principal=f"User:{principal}",
        host=host,
        operation=operation,
        permission=permission,
    )


def plan_of(
    tmp_path: Path,
    here: list[TopicAcl],
    there: list[TopicAcl] | None = None,
    lines: str = "",
    topics: tuple[str, ...] = (),
) -> AclPlan:
    return plan_acls(Selector(flow_from(tmp_path, lines)), here, frozenset(there or ()), source_topics=topics)


# Recorded from MM2 4.3.1 (A->B, topics = .*): the source's bindings, and what stood on the target.
RECORDED = [
    acl("*", "star"),
    acl("__g", "int"),
    acl("g-", "pre", pattern="PREFIXED"),
    acl("g-lag", "late"),
    acl("g-none", "none"),
    acl("g-plain", "ac", "ALTER_CONFIGS"),
    acl("g-plain", "all", "ALL"),
    acl("g-plain", "bad", "WRITE", "DENY"),
    acl("g-plain", "desc", "DESCRIBE", host="10.0.0.1"),
    acl("g-plain", "reader"),
    acl("g-plain", "worse", "ALL", "DENY"),
    acl("g-plain", "writer", "WRITE"),
    acl("g-x.B.y", "cyc"),
    acl("user.internal", "uint"),
]
COPIED = [
    acl("A.*", "star"),
    acl("A.g-lag", "late"),
    acl("A.g-none", "none"),
    acl("A.g-plain", "ac", "ALTER_CONFIGS"),
    acl("A.g-plain", "all", "READ"),
    acl("A.g-plain", "bad", "WRITE", "DENY"),
    acl("A.g-plain", "desc", "DESCRIBE", host="10.0.0.1"),
    acl("A.g-plain", "reader"),
    acl("A.g-plain", "worse", "ALL", "DENY"),
    acl("A.user.internal", "uint"),
]


def test_mm2s_recorded_bindings_become_what_mm2_made_of_them(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, RECORDED)
    assert sorted(plan.grants) == sorted(COPIED)
    assert plan.notices == ("1 PREFIXED bindings of A are not copied, as in MM2",)


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, RECORDED, COPIED)
    assert (plan.grants, plan.stale, plan.mapped_count) == ((), (), len(COPIED))


def test_names_that_stay_the_same_keep_a_wildcard_a_wildcard(tmp_path: Path) -> None:
    assert plan_of(tmp_path, [acl("*", "star"), acl("i-a")], lines=IDENTITY).grants == (acl("*", "star"), acl("i-a"))


@pytest.mark.parametrize(
    ("lines", "topic", "is_copied"),
    [
        ("topics = orders", "orders", True),
        ("topics = orders", "others", False),
        ("topics = orders", "*", False),
        ("topics.exclude = orders", "orders", False),
        ("topics = orders", "heartbeats", True),
        ("topics = orders\nheartbeats.replication.enabled = false", "heartbeats", False),
        ("", "mm2-offsets.B.internal", False),
        ("", "B.orders", False),
        ("", "C.orders", True),
    ],
)
def test_rights_go_with_the_topics_that_are_selected(tmp_path: Path, lines: str, topic: str, is_copied: bool) -> None:
    expected = (acl(f"A.{topic}"),) if is_copied else ()
    assert plan_of(tmp_path, [acl(topic)], lines=lines).grants == expected


STALE = acl("A.orders", "former")


@pytest.mark.parametrize(
    ("there", "is_stale"),
    [
        (STALE, True),
        (acl("A.orders", "former", "DESCRIBE", host="10.0.0.1"), True),
        (acl("A.*", "former"), True),
        (acl("A.gone", "former"), True),
        # Never made by the mapping, so made by a person or a program of the target.
        (acl("A.orders", "former", "WRITE"), False),
        (acl("A.orders", "former", "ALL"), False),
        (acl("A.", "former", pattern="PREFIXED"), False),
        # A DENY that goes away opens a topic.
        (acl("A.orders", "former", "READ", "DENY"), False),
        # Not this flow's names.
        (acl("orders", "former"), False),
        (acl("*", "former"), False),
        (acl("C.orders", "former"), False),
        (acl("A.__secret", "former"), False),
        (acl("A.private", "former"), False),
        # The source still grants it.
        (acl("A.orders", "present"), False),
        (acl("A.orders", "owner", "READ"), False),
    ],
)
def test_only_what_the_mapping_could_have_made_is_taken_back(tmp_path: Path, there: TopicAcl, is_stale: bool) -> None:
    here = [acl("orders", "present"), acl("orders", "owner", "ALL")]
    lines = "topics.exclude = private\n"
    plan = plan_of(tmp_path, here, [there], lines + PRUNE, topics=("orders",))
    assert plan.revocations == ((there,) if is_stale else ())
    # Without the option nothing is removed, but what would be is known, and said.
    unpruned = plan_of(tmp_path, here, [there], lines, topics=("orders",))
    assert (unpruned.revocations, unpruned.stale) == ((), (there,) if is_stale else ())
    assert any("airmirror.acls.prune" in notice for notice in unpruned.notices) == is_stale


@pytest.mark.parametrize(
    ("there", "is_stale"),
    [
        (acl("orders", "former"), True),
        (acl("the-targets-own", "former"), False),
        (acl("*", "former"), False),
    ],
)
def test_where_names_stay_the_same_only_topics_that_the_source_has_are_touched(
    tmp_path: Path, there: TopicAcl, is_stale: bool
) -> None:
    plan = plan_of(tmp_path, [], [there], IDENTITY + PRUNE, topics=("orders",))
    assert plan.revocations == ((there,) if is_stale else ())
