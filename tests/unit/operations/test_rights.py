"""Which applications the target would refuse: the source's rights, under their names there, that nothing covers."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.kafka.acls import Right
from mirror.operations.rights import missing_rights
from mirror.selection import Selector

IDENTITY = "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"


def right(words: str, *, principal: str = "User:shop", host: str = "*") -> Right:
    """`ALLOW WRITE topic orders`, `ALLOW READ group pre*` for a prefix."""
    permission, operation, resource, name = words.split()
    is_prefix = name.endswith("*") and name != "*"
    return Right(
        resource=resource,
        name=name.rstrip("*") if is_prefix else name,
        pattern="PREFIXED" if is_prefix else "LITERAL",
        principal=principal,
        host=host,
        operation=operation,
        permission=permission,
    )


@pytest.mark.parametrize(
    ("upstream", "downstream", "missing"),
    [
        # What the ACL sync brings, and what it does not.
        (["ALLOW READ topic orders"], ["ALLOW READ topic A.orders"], []),
        (["ALLOW WRITE topic orders"], ["ALLOW READ topic A.orders"], ["WRITE topic A.orders"]),
        (["ALLOW ALL topic orders"], ["ALLOW READ topic A.orders"], ["WRITE topic A.orders"]),
        (["ALLOW READ group billing"], [], ["READ group billing"]),
        (["ALLOW READ group bill*"], ["ALLOW ALL group b*"], []),
        (["ALLOW READ group bill*"], ["ALLOW READ group billing"], ["READ group bill*"]),
        # Wider rights on the target do.
        (["ALLOW WRITE topic orders"], ["ALLOW ALL topic *"], []),
        (["ALLOW WRITE topic orders"], ["ALLOW WRITE topic A.*"], []),
        (["ALLOW WRITE topic *"], ["ALLOW WRITE topic A.orders"], ["WRITE topic A.*"]),
        # A denial wins; the source's own denials are not carried over.
        (["ALLOW WRITE topic orders"], ["ALLOW ALL topic *", "DENY WRITE topic A.*"], ["WRITE topic A.orders"]),
        (["DENY WRITE topic orders"], [], []),
        # Not copied, so nobody needs it there; nor does anybody need other operations.
        (["ALLOW WRITE topic private"], [], []),
        (["ALLOW DESCRIBE topic orders", "ALLOW DELETE group billing"], [], []),
    ],
)
def test_only_what_nothing_covers_is_missing(
    tmp_path: Path, upstream: list[str], downstream: list[str], missing: list[str]
) -> None:
    selector = Selector(flow_from(tmp_path, "topics = orders\n"))
    found = missing_rights(selector, map(right, upstream), map(right, downstream), servers="b:9092")
    names = [
        f"{m.right.operation} {m.right.resource} {m.right.name}{'*' * (m.right.pattern == 'PREFIXED')}" for m in found
    ]
    assert names == missing


def test_names_stay_where_the_policy_keeps_them_and_the_command_can_be_typed(tmp_path: Path) -> None:
    selector = Selector(flow_from(tmp_path, f"topics = orders\n{IDENTITY}"))
    upstream = [right("ALLOW WRITE topic orders", host="10.0.0.7"), right("ALLOW WRITE topic *")]
    found = missing_rights(
        selector, upstream, [right("ALLOW WRITE topic orders", principal="User:other")], servers="b:1"
    )
    assert [m.command for m in found] == [
        "kafka-acls.sh --bootstrap-server b:1 --add --allow-principal 'User:shop' --operation Write --topic '*'",
        "kafka-acls.sh --bootstrap-server b:1 --add --allow-principal 'User:shop' --allow-host 10.0.0.7 "
        "--operation Write --topic 'orders'",
    ]
    anybody = [right("ALLOW ALL topic *", principal="User:*")]
    assert missing_rights(selector, upstream, anybody, servers="b:1") == []
