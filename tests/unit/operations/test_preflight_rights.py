"""The table of rights, what it comes to for a flow, and how each right is judged by what clusters say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.config import Flow
from mirror.errors import ClusterBusy, MirrorError, NotAuthorized
from mirror.kafka.rights import Binding, Resource, Standing, is_granted
from mirror.operations.preflight.facts import PROBE, Facts, Trial, principal_of
from mirror.operations.preflight.judging import judge_right, judge_rights, to_check
from mirror.operations.preflight.page import render
from mirror.operations.preflight.rights import Right
from mirror.operations.preflight.table import TABLE, rights_of
from world import project

ALL = frozenset({"READ", "WRITE", "CREATE", "DESCRIBE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"})
US = "User:airmirror"


def told(flow: Flow) -> set[str]:
    return {f"{right.side}: {right}" for right in rights_of(flow) if right.need != "if met"}


def test_a_plain_flow_needs_no_more_than_this(tmp_path: Path) -> None:
    assert told(flow_from(tmp_path, "topics = orders, pay.*\n")) == {
        "source: READ on topic orders",
        "source: READ on topics pay*",
        "source: READ on topic heartbeats",
        "source: DESCRIBE_CONFIGS on topic orders",
        "source: DESCRIBE_CONFIGS on topics pay*",
        "source: DESCRIBE_CONFIGS on topic heartbeats",
        "source: DESCRIBE on the cluster",
        "source: DESCRIBE on every group",
        "target: CREATE on topics A.*",
        "target: ALTER on topics A.*",
        "target: ALTER_CONFIGS on topics A.*",
        "target: WRITE on topics A.*",
        "target: READ on topics A.*",
        *(
            f"target: {operation} on topic {name}"
            for operation in ("CREATE", "DESCRIBE_CONFIGS", "READ", "WRITE")
            for name in ("mm2-offset-syncs-airmirror.A.internal", "mm2-airmirror.A.internal")
        ),
        "target: READ on topic mm2-offsets.A.internal",
        "target: WRITE on transactional-ids airmirror-A->B*",
        "target: ALTER on the cluster",
        *(f"target: {operation} on topic heartbeats" for operation in ("CREATE", "WRITE", "READ")),
    }


@pytest.mark.parametrize(
    ("line", "gone", "come"),
    [
        ("sync.topic.acls.enabled = false", {"source: DESCRIBE on the cluster", "target: ALTER on the cluster"}, set()),
        ("emit.checkpoints.enabled = false", {"source: DESCRIBE on every group"}, set()),
        ("sync.group.offsets.enabled = true", set(), {"target: READ on every group"}),
        (
            "sync.topic.configs.enabled = false",
            {"target: ALTER_CONFIGS on topics A.*"},
            {"target: DESCRIBE_CONFIGS on topics A.*"},
        ),
        (
            "emit.heartbeats.enabled = false",
            {f"target: {operation} on topic heartbeats" for operation in ("CREATE", "WRITE", "READ")},
            set(),
        ),
        (
            "offset-syncs.topic.location = source",
            set(),
            {f"source: {operation} on topic mm2-offset-syncs.B.internal" for operation in ("CREATE", "WRITE")},
        ),
        (
            "airmirror.provenance.headers = true",
            set(),
            {
                "source: READ on topic mm2-offset-syncs-airmirror.B.internal",
                "source: READ on topic mm2-offsets.B.internal",
            },
        ),
        (
            "airmirror.flow.id = two",
            {"target: WRITE on transactional-ids airmirror-A->B*"},
            {"target: WRITE on transactional-ids airmirror-A->B#two*"},
        ),
    ],
)
def test_a_line_of_the_file_spares_a_right_or_asks_for_one(
    tmp_path: Path, line: str, gone: set[str], come: set[str]
) -> None:
    plain = told(flow_from(tmp_path, "topics = orders\n"))
    changed = told(flow_from(tmp_path, f"topics = orders\n{line}\n"))
    assert (plain - changed, changed - plain) == (gone, come)


def test_under_the_identity_policy_rights_are_on_the_sources_names(tmp_path: Path) -> None:
    policy = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
    flow = flow_from(tmp_path, f"topics = orders, [a-c]x\n{policy}")
    assert "target: WRITE on every topic" in told(flow)
    flow = flow_from(tmp_path, f"topics = orders\n{policy}")
    assert {"target: WRITE on topic orders", "target: WRITE on topic A.heartbeats"} <= told(flow)
    # No prefix brings these along any more.
    assert "target: WRITE on topic A.checkpoints.internal" in told(flow)


def test_a_pair_that_is_not_enabled_needs_only_its_heartbeat(tmp_path: Path) -> None:
    flow = flow_from(tmp_path, "A->B.enabled = false\nA->B.emit.heartbeats.enabled = true\n")
    assert told(flow) == {f"target: {operation} on topic heartbeats" for operation in ("CREATE", "WRITE", "READ")}


def test_every_row_says_why_and_names_its_tasks() -> None:
    known = {"discover", "create_topics", "sync_configs", "sync_acls", "copy", "emit", "checkpoints",
             "sync_group_offsets"}  # fmt: skip
    assert [row for row in TABLE if not row.why or not row.tasks or set(row.tasks) - known] == []


def test_the_page_is_up_to_date() -> None:
    page = project.root() / "docs" / "permissions.md"
    assert page.read_text() == render(), "run: python -m mirror.operations.preflight.page > docs/permissions.md"


def test_the_command_grants_just_that_right() -> None:
    assert a_right("ALTER_CONFIGS", Resource(kind="topic", name="A.", prefixed=True)).command(US, "b:9092") == (
        "kafka-acls.sh --bootstrap-server b:9092 --add --allow-principal User:airmirror "
        "--operation AlterConfigs --topic A. --resource-pattern-type prefixed"
    )
    ids = Resource(kind="transactional-id", name="airmirror-A->B", prefixed=True)
    assert ids.arguments == "--transactional-id 'airmirror-A->B' --resource-pattern-type prefixed"


def a_right(operation: str, resource: Resource, need: str = "always") -> Right:
    return Right(
        side="target",
        operation=operation,
        resource=resource,
        why="test it",
        tasks=("copy",),
        need=need,  # type: ignore[arg-type]
    )


def facts(
    topics: Mapping[str, Standing] | None = None,
    *,
    cluster: frozenset[str] = frozenset(),
    tried: Mapping[Right, Trial] | None = None,
    bindings: tuple[Binding, ...] | None = None,
    groups: Mapping[str, Standing] | None = None,
) -> Facts:
    return Facts(
        side="target",
        alias="B",
        servers="b:9092",
        principal=US,
        cluster=cluster,
        topics=topics or {},
        groups=groups or {},
        tried=tried or {},
        bindings=bindings,
        pattern_names=frozenset({*(topics or {}), *(groups or {})}),
    )


def binding(operation: str, name: str, *, prefixed: bool = False, permission: str = "ALLOW", who: str = US) -> Binding:
    resource = Resource(kind="topic", name=name, prefixed=prefixed)
    return Binding(resource=resource, principal=who, host="*", operation=operation, permission=permission)


REMOTE = Resource(kind="topic", name="A.", prefixed=True)
STATE = Resource(kind="topic", name="state")
THERE, READ_ONLY = Standing(operations=ALL), Standing(operations=frozenset({"READ", "DESCRIBE"}))
ABSENT, HIDDEN = Standing(is_there=False), Standing(is_there=False, is_hidden=True)


@pytest.mark.parametrize(
    ("right", "seen", "status"),
    [
        (a_right("WRITE", REMOTE), facts({"A.x": THERE, "A.y": THERE}), "ok"),
        (a_right("WRITE", REMOTE), facts({"A.x": THERE, "A.y": READ_ONLY}), "failed"),
        (a_right("WRITE", REMOTE), facts({"A.x": HIDDEN}), "failed"),
        (a_right("WRITE", REMOTE), facts({"A.x": ABSENT}), "unknown"),
        (a_right("WRITE", REMOTE), facts(), "unknown"),
        (a_right("WRITE", REMOTE), facts({"B.x": READ_ONLY, "A.x": THERE}), "ok"),
        (a_right("WRITE", REMOTE), facts({"A.x": ABSENT}, bindings=(binding("WRITE", "A.", prefixed=True),)), "ok"),
        (a_right("WRITE", REMOTE), facts({"A.x": ABSENT}, bindings=(binding("READ", "A.", prefixed=True),)), "failed"),
        (a_right("WRITE", REMOTE), facts({"A.x": ABSENT}, bindings=(binding("READ", "A.", who="User:x"),)), "unknown"),
        (a_right("WRITE", REMOTE), facts({"A.x": ABSENT}, cluster=frozenset({"CLUSTER_ACTION"})), "ok"),
        # To be hidden says nothing of settings, which may be readable all the same.
        (a_right("DESCRIBE_CONFIGS", STATE), facts({"state": HIDDEN}), "unknown"),
        (a_right("DESCRIBE_CONFIGS", STATE), facts({"state": HIDDEN}, bindings=(binding("ALL", "state"),)), "ok"),
        (a_right("READ", STATE, "if there"), facts({"state": ABSENT}), "ok"),
        (a_right("READ", STATE, "if there"), facts({"state": HIDDEN}), "failed"),
        (a_right("READ", STATE, "if there"), facts({"state": THERE}), "ok"),
        (a_right("CREATE", STATE, "unless made"), facts({"state": READ_ONLY}), "warning"),
        (a_right("CREATE", STATE), facts({"state": ABSENT}, cluster=frozenset({"CREATE"})), "ok"),
        (a_right("DESCRIBE", Resource(kind="cluster", name="kafka-cluster")), facts(), "failed"),
        # A topic that is there would tell one right at least: these brokers tell none.
        (a_right("DESCRIBE", Resource(kind="cluster", name="kafka-cluster")), facts({"x": Standing()}), "unknown"),
        (a_right("READ", Resource(kind="group", name="*")), facts(groups={"g": READ_ONLY}), "ok"),
        (a_right("READ", Resource(kind="group", name="*")), facts(groups={"g": HIDDEN}), "failed"),
        (a_right("READ", Resource(kind="group", name="*")), facts(groups={PROBE: HIDDEN}), "unknown"),
    ],
)  # fmt: skip
def test_a_right_is_judged_by_the_best_that_is_known(right: Right, seen: Facts, status: str) -> None:
    assert judge_right(right, seen).status == status


@pytest.mark.parametrize(
    ("error", "is_made_up", "status"),
    [
        (None, False, "ok"),
        (None, True, "ok"),
        (NotAuthorized("no"), False, "failed"),
        (NotAuthorized("no"), True, "warning"),
        (ClusterBusy("later"), False, "unknown"),
    ],
)
def test_what_was_tried_is_told_as_it_ended(error: MirrorError | None, is_made_up: bool, status: str) -> None:
    trial = Trial(names=("x",), refused={"x": error} if error else {}, is_made_up=is_made_up)
    for right in (
        a_right("WRITE", Resource(kind="transactional-id", name="airmirror-A->B", prefixed=True)),
        a_right("CREATE", REMOTE),
    ):
        assert judge_right(right, facts(tried={right: trial})).status == status


def test_checkpoints_within_the_prefix_are_made_read_and_written_and_no_more() -> None:
    standings = {"A.orders": THERE, "A.checkpoints.internal": READ_ONLY}
    seen = replace(facts(standings), checkpoints=frozenset({"A.checkpoints.internal"}))
    found = {
        operation: judge_right(a_right(operation, REMOTE), seen).status for operation in ("READ", "WRITE", "ALTER")
    }
    assert found == {"READ": "ok", "WRITE": "failed", "ALTER": "ok"}


def test_what_is_missing_comes_with_the_command_and_what_spares_it(tmp_path: Path) -> None:
    flow = flow_from(tmp_path, "topics = orders\n")
    (right,) = [r for r in rights_of(flow) if r.side == "target" and r.resource.kind == "cluster"]
    check = to_check(judge_right(right, facts()), facts())
    assert check.status == "failed"
    assert check.next_step == f"{right.command(US, 'b:9092')}; or sync.topic.acls.enabled = false"
    assert "list and make ACLs" in check.reason


def test_rights_for_a_case_that_is_not_met_are_left_out(tmp_path: Path) -> None:
    rights = rights_of(flow_from(tmp_path, "topics = orders\n"))
    met = [right for right in rights if right.need == "if met"]
    assert {str(right.resource) for right in met} == {
        "topic mm2-offset-syncs.B.internal",
        "topic mm2-offset-syncs-airmirror.B.internal",
    }
    assert judge_rights(met, facts(), facts()) == ()
    mm2_ran = replace(facts(), has_mm2=True)
    assert [str(found.right.resource) for found in judge_rights(met, facts(), mm2_ran)] == [
        "topic mm2-offset-syncs.B.internal"
    ]


@pytest.mark.parametrize(
    ("bindings", "granted"),
    [
        ([binding("READ", "orders")], True),
        ([binding("READ", "*")], True),
        ([binding("READ", "or", prefixed=True)], True),
        ([binding("ALL", "orders")], True),
        ([binding("READ", "orders", who="User:*")], True),
        ([binding("READ", "orders", who="User:other")], False),
        ([binding("WRITE", "orders")], False),
        ([binding("READ", "order")], False),
        ([binding("READ", "*"), binding("READ", "orders", permission="DENY")], False),
        ([binding("READ", "*"), binding("WRITE", "orders", permission="DENY")], True),
    ],
)
def test_acls_are_read_as_brokers_read_them(bindings: list[Binding], granted: bool) -> None:
    assert is_granted(bindings, US, "READ", Resource(kind="topic", name="orders")) is granted


def test_a_denied_name_breaks_the_grant_on_its_prefix() -> None:
    prefix = Resource(kind="topic", name="or", prefixed=True)
    assert is_granted([binding("READ", "*")], US, "READ", prefix)
    assert not is_granted([binding("READ", "*"), binding("ALL", "orders", permission="DENY")], US, "READ", prefix)
    assert is_granted([binding("WRITE", "or", prefixed=True)], US, "DESCRIBE", prefix)


def test_our_name_is_told_by_a_password_login_only() -> None:
    assert principal_of({"sasl.username": "airmirror"}) == US
    assert principal_of({"ssl.certificate.location": "us.pem"}) == ""
