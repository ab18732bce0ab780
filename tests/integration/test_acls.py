"""ACLs between real clusters with authorizers: copied as MM2 does, taken back only where the file says so."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

import documented
from integration.copying import Mirrored
from integration.waiting import wait_for_equal
from mirror.cli import topics as command
from mirror.cli.main import main
from mirror.errors import NotAuthorized
from mirror.kafka.acls import TopicAcl, create_acls, delete_acls, topic_acls
from mirror.kafka.cluster import Cluster
from mirror.operations.failover_plan import FailoverRequest, plan_failover
from mirror.topics import AclSummary, apply_acls, compare_acls
from mirror.topics.forwarding import clusters_of
from world.kafka import KafkaCluster

PRUNE = "airmirror.acls.prune = true"


@pytest.fixture
def mirrored(tmp_path: Path, guarded: tuple[KafkaCluster, KafkaCluster]) -> Mirrored:
    return Mirrored(tmp_path, *guarded)


def acl(topic: str, principal: str, operation: str = "READ", permission: str = "ALLOW") -> TopicAcl:
    return TopicAcl(
        topic=topic,
        pattern="LITERAL",
        principal=f"User:{principal}",
        host="*",
        operation=operation,
        permission=permission,
    )


def of_flow(cluster: Cluster, mirrored: Mirrored) -> frozenset[TopicAcl]:
    """The bindings on names of this test alone."""
    return frozenset(found for found in topic_acls(cluster) or () if mirrored.prefix in found.topic)


def grant(cluster: Cluster, mirrored: Mirrored, *acls: TopicAcl) -> None:
    before = of_flow(cluster, mirrored)
    assert set(create_acls(cluster, acls).values()) == {None}
    wait_for_equal(lambda: of_flow(cluster, mirrored), before | frozenset(acls))


def revoke(cluster: Cluster, mirrored: Mirrored, *acls: TopicAcl) -> None:
    before = of_flow(cluster, mirrored)
    assert set(delete_acls(cluster, acls).values()) == {None}
    wait_for_equal(lambda: of_flow(cluster, mirrored), before - frozenset(acls))


def sync(mirrored: Mirrored) -> AclSummary:
    summary = apply_acls(compare_acls(mirrored.flow, mirrored.source, mirrored.target), mirrored.target)
    assert summary.failure() is None
    return summary


def expect(mirrored: Mirrored, acls: Iterable[TopicAcl]) -> None:
    wait_for_equal(lambda: of_flow(mirrored.target, mirrored), frozenset(acls))


def test_rights_go_with_the_topic_without_those_of_writers(mirrored: Mirrored) -> None:
    topic = mirrored.topic("orders")
    remote, absent = mirrored.remote(topic), f"{mirrored.prefix}-not-made-yet"
    upstream = (
        acl(topic, "reader"),
        replace(acl(topic, "from-here", "DESCRIBE"), host="10.0.0.1"),
        acl(topic, "owner", "ALL"),
        acl(topic, "writer", "WRITE"),
        acl(topic, "banned", "WRITE", "DENY"),
        acl(topic, "banned", "ALL", "DENY"),
        acl(absent, "reader"),
        replace(acl(mirrored.prefix, "many"), pattern="PREFIXED"),
    )
    grant(mirrored.source, mirrored, *upstream)
    summary = sync(mirrored)
    copied = {
        acl(remote, "reader"),
        replace(acl(remote, "from-here", "DESCRIBE"), host="10.0.0.1"),
        acl(remote, "owner", "READ"),
        acl(remote, "banned", "WRITE", "DENY"),
        acl(remote, "banned", "ALL", "DENY"),
        acl(mirrored.remote(absent), "reader"),
    }
    assert set(summary.granted) == copied
    assert any("PREFIXED" in notice for notice in summary.notices)
    expect(mirrored, copied)
    assert sync(mirrored).granted == ()


def test_a_right_that_ends_at_the_source_stays_until_the_file_says_to_prune(mirrored: Mirrored) -> None:
    topic = mirrored.topic("orders")
    remote = mirrored.remote(topic)
    former, present = acl(topic, "former"), acl(topic, "present")
    grant(mirrored.source, mirrored, former, present)
    sync(mirrored)
    expect(mirrored, {acl(remote, "former"), acl(remote, "present")})
    own = {
        acl(remote, "airmirror", "WRITE"),
        acl(remote, "intruder", "READ", "DENY"),
        acl(f"{mirrored.prefix}-the-targets-own", "somebody"),
        replace(acl(remote, "many"), pattern="PREFIXED"),
    }
    grant(mirrored.target, mirrored, *own)
    revoke(mirrored.source, mirrored, former)
    unpruned = sync(mirrored)
    assert unpruned.revoked == ()
    assert any("airmirror.acls.prune" in notice for notice in unpruned.notices)
    expect(mirrored, own | {acl(remote, "former"), acl(remote, "present")})

    mirrored.configure(PRUNE)
    plan = compare_acls(mirrored.flow, mirrored.source, mirrored.target)
    assert plan.revocations == (acl(remote, "former"),)
    expect(mirrored, own | {acl(remote, "former"), acl(remote, "present")})
    assert sync(mirrored).revoked == (acl(remote, "former"),)
    expect(mirrored, own | {acl(remote, "present")})
    assert sync(mirrored).revoked == ()


def test_a_source_without_an_authorizer_has_nothing_to_copy(
    tmp_path: Path, east: KafkaCluster, guarded: tuple[KafkaCluster, KafkaCluster]
) -> None:
    mirrored = Mirrored(tmp_path, east, guarded[1], PRUNE)
    remote = mirrored.remote(mirrored.topic("orders"))
    grant(mirrored.target, mirrored, acl(remote, "reader"))
    summary = sync(mirrored)
    assert (summary.granted, summary.revoked) == ((), ())
    (notice,) = summary.notices
    assert notice.startswith(f"cluster {mirrored.aliases[0]} has no authorizer")
    expect(mirrored, {acl(remote, "reader")})


def test_a_target_without_an_authorizer_is_told_and_is_no_failure(
    tmp_path: Path, west: KafkaCluster, guarded: tuple[KafkaCluster, KafkaCluster]
) -> None:
    mirrored = Mirrored(tmp_path, guarded[0], west)
    grant(mirrored.source, mirrored, acl(mirrored.topic("orders"), "reader"))
    (notice,) = sync(mirrored).notices
    assert notice.startswith(f"cluster {mirrored.aliases[1]} has no authorizer")


def run_command(mirrored: Mirrored, *given: str, lines: str = "") -> int:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["topics", mirrored.flow.id, *given])
    mirrored.configure(lines)
    args.config = mirrored.config
    code: int = args.run(args)
    return code


def test_the_command_shows_then_grants_and_removes(mirrored: Mirrored, capsys: pytest.CaptureFixture[str]) -> None:
    topic = mirrored.topic("orders")
    remote = mirrored.remote(topic)
    # What is granted on a topic that the flow does not copy keeps the source's list from being empty.
    grant(mirrored.source, mirrored, acl(topic, "reader"), acl(f"not-{mirrored.prefix}", "reader"))
    assert run_command(mirrored, "--dry-run") == 0
    shown = capsys.readouterr().out
    assert f"ALLOW READ on {remote} to User:reader" in shown
    assert of_flow(mirrored.target, mirrored) == frozenset()
    assert run_command(mirrored, lines="sync.topic.acls.enabled = false") == 0
    assert "ACLs are off by sync.topic.acls.enabled = false" in capsys.readouterr().out
    assert of_flow(mirrored.target, mirrored) == frozenset()
    assert run_command(mirrored) == 0
    assert "granted 1 ACL and removed 0" in capsys.readouterr().out
    expect(mirrored, {acl(remote, "reader")})

    revoke(mirrored.source, mirrored, acl(topic, "reader"))
    assert run_command(mirrored, "--dry-run", "--json", lines=PRUNE) == 0
    (removed,) = json.loads(capsys.readouterr().out)["acls"]["revoke"]
    assert (removed["topic"], removed["principal"]) == (remote, "User:reader")
    expect(mirrored, {acl(remote, "reader")})
    assert run_command(mirrored, lines=PRUNE) == 0
    expect(mirrored, ())


def test_a_principal_that_may_not_read_acls_is_told_and_the_rest_is_done(
    mirrored: Mirrored, capsys: pytest.CaptureFixture[str]
) -> None:
    """Topics are made with full rights; the ACLs are asked for by a principal without any."""
    login = (
        "SOURCE.bootstrap.servers = "
        + mirrored.upstream.bootstrap("SASL_PLAINTEXT")
        + "\nSOURCE.security.protocol = SASL_PLAINTEXT\nSOURCE.sasl.mechanism = PLAIN\nSOURCE.sasl.jaas.config = "
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="nobody" password="nobody-secret";'
    )
    topic = mirrored.topic("orders")
    for operation in ("DESCRIBE", "DESCRIBE_CONFIGS"):
        grant(mirrored.source, mirrored, acl(topic, "nobody", operation))
    grant(mirrored.target, mirrored, acl(mirrored.remote(topic), "reader"))
    with pytest.raises(NotAuthorized, match="list ACLs of topics"):
        run_command(mirrored, lines=f"{login}\n{PRUNE}")
    expect(mirrored, {acl(mirrored.remote(topic), "reader")})
    assert "ACLs could not be compared" in capsys.readouterr().out
    assert mirrored.remote(topic) in mirrored.target.describe([mirrored.remote(topic)])


def test_the_task_says_what_it_granted_and_is_skipped_where_the_file_switches_it_off(mirrored: Mirrored) -> None:
    from airflow.sdk.exceptions import AirflowSkipException

    from mirror.airflow.upkeep_tasks import sync_acls

    topic = mirrored.topic("orders")
    grant(mirrored.source, mirrored, acl(topic, "reader"))
    with pytest.raises(AirflowSkipException, match=r"sync\.topic\.acls\.enabled = false"):
        sync_acls(mirrored.configure("sync.topic.acls.enabled = false"))
    summary = sync_acls(mirrored.configure(""))
    assert (summary["granted_count"], summary["revoked_count"]) == (1, 0)
    expect(mirrored, {acl(mirrored.remote(topic), "reader")})


def test_a_failovers_plan_names_whom_the_target_would_refuse_without_asking_the_source(
    mirrored: Mirrored,
) -> None:
    topic = mirrored.topic("orders")
    mirrored.mirror()
    writer, reader = acl(topic, "shop", "WRITE"), acl(topic, "billing")
    create_acls(mirrored.source, [writer, reader])
    group = f"{mirrored.prefix}-billing"
    binding = AclBinding(
        ResourceType.GROUP,
        group,
        ResourcePatternType.LITERAL,
        "User:billing",
        "*",
        AclOperation.READ,
        AclPermissionType.ALLOW,
    )
    for future in mirrored.source._client.create_acls([binding]).values():
        future.result(30)
    wait_for_equal(lambda: len(of_flow(mirrored.source, mirrored)), 2)
    assert main(["--config", str(mirrored.config), "topics", mirrored.flow.id]) == 0
    plan = plan_failover(mirrored.flow, FailoverRequest(planned=False))
    # Other tests' wildcards reach this topic too.
    ours = [r for r in plan.rights if r["principal"] in ("User:billing", "User:shop")]
    ours = [r for r in ours if mirrored.prefix in str(r["name"])]
    assert [(r["principal"], r["operation"], r["resource"], r["name"]) for r in ours] == [
        ("User:billing", "READ", "group", group),
        ("User:shop", "WRITE", "topic", mirrored.remote(topic)),
    ]
    assert f"--operation Write --topic '{mirrored.remote(topic)}'" in ours[1]["command"]


def test_rights_are_given_by_the_admin_that_the_file_names(
    tmp_path: Path, guarded: tuple[KafkaCluster, KafkaCluster]
) -> None:
    mirrored = Mirrored(tmp_path, *guarded, documented.chosen_classes(tmp_path, "forwarding.admin"))
    topic = mirrored.topic("orders")
    grant(mirrored.source, mirrored, acl(topic, "reader"))
    with clusters_of(mirrored.flow, "acls") as (source, target):
        apply_acls(compare_acls(mirrored.flow, source, target), target)
    wanted = acl(mirrored.remote(topic), "reader")
    wait_for_equal(lambda: of_flow(mirrored.target, mirrored), frozenset({wanted}))
    assert json.loads((tmp_path / "changes.jsonl").read_text()) == {
        "cluster": mirrored.aliases[1],
        "grant": [str(wanted)],
    }
