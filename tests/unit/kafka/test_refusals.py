"""What librdkafka says of connections that fail, and what it means; the words were said by 2.16 to a 4.3 broker."""

from __future__ import annotations

import threading

import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient

from mirror.config.secrets import MASK
from mirror.errors import ClusterUnreachable, ConfigurationRefused, CredentialsRefused
from mirror.kafka import connection
from mirror.kafka.connection import Connection, making_a_client
from mirror.kafka.errors import error_of
from mirror.kafka.refusals import meaning_of

LOGIN = "SASL authentication error: Authentication failed during authentication due to invalid credentials"
CLOSED = "Disconnected: connection closed by peer: receive 0 after POLLIN (after 7ms in state APIVERSION_QUERY)"
DOWN = "Connect to ipv4#127.0.0.1:9 failed: Connection refused (after 0ms in state CONNECT)"


@pytest.mark.parametrize(
    ("code", "text", "kind", "option"),
    [
        ("_AUTHENTICATION", LOGIN, CredentialsRefused, "sasl.jaas.config"),
        ("_AUTHENTICATION", "SASL error: Authentication failed: Invalid username or password", CredentialsRefused,
            "sasl.jaas.config"),
        ("_AUTHENTICATION", "SASL OAUTHBEARER mechanism handshake failed: Broker: Unsupported SASL mechanism",
            CredentialsRefused, "sasl.mechanism"),
        ("_AUTHENTICATION", "mechanism handshake failed: Broker: Request not valid in current SASL state",
            CredentialsRefused, "security.protocol"),
        ("_AUTHENTICATION", "Failed to acquire SASL OAUTHBEARER token: HTTP 401", CredentialsRefused,
            "sasl.oauthbearer.token.endpoint.url"),
        ("_SSL", "SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker certificate",
            CredentialsRefused, "ssl.truststore.location"),
        ("_TRANSPORT", "error:0A000086:SSL routines::certificate verify failed (after 15ms in state SSL_HANDSHAKE)",
            CredentialsRefused, "ssl.truststore.location"),
        ("_TRANSPORT", "Receive failed: error:0A000412:SSL routines::ssl/tls alert bad certificate: SSL alert number",
            CredentialsRefused, "ssl.keystore.location"),
        ("_SSL", "something new", CredentialsRefused, "security.protocol"),
        ("_TRANSPORT", "SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?",
            ClusterUnreachable, "security.protocol"),
        ("_TRANSPORT", CLOSED, ClusterUnreachable, "security.protocol"),
    ],
)  # fmt: skip
def test_a_failed_connection_names_the_option_to_look_at(code: str, text: str, kind: type, option: str) -> None:
    error = meaning_of(code, text, "list topics", "east")
    assert type(error) is kind
    assert error is not None
    assert text in error.message
    assert f"east.{option}" in error.next_step


@pytest.mark.parametrize(
    ("code", "text"),
    [("_TRANSPORT", DOWN), ("_ALL_BROKERS_DOWN", "1/1 brokers are down"), ("_RESOLVE", "no such host")],
)
def test_a_broker_that_is_down_refuses_nothing(code: str, text: str) -> None:
    assert meaning_of(code, text, "list topics", "east") is None


def test_a_connection_that_breaks_in_mid_work_is_not_taken_for_a_wrong_protocol() -> None:
    error = error_of(KafkaError(KafkaError._TRANSPORT, CLOSED), "read records", "east")
    assert isinstance(error, ClusterUnreachable)
    assert "security.protocol" not in str(error)


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(connection, "time", clock)
    return clock


def test_a_refusal_ends_the_wait_when_nothing_else_is_heard_for_three_seconds(clock: Clock) -> None:
    found = Connection("east")
    found.failed(KafkaError(KafkaError._AUTHENTICATION, LOGIN))
    clock.now += 2.9
    found.raise_if_refused("list topics")
    clock.now += 0.1
    with pytest.raises(
        CredentialsRefused, match="could not list topics on cluster east: its brokers refused the login"
    ):
        found.raise_if_refused("list topics")


def test_an_answer_ends_all_doubt(clock: Clock) -> None:
    found = Connection("east")
    found.failed(KafkaError(KafkaError._AUTHENTICATION, LOGIN))
    found.answered()
    clock.now += 60
    found.raise_if_refused("list topics")
    assert found.reason("list topics") is None
    found.log(20, "%s [%s] %s", "FAIL", "rdkafka#1", CLOSED)  # an idle connection, later on
    found.failed(KafkaError(KafkaError._TRANSPORT, "SSL handshake failed: connecting to a PLAINTEXT broker listener?"))
    clock.now += 60
    found.raise_if_refused("list topics")


def test_a_connection_that_is_only_closed_is_given_longer_and_forgotten_when_the_broker_is_down(clock: Clock) -> None:
    found = Connection("east")
    found.log(20, "%s [%s] %s", "FAIL", "rdkafka#1", f"[thrd:x]: {CLOSED}")
    clock.now += 7.9
    found.raise_if_refused("list topics")
    clock.now += 0.2
    with pytest.raises(ClusterUnreachable, match=r"wants TLS or a login: Disconnected"):
        found.raise_if_refused("list topics")
    found.failed(KafkaError(KafkaError._TRANSPORT, DOWN))
    found.raise_if_refused("list topics")


def test_a_call_that_hangs_ends_with_the_refusal() -> None:
    found, never = Connection("east"), threading.Event()

    def poll(seconds: float) -> None:
        found.failed(KafkaError(KafkaError._AUTHENTICATION, LOGIN))
        found._since -= 1

    with pytest.raises(CredentialsRefused):
        found.first_answer("list topics", never.wait, poll)
    never.set()


def test_settings_that_librdkafka_refuses_are_told_without_their_secrets() -> None:
    settings = {"security.protocol": "sasl_ssl", "sasl.mechanism": "GSSAPI", "sasl.password": "provider"}
    with pytest.raises(ConfigurationRefused) as caught, making_a_client("east", settings):
        AdminClient(settings)
    assert "no client can be made for cluster east" in caught.value.message
    assert f"No {MASK} for SASL mechanism GSSAPI" in caught.value.message
    assert "built with Kerberos" in caught.value.next_step
