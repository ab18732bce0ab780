"""Every way into a real cluster: stores of each kind, logins, tokens, providers; and what a wrong one is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flow_files import flow_from
from integration.copying import Mirrored
from integration.records import numbered
from integration.secured import PASSWORD, Secured, TokenEndpoint, login
from key_stores import KINDS
from mirror.cli.main import main
from mirror.config import Flow
from mirror.errors import ClusterUnreachable, CredentialsRefused
from mirror.kafka import cluster as cluster_module
from mirror.kafka import connection
from mirror.kafka.cluster import Cluster
from world.certificates import make_certificates
from world.kafka import KafkaCluster

# Sources of records, and what leads clients to the secured cluster when it is called X.
Lines = Callable[[Secured], str]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with Secured(tmp_path_factory.mktemp("secured")) as secured:
        yield secured


@pytest.fixture(scope="module")
def tokens() -> Iterator[TokenEndpoint]:
    endpoint = TokenEndpoint()
    yield endpoint
    endpoint.close()


def copied(flow: Mirrored, topic: str) -> int:
    """Copy a few records by the flow's own credentials; equal on both sides when they are read without any."""
    flow.write(topic, numbered(20))
    flow.make_remote_topics()
    count = flow.copy().record_count
    flow.assert_equal(topic)
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_stores_of_each_kind_from_the_same_keys_copy(
    tmp_path: Path, secured: Secured, west: KafkaCluster, kind: str
) -> None:
    flow = Mirrored(tmp_path, secured.cluster, west)
    flow.configure(secured.by_certificate("SOURCE", kind))
    assert copied(flow, flow.topic("orders")) == 20


def test_a_login_over_tls_writes_in_transactions_and_its_secrets_come_from_providers(
    tmp_path: Path, secured: Secured, east: KafkaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secrets.properties").write_text(f"store = {secured.stores.password}\n")
    monkeypatch.setenv("AIRMIRROR_TEST_PASSWORD", PASSWORD)
    lines = secured.by_login(
        "TARGET", "SCRAM-SHA-512", login("SCRAM-SHA-512", password="${env:AIRMIRROR_TEST_PASSWORD}")
    )
    lines = lines.replace(secured.stores.password, f"${{file:{tmp_path}/secrets.properties:store}}")
    assert PASSWORD not in lines
    flow = Mirrored(tmp_path, east, secured.cluster)
    flow.configure(lines)
    assert copied(flow, flow.topic("orders")) == 20


def flow_to(directory: Path, lines: str) -> Flow:
    return flow_from(directory, lines, clusters={"X": "localhost:1", "Y": "localhost:2"}, flow="X->Y")


def topics_of(flow: Flow) -> tuple[str, ...]:
    return Cluster("X", flow.admin_settings("source")).topic_names()


@pytest.mark.parametrize(
    "lines",
    [
        lambda s: s.by_login("X", "PLAIN", login("PLAIN")),
        lambda s: s.by_login("X", "SCRAM-SHA-256", login("SCRAM-SHA-256"), kind="PKCS12"),
        lambda s: s.by_login("X", "SCRAM-SHA-512", login("SCRAM-SHA-512"), listener="SASL_PLAINTEXT"),
    ],
    ids=["PLAIN", "SCRAM-SHA-256", "no TLS"],
)
def test_logins_of_each_mechanism_connect(tmp_path: Path, secured: Secured, lines: Lines) -> None:
    assert isinstance(topics_of(flow_to(tmp_path, lines(secured))), tuple)


def test_a_token_comes_from_the_identity_provider(tmp_path: Path, secured: Secured, tokens: TokenEndpoint) -> None:
    assert isinstance(topics_of(flow_to(tmp_path, secured.by_token("X", tokens.url))), tuple)
    assert set(tokens.asked) == {"kafka"}


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request ends by its own time-out; only a refusal can end one, here after a moment."""
    monkeypatch.setattr(cluster_module, "REQUEST_TIMEOUT_S", 3600)
    monkeypatch.setattr(connection, "PATIENCE_S", 1.0)
    monkeypatch.setattr(connection, "DOUBT_S", 1.5)


def foreign_trust(secured: Secured) -> str:
    other = make_certificates(secured.cluster.directory / "foreign")
    return secured.by_certificate("X", "PEM").replace(str(secured.stores.trust["PEM"]), str(other.authority))


def foreign_identity(secured: Secured) -> str:
    other = make_certificates(secured.cluster.directory / "foreign")
    return secured.by_certificate("X", "PEM").replace(str(secured.stores.identity["PEM"]), str(other.client))


@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize(
    ("lines", "kind", "words"),
    [
        (lambda s: s.by_login("X", "SCRAM-SHA-512", login("SCRAM-SHA-512", password="guess")), CredentialsRefused,
            "X.sasl.jaas.config"),
        (lambda s: s.by_login("X", "PLAIN", login("PLAIN", user="nobody")), CredentialsRefused, "X.sasl.jaas.config"),
        (foreign_trust, CredentialsRefused, "X.ssl.truststore.location"),
        (foreign_identity, CredentialsRefused, "X.ssl.keystore.location"),
        (lambda s: s.door("X", "SSL") + s.stores.lines("X", "JKS", identity=False), CredentialsRefused,
            "X.ssl.keystore.location"),
        (lambda s: s.door("X", "SSL") + "X.security.protocol = PLAINTEXT\n", ClusterUnreachable, "X.security.protocol"),
        (lambda s: s.door("X", "SASL_PLAINTEXT") + "X.security.protocol = PLAINTEXT\n", ClusterUnreachable,
            "X.security.protocol"),
        (lambda s: s.by_certificate("X", "PEM") + f"X.bootstrap.servers = {s.cluster.bootstrap_servers}\n",
            ClusterUnreachable, "X.security.protocol"),
        (lambda s: s.by_token("X", "http://127.0.0.1:9/token"), CredentialsRefused,
            "X.sasl.oauthbearer.token.endpoint.url"),
    ],
    ids=["password", "user", "untrusted broker", "foreign certificate", "no certificate", "TLS not expected",
        "login not expected", "no TLS there", "no token"],
)  # fmt: skip
def test_brokers_that_refuse_us_end_the_wait_with_their_word_and_the_option(
    tmp_path: Path, secured: Secured, lines: Lines, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        topics_of(flow_to(tmp_path, lines(secured)))
    assert words in str(caught.value)
    assert "guess" not in str(caught.value)


@pytest.mark.usefixtures("endless")
def test_a_refused_client_secret_is_the_identity_providers_word(
    tmp_path: Path, secured: Secured, tokens: TokenEndpoint
) -> None:
    with pytest.raises(CredentialsRefused, match="no token came from the identity provider"):
        topics_of(flow_to(tmp_path, secured.by_token("X", tokens.url, secret="guess")))


@pytest.mark.parametrize("option", ["ssl.truststore.password", "ssl.keystore.password", "ssl.key.password"])
def test_a_stores_wrong_password_ends_a_command_before_it_asks_any_broker(
    tmp_path: Path, secured: Secured, west: KafkaCluster, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    flow = Mirrored(tmp_path, secured.cluster, west)
    flow.configure(f"{secured.by_certificate('SOURCE', 'JKS')}SOURCE.{option} = guess\n")
    code = main(["--config", str(flow.config), "topics", flow.flow.id])
    told = capsys.readouterr().err
    assert code == 2
    assert f"{flow.aliases[0]}.{option}" in told
    assert "guess" not in told
    assert secured.stores.password not in told
