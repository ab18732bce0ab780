"""Java client options in librdkafka's words; librdkafka itself judges whether it takes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from mirror.config import Flow, client_options
from mirror.config.clients import client_values
from mirror.config.configuration import parse

HEAD = "clusters = A, B\nA.bootstrap.servers = a:1, b:2\nB.bootstrap.servers = b:1\nA->B.enabled = true\n"
# A value for every option that has a counterpart, as a Java user might write it.
SAMPLES = {
    "bootstrap.servers": "localhost:1",
    "client.id": "team",
    "client.rack": "r1",
    "request.timeout.ms": "30000",
    "connections.max.idle.ms": "540000",
    "socket.connection.setup.timeout.ms": "10000",
    "client.dns.lookup": "use_all_dns_ips",
    "metadata.recovery.strategy": "rebootstrap",
    "isolation.level": "read_uncommitted",
    "compression.type": "zstd",
    "send.buffer.bytes": "-1",
    "max.request.size": "1048576",
    "buffer.memory": "33554432",
    "delivery.timeout.ms": "120000",
    "fetch.max.bytes": "52428800",
    "max.in.flight.requests.per.connection": "5",
    "enable.metrics.push": "false",
    "check.crcs": "true",
    "allow.auto.create.topics": "false",
    "compression.gzip.level": "6",
    "compression.lz4.level": "9",
    "compression.zstd.level": "3",
}
MAPPED = [(kind, option) for option in client_options.OPTIONS if option.target for kind in option.kinds]


def flow(lines: str = "") -> Flow:
    return parse((HEAD + lines).encode(), Path("mm2.properties")).flow("A->B")


def construct(kind: str, settings: dict[str, str | int | bool], timeout_ms: int = 60000) -> None:
    """Makes the client; without brokers it connects nowhere. Raises what librdkafka has against the settings."""
    settings = {name: value for name, value in settings.items() if name != "bootstrap.servers"}
    if kind == "consumer":
        Consumer({**settings, "group.id": "g"}).close()
    elif kind == "producer":
        Producer({**settings, "transactional.id": "t", "transaction.timeout.ms": timeout_ms})
    else:
        AdminClient(settings)


@pytest.mark.parametrize(("kind", "option"), MAPPED, ids=lambda part: getattr(part, "name", part))
def test_librdkafka_takes_every_mapped_option(kind: str, option: client_options.ClientOption) -> None:
    side = "target" if kind == "producer" else "source"
    lines = [f"A->B.{side}.{kind}.{option.name} = {SAMPLES.get(option.name, '1000')}"]
    if option.target == "compression.level":
        lines.append(f"B.producer.compression.type = {option.name.split('.')[1]}")
    found = flow("\n".join(lines))
    settings = getattr(found, f"{kind}_settings")(side)
    assert option.target in settings
    construct(kind, settings.plain())


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("A.consumer.request.timeout.ms = 5000", "socket.timeout.ms", 5000),
        ("A.consumer.fetch.max.wait.ms = 100", "fetch.wait.max.ms", 100),
        ("A.consumer.receive.buffer.bytes = -1", "socket.receive.buffer.bytes", 0),
        ("A.consumer.metadata.max.age.ms = 9223372036854775807", "metadata.max.age.ms", 86_400_000),
        ("A.consumer.check.crcs = TRUE", "check.crcs", True),
    ],
)
def test_a_consumers_option_gets_its_other_name_and_unit(line: str, name: str, value: object) -> None:
    assert flow(line + "\n").consumer_settings("source")[name] == value


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("B.producer.buffer.memory = 33554433", "queue.buffering.max.kbytes", 32769),
        ("B.producer.max.request.size = 2000000", "message.max.bytes", 2_000_000),
        ("B.producer.compression.type = LZ4", "compression.type", "lz4"),
    ],
)
def test_a_producers_option_gets_its_other_name_and_unit(line: str, name: str, value: object) -> None:
    assert flow(line + "\n").producer_settings("target")[name] == value


@pytest.mark.parametrize(
    ("lines", "name", "value"),
    [
        (["B.producer.delivery.timeout.ms = 2147483647"], "delivery.timeout.ms", 60000),
        (["B.producer.request.timeout.ms = 120000"], "socket.timeout.ms", 60000),
        (
            ["B.producer.request.timeout.ms = 90000", "airmirror.transaction.timeout.ms = 90000"],
            "socket.timeout.ms",
            90000,
        ),
        (["B.producer.linger.ms = 70000"], "linger.ms", 59999),
        (["B.producer.delivery.timeout.ms = 5", "B.producer.linger.ms = 5"], "linger.ms", 4),
        (["B.producer.max.in.flight.requests.per.connection = 30"], "max.in.flight.requests.per.connection", 5),
        (["B.producer.reconnect.backoff.ms = 20000"], "reconnect.backoff.max.ms", 20000),
        (["B.producer.connections.max.idle.ms = -1"], "connections.max.idle.ms", 0),
        (["B.producer.metadata.max.age.ms = 0"], "metadata.max.age.ms", 1),
        (["B.producer.batch.size = 0"], "batch.size", 1),
        (["B.producer.compression.lz4.level = 17", "B.producer.compression.type = lz4"], "compression.level", 12),
        (["B.consumer.fetch.max.bytes = 100"], "message.max.bytes", 1000),
        (["B.consumer.fetch.min.bytes = 0"], "fetch.min.bytes", 1),
    ],
)
def test_what_java_takes_and_librdkafka_does_not_is_brought_within_its_limits(
    lines: list[str], name: str, value: int
) -> None:
    found = flow("\n".join(lines) + "\n")
    kind = lines[0].split(".")[1]
    settings = found.producer_settings("target") if kind == "producer" else found.consumer_settings("target")
    assert settings[name] == value
    timeout = 90000 if len(lines) == 2 and "transaction" in lines[1] else 60000
    construct(kind, settings.plain(), timeout)


def test_lists_of_brokers_lose_their_blanks() -> None:
    assert flow().admin_settings("source")["bootstrap.servers"] == "a:1,b:2"


def test_only_the_chosen_codecs_level_counts() -> None:
    levels = "B.producer.compression.gzip.level = 1\nB.producer.compression.zstd.level = 2\n"
    assert "compression.level" not in flow(levels).producer_settings("target")
    chosen = flow(levels + "B.producer.compression.type = zstd\n").producer_settings("target")
    assert chosen["compression.level"] == 2


def test_a_consumer_commits_nothing_joins_no_group_and_never_jumps() -> None:
    settings = flow(
        "A.consumer.enable.auto.commit = true\nA.consumer.group.id = g\nA.consumer.auto.offset.reset = latest\n"
    ).consumer_settings("source")
    assert settings["enable.auto.commit"] is False
    assert settings["auto.offset.reset"] == "error"
    assert "group.id" not in settings


def test_a_producer_always_waits_for_all_replicas() -> None:
    settings = flow("B.producer.acks = 1\nB.producer.enable.idempotence = false\n").producer_settings("target")
    assert (settings["acks"], settings["enable.idempotence"]) == ("all", True)


def test_client_ids_begin_with_the_users_and_name_the_flow() -> None:
    assert flow().admin_settings("source")["client.id"] == "airmirror|A->B"
    assert flow("A.admin.client.id = team\n").admin_settings("source")["client.id"] == "team|airmirror|A->B"


def test_mm2s_own_timeouts_are_no_client_options() -> None:
    found = flow("consumer.poll.timeout.ms = 5\nadmin.timeout.ms = 5\n")
    assert found.client_notices() == ()
    assert "timeout.ms" not in found.admin_settings("source")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("A.consumer.max.poll.records = 5", "as they come"),
        ("A.consumer.interceptor.classes = x", "Java machine"),
        ("B.producer.acks = 1", "acks=all"),
        ("B.producer.partitioner.class = x", "keeps its partition"),
        ("A.ssl.protocol = TLSv1.3", "OpenSSL"),
        ("B.sasl.login.refresh.window.factor = 0.8", "renews logins"),
    ],
)
def test_what_has_no_counterpart_is_said_once_in_plain_words(line: str, word: str) -> None:
    (notice,) = flow(line + "\n").client_notices()
    assert word in notice.message
    assert notice.origin.line == 5


def test_each_setting_knows_the_java_option_and_line_it_came_from() -> None:
    values = {
        value.name: value for value in client_values(flow("A.consumer.fetch.max.wait.ms = 1\n"), "source", "consumer")
    }
    assert values["fetch.wait.max.ms"].java_name == "fetch.max.wait.ms"
    assert str(values["fetch.wait.max.ms"].origin) == "mm2.properties:5"
    assert values["enable.auto.commit"].origin.is_default
