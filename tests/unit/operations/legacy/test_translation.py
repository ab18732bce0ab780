"""MirrorMaker 1's files and flags become a configuration that loads, and says what has no place in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.configuration import parse
from mirror.errors import ConfigurationRefused
from mirror.naming import policy_of
from mirror.operations.legacy import LegacyFlags, Translated, read_files, translate
from mirror.operations.legacy.translation import names_regex
from mirror.selection import decide

CONSUMER = """bootstrap.servers=old-1:9092,old-2:9092
group.id=mm1
client.id=mm1-consumer
auto.offset.reset=earliest
fetch.min.bytes=1000
enable.auto.commit=false
"""
PRODUCER = "bootstrap.servers=new:9092\nacks=all\ncompression.type=lz4\nmax.in.flight.requests.per.connection=1\n"


def translated(
    directory: Path, consumer: str = CONSUMER, producer: str = PRODUCER, **flags: object
) -> tuple[Translated, Flow]:
    paths = directory / "consumer.properties", directory / "producer.properties"
    for path, text in zip(paths, (consumer, producer), strict=True):
        path.write_text(text)
    found = translate(read_files(*paths), LegacyFlags(**{"include": ".*", **flags}))  # type: ignore[arg-type]
    return found, parse(found.text().encode(), directory / "mm2.properties").flow("source->target")


def test_both_clusters_are_reached_as_the_files_say(tmp_path: Path) -> None:
    _, flow = translated(tmp_path)
    consumer, producer = flow.consumer_settings("source").plain(), flow.producer_settings("target").plain()
    assert consumer["bootstrap.servers"] == "old-1:9092,old-2:9092"
    assert consumer["fetch.min.bytes"] == 1000
    assert producer["bootstrap.servers"] == "new:9092"
    assert producer["compression.type"] == "lz4"
    assert flow.auto_offset_reset == "earliest"
    assert flow.enabled


def test_it_does_what_mirrormaker_1_did_and_nothing_more(tmp_path: Path) -> None:
    _, flow = translated(tmp_path, num_streams=3)
    assert flow[opt.TASKS_MAX] == 3
    assert policy_of(flow).format_remote_topic("source", "orders") == "orders"
    assert flow[opt.ON_FOREIGN_DATA] == "append"
    for switch in (
        opt.SYNC_TOPIC_CONFIGS_ENABLED,
        opt.SYNC_TOPIC_ACLS_ENABLED,
        opt.EMIT_CHECKPOINTS_ENABLED,
        opt.EMIT_HEARTBEATS_ENABLED,
        opt.SYNC_GROUP_OFFSETS_ENABLED,
    ):
        assert not flow[switch], switch.name


@pytest.mark.parametrize(
    ("include", "regex"),
    [
        ("orders", "orders"),
        ("orders,users", "orders|users"),
        ('"orders, users"', "orders|users"),
        ("'a.*'", "a.*"),
        (r"a\.b|c", r"a\.b|c"),
    ],
)
def test_topics_are_read_as_mirrormaker_1_read_them(tmp_path: Path, include: str, regex: str) -> None:
    assert names_regex(include) == regex
    _, flow = translated(tmp_path, include=include)
    assert flow[opt.TOPICS] == (regex,)


def test_brokers_own_topics_and_what_is_excluded_stay_at_home(tmp_path: Path) -> None:
    _, flow = translated(tmp_path, exclude="secret,hidden")
    selected = {topic: decide(topic, flow).selected for topic in ("orders", "a.replica", "secret", "hidden")}
    assert selected == {"orders": True, "a.replica": True, "secret": False, "hidden": False}
    for topic in ("__consumer_offsets", "__transaction_state", "mm2-offsets.a.internal"):
        assert not decide(topic, flow).selected


def test_a_consumer_without_a_reset_begins_at_the_end_as_javas_does(tmp_path: Path) -> None:
    found, flow = translated(tmp_path, consumer="bootstrap.servers=old:9092\ngroup.id=g\n")
    assert flow.auto_offset_reset == "latest"
    assert any("begin at their end" in warning for warning in found.warnings)


def test_options_of_mm2_in_the_files_count(tmp_path: Path) -> None:
    more = (
        "replication.policy.class=org.apache.kafka.mirror.LegacyReplicationPolicy\nrefresh.topics.enabled=false\n"
        "emit.checkpoints.enabled=false\nemit.heartbeats.enabled=false\nsync.topic.configs.enabled=true\n"
    )
    found, flow = translated(tmp_path, producer=PRODUCER + more)
    assert type(policy_of(flow)).__name__ == "LegacyPolicy"
    assert not flow[opt.REFRESH_TOPICS_ENABLED]
    assert flow[opt.SYNC_TOPIC_CONFIGS_ENABLED]
    assert found.warnings == ()


def test_passwords_stay_in_the_old_files_and_reach_the_clients(tmp_path: Path) -> None:
    login = (
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="u" '
        'password="very secret";\n'
    )
    found, flow = translated(tmp_path, consumer=CONSUMER + login)
    assert "very secret" not in found.text()
    settings = flow.consumer_settings("source").plain()
    assert settings["sasl.password"] == "very secret"
    assert "sasl.password" not in flow.producer_settings("target").plain()


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        translated(
            tmp_path,
            consumer="zookeeper.connect=zk:2181\ngroup.id=g\ntasks.max=2\n",
            producer="acks=1\ntasks.max=3\n",
            include="[",
            num_streams=0,
            message_handler="com.example.Handler",
        )
    problems = refused.value.about["problems"]
    assert len(problems) == 6
    for part in ("zookeeper.connect", "the target's brokers", "--include", "--num.streams", "Handler", "tasks.max"):
        assert any(part in problem for problem in problems), part


def test_what_has_no_place_is_said(tmp_path: Path) -> None:
    found, _ = translated(
        tmp_path, consumer=CONSUMER + "colour=blue\n", abort_on_send_failure=False, rebalance_listener="com.example.L"
    )
    assert [warning.split(":")[0] for warning in found.warnings] == [
        "consumer.properties, line 7",
        "--abort.on.send.failure false",
        "--consumer.rebalance.listener com.example.L",
    ]


def test_files_that_cannot_be_read_are_both_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        read_files(tmp_path / "a.properties", tmp_path / "b.properties")
    assert len(refused.value.about["problems"]) == 2
