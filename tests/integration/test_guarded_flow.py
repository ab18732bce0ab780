"""A flow between clusters that check rights, run by a principal with exactly the documented ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, ResourceType

from flow_files import flow_from
from integration.command import Command, Outcome
from integration.copying import Mirrored, admin
from integration.group_reading import commit, committed
from integration.guarded import PASSWORD, PRINCIPAL, SECURITY, Guarded
from integration.records import DEADLINE_S, numbered
from integration.waiting import wait_for_equal, wait_until
from mirror.airflow.topic_tasks import discover_topics
from mirror.errors import PreflightFailed
from mirror.heartbeats import emit
from mirror.kafka.acls import TopicAcl, create_acls, topic_acls
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.rights import about
from mirror.kafka.values import TopicPartition
from mirror.operations.preflight.checks import Check
from mirror.operations.preflight.run import check_rights
from world.kafka import KafkaCluster, running

GROUPS = "sync.group.offsets.enabled = true"


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[KafkaCluster, KafkaCluster]]:
    directory = tmp_path_factory.mktemp("guarded")
    source, target = (KafkaCluster(name, directory, security=SECURITY) for name in ("source", "target"))
    with running(source, target):
        yield source, target


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory, clusters: tuple[KafkaCluster, KafkaCluster]) -> Guarded:
    """A flow whose source has something of everything, and whose principal has exactly what the table says."""
    made = Guarded(tmp_path_factory.mktemp("flow"), *clusters, f"groups = SOURCE.*\n{GROUPS}")
    prepare(made)
    made.grant(made.rights)
    return made


def prepare(flow: Guarded) -> None:
    """Records, a reader's ACL, a group and a heartbeat, all by somebody with every right."""
    topic = flow.topic("orders", 2, retention_ms="86400000")
    flow.write(topic, numbered(20, partitions=2))
    with GroupCluster("here", {"bootstrap.servers": flow.upstream.bootstrap_servers}) as source:
        offsets = {TopicPartition(topic, 0): Committed(4), TopicPartition(topic, 1): Committed(9)}
        commit(source, group_of(flow), offsets)
    reader = TopicAcl(
        topic=topic, pattern="LITERAL", principal="User:reader", host="*", operation="READ", permission="ALLOW"
    )
    writer = replace(reader, principal="User:writer", operation="WRITE")
    assert create_acls(flow.source, [reader, writer]) == {reader: None, writer: None}
    servers = (flow.upstream.bootstrap_servers, flow.downstream.bootstrap_servers)
    directory = flow.config.parent / "reverse"
    directory.mkdir()
    clusters = dict(zip(flow.aliases, servers, strict=True))
    emit(flow_from(directory, clusters=clusters, flow="->".join(reversed(flow.aliases))))


def topic_of(flow: Guarded) -> str:
    return f"{flow.prefix}-orders"


def group_of(flow: Guarded) -> str:
    return f"{flow.aliases[0]}-billing"


def passes(told: Outcome) -> bool:
    return told.code == 0 and all(check["status"] in ("ok", "warning") for check in told.document["checks"])


def run(airmirror: Command, name: str) -> dict[str, Any]:
    told = airmirror(name, "--json")
    assert told.code == 0, told.err
    assert PASSWORD not in told.out + told.err
    return told.document


def everything(flow: Mirrored) -> dict[str, Any]:
    """All that can be written on either cluster, but for the brokers' own topics."""
    found: dict[str, Any] = {}
    for side in (flow.source, flow.target):
        described = {name: t.partition_count for name, t in side.topics().items() if not name.startswith("__")}
        partitions = [TopicPartition(name, n) for name, count in described.items() for n in range(count)]
        found[side.alias] = (described, side.high_watermarks(partitions), topic_acls(side))
    return found


def topics_on(flow: Mirrored) -> set[tuple[str, str]]:
    return {(side.alias, name) for side in (flow.source, flow.target) for name in side.topic_names()}


def test_applying_a_plan_changes_exactly_that_and_with_the_documented_rights(flow: Guarded, airmirror: Command) -> None:
    topic = topic_of(flow)
    wait_until(lambda: airmirror("preflight", "--json"), passes)
    before, present = everything(flow), topics_on(flow)
    plan = run(airmirror, "plan")
    assert everything(flow) == before  # not even an internal topic was made
    assert plan["groups"]["not_done"] == ["nothing is copied yet: groups can be translated after the first copy"]

    acls_before = topic_acls(flow.target) or frozenset()
    run(airmirror, "topics")
    copied, beats = run(airmirror, "copy"), run(airmirror, "heartbeats")["flows"][0]
    planned = {(creation["cluster"], creation["topic"]["name"]) for creation in plan["topics"]["create"]}
    checkpoints = (flow.aliases[1], f"{flow.aliases[0]}.checkpoints.internal")
    assert topics_on(flow) - present == planned - {checkpoints}  # groups were not crossed over yet
    granted = {TopicAcl(**acl) for acl in plan["acls"]["grant"]}
    wait_for_equal(lambda: (topic_acls(flow.target) or frozenset()) - acls_before, frozenset(granted))
    assert ways(copied) == ways(plan["records"]) == {(topic, 0): (0, 10), (topic, 1): (0, 10)}
    assert beats["copied"] == plan["heartbeats"]["copy"]["offsets"] >= 1
    flow.assert_equal(topic)

    grow_and_alter(flow, topic)
    flow.write(topic, numbered(6, start=20, partitions=3))
    before = everything(flow)
    plan = run(airmirror, "plan")
    assert everything(flow) == before
    assert [g["topic"] for g in plan["topics"]["grow"]] == [flow.remote(topic)]
    assert [(c["name"], c["value"]) for c in plan["settings"]["change"]] == [("retention.ms", "43200000")]
    expect_groups_as_planned(flow, airmirror, plan)
    changed = run(airmirror, "topics")
    assert changed["grown"] == plan["topics"]["grow"]
    assert changed["settings"]["changed"] == plan["settings"]["change"]
    assert ways(run(airmirror, "copy")) == ways(plan["records"])
    flow.assert_equal(topic)

    again = run(airmirror, "plan")
    assert (again["changes"], again["records"]["partitions"], again["groups"]["checkpoints"]) == (0, [], [])
    assert "nothing to do but a heartbeat" in airmirror("plan").out
    (turned_away,) = [c for c in run(airmirror, "preflight")["checks"] if c["subject"].startswith("applications")]
    assert turned_away["status"] == "warning"
    assert f"ALLOW WRITE on topic {flow.remote(topic)} to User:writer" in turned_away["reason"]
    assert "User:reader" not in turned_away["reason"]  # the ACL sync brought that


def ways(document: dict[str, Any]) -> dict[tuple[str, int], tuple[int, int]]:
    """From where to where, by partition, in a plan or in what a copy told."""
    return {(p["topic"], p["partition"]): (p["from"], p["to"]) for p in document["partitions"]}


def expect_groups_as_planned(flow: Guarded, airmirror: Command, plan: dict[str, Any]) -> None:
    group = group_of(flow)
    planned = {(c["group"], c["remote_topic"], c["partition"]): c for c in plan["groups"]["checkpoints"]}
    assert len(planned) == 2
    told = run(airmirror, "groups")
    assert told["checkpoints"]["checkpoints_written"] == 2
    (moved,) = plan["groups"]["offsets"]
    assert told["offsets"]["groups"] == [moved]
    with GroupCluster("there", {"bootstrap.servers": flow.downstream.bootstrap_servers}) as target:
        offsets = committed(target, group)
    assert {(group, p.topic, p.partition): c.offset for p, c in offsets.items()} == {
        place: checkpoint["downstream_offset"] for place, checkpoint in planned.items()
    }


def grow_and_alter(flow: Guarded, topic: str) -> None:
    client = admin(flow.upstream)
    client.create_partitions([NewPartitions(topic, 3)])[topic].result(DEADLINE_S)
    entry = ConfigEntry("retention.ms", "43200000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    client.incremental_alter_configs([resource])[resource].result(DEADLINE_S)
    wait_for_equal(lambda: flow.source.describe([topic])[topic].partition_count, 3)
    wait_for_equal(lambda: flow.source.configs([topic])[topic]["retention.ms"].value, "43200000")


def test_each_right_taken_away_is_the_one_that_preflight_names(flow: Guarded, airmirror: Command) -> None:
    wait_until(lambda: airmirror("preflight", "--json"), passes)
    for name in ("topics", "copy", "heartbeats", "groups"):
        run(airmirror, name)
    source, target = (
        GroupCluster(alias, settings)
        for alias, settings in zip(flow.aliases, (flow.links.source_admin, flow.links.target_admin), strict=True)
    )

    def missing() -> list[str]:
        told = {side.alias: about(side) for side in (source, target)}
        checks = check_rights(flow.flow, source, target, told)
        return [f"{check.subject}: {command_of(check)}" for check in checks if check.status != "ok"]

    wait_for_equal(missing, [])
    for right in flow.rights:
        alias, servers = (flow.aliases[0], flow.links.source_admin) if right.side == "source" else (
            flow.aliases[1], flow.links.target_admin
        )  # fmt: skip
        flow.revoke(right)
        command = right.command(PRINCIPAL, str(servers["bootstrap.servers"]))
        expected = [f"{alias}: {right}: {command}"]
        wait_until(missing, lambda seen, expected=expected: seen == expected)
        flow.grant([right])
    wait_for_equal(missing, [])
    assert len(flow.rights) > 20


def command_of(check: Check) -> str:
    return check.next_step.partition(";")[0]


def test_without_any_right_on_groups_a_copy_still_runs(
    tmp_path: Path,
    clusters: tuple[KafkaCluster, KafkaCluster],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The client asks for a group's coordinator although none is used; that refusal must not stop it."""
    flow = Guarded(tmp_path, *clusters, "emit.checkpoints.enabled = false")
    airmirror = Command(flow, capsys, monkeypatch)
    topic = flow.topic("orders")
    flow.write(topic, numbered(5))
    flow.grant(flow.rights)
    other = tmp_path / "with-groups"
    other.mkdir()
    on_groups = [right for right in Guarded(other, *clusters, GROUPS).rights if right.resource.kind == "group"]
    assert len(on_groups) == 2
    for right in on_groups:
        flow.grant([right])  # by another test perhaps, perhaps not
        flow.revoke(right)
    wait_until(lambda: airmirror("preflight", "--json"), passes)
    for name in ("topics", "copy"):
        assert airmirror(name).code == 0
    flow.assert_equal(topic)


def test_the_discover_task_names_the_missing_right_before_it_begins(
    tmp_path: Path, clusters: tuple[KafkaCluster, KafkaCluster]
) -> None:
    flow = Guarded(tmp_path, *clusters)
    topic = flow.topic("orders")
    rights = flow.rights
    lacking = next(right for right in rights if (right.side, right.operation) == ("target", "CREATE"))
    flow.grant(right for right in rights if right != lacking)
    link = flow.links.target_admin

    def failure() -> str:
        with pytest.raises(PreflightFailed) as raised:
            discover_topics(flow.flow, {})
        return str(raised.value)

    told = wait_until(failure, lambda text: "READ" not in text)
    assert lacking.command(PRINCIPAL, str(link["bootstrap.servers"])) in told
    assert "airmirror preflight" in told
    assert flow.remote(topic) in told
