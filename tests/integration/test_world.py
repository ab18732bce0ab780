"""The embedded world itself: what every other test stands on."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from world import kafka
from world.kafka import KafkaCluster
from world.ports import free_ports
from world.server_properties import Security

Clusters = Callable[..., tuple[KafkaCluster, ...]]
TopicName = Callable[..., str]


def create(settings: dict[str, Any], topic: str, partitions: int = 1) -> None:
    admin = AdminClient(settings)  # held by name: the future fails when its client is collected
    admin.create_topics([NewTopic(topic, partitions)])[topic].result(15)


def produce(settings: dict[str, Any], topic: str, *values: str) -> None:
    errors: list[Any] = []
    producer = Producer({"message.timeout.ms": 15000, **settings})
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(20) == 0
    assert not any(errors), errors


def read(settings: dict[str, Any], topic: str, count: int, timeout: float = 20) -> list[str]:
    consumer = Consumer({"group.id": "reader", "auto.offset.reset": "earliest", **settings})
    consumer.assign([TopicPartition(topic, 0, 0)])
    values = [message.value().decode() for message in consumer.consume(count, timeout)]
    consumer.close()
    return values


def plain(cluster: KafkaCluster) -> dict[str, Any]:
    return {"bootstrap.servers": cluster.bootstrap_servers}


def test_the_two_clusters_of_the_session_are_different_ones(
    east: KafkaCluster, west: KafkaCluster, topic_name: TopicName
) -> None:
    topic = topic_name()
    create(plain(east), topic)
    produce(plain(east), topic, "one")
    assert read(plain(east), topic, 1) == ["one"]
    assert topic not in AdminClient(plain(west)).list_topics(timeout=10).topics


def test_kafkas_own_tool_counts_what_was_produced(east: KafkaCluster, topic_name: TopicName) -> None:
    topic = topic_name()
    create(plain(east), topic)
    produce(plain(east), topic, "one", "two")
    assert east.tool("org.apache.kafka.tools.GetOffsetShell", "--topic", topic).strip() == f"{topic}:0:2"


@pytest.mark.parametrize("end", ["kill", pytest.param("stop", marks=pytest.mark.long("an orderly end takes its time"))])
def test_a_broker_that_ended_comes_back_with_its_port_and_data(fresh_clusters: Clusters, end: str) -> None:
    (cluster,) = fresh_clusters("lone")
    before = cluster.bootstrap_servers
    create(plain(cluster), "kept")
    produce(plain(cluster), "kept", "one", "two")
    getattr(cluster.brokers[0], end)()
    assert not cluster.brokers[0].is_running()
    cluster.brokers[0].start()
    cluster.wait_until_ready()
    assert cluster.bootstrap_servers == before
    assert read(plain(cluster), "kept", 2) == ["one", "two"]


@pytest.mark.long("brokers take their time to come back")
def test_three_brokers_go_on_without_one(fresh_clusters: Clusters) -> None:
    (cluster,) = fresh_clusters("trio", brokers=3)
    create(plain(cluster), "spread")
    cluster.brokers[1].kill()
    produce(plain(cluster) | {"acks": "all"}, "spread", "one")
    assert read(plain(cluster), "spread", 1) == ["one"]


def test_a_port_taken_between_choosing_and_binding_is_changed_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_choice = free_ports(2)
    choices = iter([first_choice])
    monkeypatch.setattr(kafka, "free_ports", lambda count: next(choices, None) or free_ports(count))
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", first_choice[1]))
        squatter.listen()
        with KafkaCluster("late", tmp_path) as cluster:
            assert str(first_choice[1]) not in cluster.bootstrap_servers
            create(plain(cluster), "works")


class TestSecurity:
    """One secured cluster for the class: TLS, all SASL mechanisms, rights checked."""

    @pytest.fixture(scope="class")
    @staticmethod
    def cluster(tmp_path_factory: pytest.TempPathFactory) -> Any:
        security = Security(
            listeners=("SSL", "SASL_PLAINTEXT", "SASL_SSL"),
            users={"admin": "admin-pw", "guest": "guest-pw"},
            authorizer=True,
            super_users=("admin",),
        )
        with KafkaCluster("safe", tmp_path_factory.mktemp("safe"), security=security) as cluster:
            create(plain(cluster), "locked")
            yield cluster

    @staticmethod
    def settings(cluster: KafkaCluster, mechanism: str, user: str, password: str) -> dict[str, Any]:
        return {
            "bootstrap.servers": cluster.bootstrap("SASL_SSL"),
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(cluster.certificates.authority),
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }

    @pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
    def test_the_right_password_over_tls_may_write(self, cluster: KafkaCluster, mechanism: str) -> None:
        produce(self.settings(cluster, mechanism, "admin", "admin-pw"), "locked", mechanism)

    @pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
    def test_a_wrong_password_is_refused(self, cluster: KafkaCluster, mechanism: str) -> None:
        errors: list[str] = []
        settings = self.settings(cluster, mechanism, "admin", "wrong") | {"error_cb": lambda e: errors.append(e.name())}
        admin = AdminClient(settings)
        with pytest.raises(KafkaException):
            admin.list_topics(timeout=2)
        admin.poll(0)  # the callbacks of what happened meanwhile
        assert "_AUTHENTICATION" in errors

    def test_a_user_without_rights_does_not_see_the_topic(self, cluster: KafkaCluster) -> None:
        settings = self.settings(cluster, "PLAIN", "guest", "guest-pw")
        assert "locked" not in AdminClient(settings).list_topics(timeout=10).topics

    def test_rights_given_with_kafkas_own_tool_open_the_topic(self, cluster: KafkaCluster) -> None:
        create(plain(cluster), "shared")
        grant = ("--add", "--allow-principal", "User:guest", "--operation", "Describe", "--topic", "shared")
        cluster.tool("org.apache.kafka.tools.AclCommand", *grant)
        settings = self.settings(cluster, "SCRAM-SHA-256", "guest", "guest-pw")
        assert "shared" in AdminClient(settings).list_topics(timeout=10).topics

    def test_a_server_of_an_unknown_authority_is_refused(self, cluster: KafkaCluster) -> None:
        settings = {"bootstrap.servers": cluster.bootstrap("SSL"), "security.protocol": "SSL"}
        with pytest.raises(KafkaException):
            AdminClient(settings).list_topics(timeout=3)
        trusting = settings | {"ssl.ca.location": str(cluster.certificates.authority)}
        assert "locked" in AdminClient(trusting).list_topics(timeout=10).topics
