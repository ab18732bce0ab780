"""One source, one file: what MM2 makes on its target and airmirror on another is equal in topics, settings and ACLs,
and in what Connect's filters leave of their records.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration import records
from integration.copying import make_topic
from integration.waiting import wait_for_equal, wait_until
from interop.mm2_flow import START_S
from mirror import naming
from mirror.cli.main import main
from mirror.config import load
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.kafka.acls import TopicAcl, create_acls, topic_acls
from mirror.kafka.cluster import Cluster
from mirror.kafka.configs import SettingChange, alter_settings
from world.kafka import KafkaCluster, running
from world.mm2 import MirrorMaker2
from world.server_properties import Security

# Small and quick, else as MM2 ships it.
FILE = """
clusters = S, T
S.bootstrap.servers = {source}
T.bootstrap.servers = {target}
S->T.enabled = true
replication.factor = 1
checkpoints.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
offset-syncs.topic.replication.factor = 1
offset.storage.replication.factor = 1
status.storage.replication.factor = 1
config.storage.replication.factor = 1
refresh.topics.interval.seconds = 1
sync.topic.configs.interval.seconds = 1
sync.topic.acls.interval.seconds = 1
S->T.transforms = noTests, noTombstones, notThese, notByTheSourcesName
S->T.transforms.noTests.type = org.apache.kafka.connect.transforms.Filter
S->T.transforms.noTests.predicate = isTest
S->T.transforms.noTombstones.type = org.apache.kafka.connect.transforms.Filter
S->T.transforms.noTombstones.predicate = isTombstone
S->T.transforms.notThese.type = org.apache.kafka.connect.transforms.Filter
S->T.transforms.notThese.predicate = isRemote
S->T.transforms.notByTheSourcesName.type = org.apache.kafka.connect.transforms.Filter
S->T.transforms.notByTheSourcesName.predicate = isSources
S->T.predicates = isTest, isTombstone, isRemote, isSources
S->T.predicates.isTest.type = org.apache.kafka.connect.transforms.predicates.HasHeaderKey
S->T.predicates.isTest.name = test
S->T.predicates.isTombstone.type = org.apache.kafka.connect.transforms.predicates.RecordIsTombstone
S->T.predicates.isRemote.type = org.apache.kafka.connect.transforms.predicates.TopicNameMatches
S->T.predicates.isRemote.pattern = S\\\\.C\\\\.o.*
S->T.predicates.isSources.type = org.apache.kafka.connect.transforms.predicates.TopicNameMatches
S->T.predicates.isSources.pattern = plain|S\\\\.pla
"""

# Topic: (partitions, explicit settings).
Topics = dict[str, tuple[int, dict[str, str | None]]]


class Side:
    """One cluster as an administrator sees it."""

    def __init__(self, cluster: KafkaCluster) -> None:
        self.kafka = cluster
        self.admin = Cluster(cluster.name, {"bootstrap.servers": cluster.bootstrap_servers})

    def topics(self, policy: naming.ReplicationPolicy) -> Topics:
        """Every topic that is no program's own."""
        described = {n: t for n, t in self.admin.topics().items() if not policy.is_internal(n) and not naming.is_own(n)}
        return {
            name: (
                described[name].partition_count,
                {e.name: e.value for e in entries.values() if e.source == "DYNAMIC_TOPIC_CONFIG"},
            )
            for name, entries in self.admin.configs(described).items()
        }

    def acls(self) -> frozenset[TopicAcl]:
        return topic_acls(self.admin) or frozenset()

    def change(self, topic: str, **settings: str | None) -> None:
        """Set settings, or delete those that are None."""
        changes = [
            SettingChange(
                name=name.replace("_", "."), operation="set" if value is not None else "delete", value=value or ""
            )
            for name, value in settings.items()
        ]
        assert alter_settings(self.admin, {topic: changes}) == {topic: None}

    def grant(self, *acls: TopicAcl) -> None:
        assert set(create_acls(self.admin, acls).values()) == {None}
        wait_until(self.acls, lambda seen: seen.issuperset(acls))


def acl(
    topic: str,
    who: str,
    operation: str = "READ",
    permission: str = "ALLOW",
    *,
    pattern: str = "LITERAL",
    host: str = "*",
) -> TopicAcl:
    return TopicAcl(
        topic=topic, pattern=pattern, principal=f"User:{who}", host=host, operation=operation, permission=permission
    )


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Side, Side, Side]]:
    """The source, the target that MM2 fills and the one that airmirror fills; all check rights."""
    security = Security(authorizer=True)
    made = [KafkaCluster(name, tmp_path, security=security) for name in ("source", "by-mm2", "by-airmirror")]
    with running(*made):
        source, by_mm2, by_us = (Side(cluster) for cluster in made)
        yield source, by_mm2, by_us


def fill(source: Side) -> None:
    """Topics of every kind that the rules speak of, with settings and rights of every kind."""
    make_topic(
        source.admin,
        "orders",
        3,
        **{
            "retention.ms": "-1",
            "cleanup.policy": "compact,delete",
            "max.message.bytes": "2000000",
            "compression.type": "lz4",
            "message.timestamp.before.max.ms": "9223372036854775807",
            "min.insync.replicas": "1",
            "message.timestamp.type": "LogAppendTime",
            "unclean.leader.election.enable": "true",
        },
    )
    make_topic(source.admin, "plain", 2)
    for name in (
        "dots.in.name",
        "user.internal",
        "my-heartbeats",
        "C.orders",
        "T.cycle",
        "x.T.y",
        "old.replica",
        "__own",
    ):
        make_topic(source.admin, name)
    source.grant(
        *(acl("orders", "reader"), acl("orders", "owner", "ALL"), acl("orders", "writer", "WRITE")),
        acl("orders", "banned", "WRITE", "DENY"),
        acl("orders", "worse", "ALL", "DENY"),
        acl("orders", "near", "DESCRIBE", host="10.0.0.1"),
        acl("orders", "tuner", "ALTER_CONFIGS"),
        *(acl("*", "star"), acl("__own", "inside"), acl("not-made-yet", "early"), acl("x.T.y", "cycle")),
        acl("ord", "many", pattern="PREFIXED"),
    )


def change(source: Side, *targets: Side) -> None:
    """A setting set and one removed, partitions added, a topic and a right added; and drift on both targets."""
    for target in targets:
        target.change("S.orders", segment_ms="7000", max_message_bytes="3000000", min_insync_replicas="1")
    source.change("orders", retention_ms=None, delete_retention_ms="60000", compression_type="zstd")
    assert source.admin.grow_topics({"plain": 5}) == {"plain": None}
    make_topic(source.admin, "late", 4, **{"cleanup.policy": "compact"})
    source.grant(acl("late", "reader"), acl("orders", "newcomer", "DESCRIBE_CONFIGS"))


def write_records(source: Side) -> list[bytes | None]:
    """Records that one filter each drops, and some that none does; gives the values that are left."""
    servers = source.kafka.bootstrap_servers
    sent = [
        records.Sent(value=None if n % 3 == 0 else b"%d" % n, key=b"k", headers=(("test", b""),) if n % 5 == 0 else ())
        for n in range(30)
    ]
    records.write(servers, "C.orders", sent)
    records.write(servers, "plain", [*sent, records.Sent(value=b"last")])
    return [*(record.value for record in sent if record.value is not None and not record.headers), b"last"]


def values(side: Side, topic: str) -> list[bytes | None]:
    return [record.value for record in records.read(side.kafka.bootstrap_servers, [topic])[topic][0]]


def test_mm2_and_airmirror_make_the_same_topics_settings_and_acls_of_one_source(
    tmp_path: Path, sides: tuple[Side, Side, Side]
) -> None:
    source, by_mm2, by_us = sides
    fill(source)
    files = {
        side.kafka.name: FILE.format(source=source.kafka.bootstrap_servers, target=side.kafka.bootstrap_servers)
        for side in (by_mm2, by_us)
    }
    path = tmp_path / "mm2.properties"
    path.write_text(files["by-airmirror"])
    policy = naming.policy_of(load(path).flow("S->T"))

    def airmirror() -> None:
        assert main(["--config", str(path), "heartbeats"]) == 0
        assert main(["--config", str(path), "topics", "S->T"]) == 0

    def both() -> tuple[tuple[Topics, frozenset[TopicAcl]], ...]:
        return tuple((side.topics(policy), side.acls()) for side in (by_mm2, by_us))

    with MirrorMaker2(files["by-mm2"], tmp_path / "mm2"):
        airmirror()
        first = wait_until(both, lambda seen: seen[0] == seen[1], START_S)[0]
        assert first[0]["S.orders"][1]["retention.ms"] == "-1"
        assert {"S.plain", "S.user.internal", "S.heartbeats", "heartbeats", "S.C.orders"} <= first[0].keys()
        assert not {"S.T.cycle", "S.x.T.y", "S.old.replica", "S.__own"} & first[0].keys()
        assert acl("S.*", "star") in first[1]
        assert len(first[1]) == 8

        change(source, by_mm2, by_us)
        airmirror()
        expected = {
            "cleanup.policy": "compact,delete",
            "max.message.bytes": "2000000",
            "compression.type": "zstd",
            "message.timestamp.before.max.ms": "9223372036854775807",
            "delete.retention.ms": "60000",
            "min.insync.replicas": "1",
        }
        wait_for_equal(lambda: by_us.topics(policy)["S.orders"][1], expected)
        second = wait_until(both, lambda seen: seen[0] == seen[1], START_S)[0]
        assert (second[0]["S.plain"][0], second[0]["S.late"]) == (5, (4, {"cleanup.policy": "compact"}))
        assert second[1] - first[1] == {acl("S.late", "reader"), acl("S.orders", "newcomer", "DESCRIBE_CONFIGS")}

        kept = write_records(source)
        result = run_copy(load(path).flow("S->T"), CopyRequest(), lambda: InProcessExecutor(1))
        assert result.dropped_count == 30 + 30 - (len(kept) - 1)
        assert values(by_us, "S.plain") == kept
        wait_for_equal(lambda: values(by_mm2, "S.plain"), kept)
        assert values(by_us, "S.C.orders") == values(by_mm2, "S.C.orders") == []
