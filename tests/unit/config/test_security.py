"""Security options: stores, logins and tokens in librdkafka's words, secrets nowhere else."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from key_stores import KINDS, KeyStores, make_key_stores
from mirror.config import Flow, Secret
from mirror.config.configuration import parse
from mirror.config.jaas import JaasRefused, login_options
from mirror.config.secrets import MASK, is_secret, shown
from mirror.errors import PersonMustAct
from world.certificates import Certificates, make_certificates

HEAD = "clusters = A, B\nbootstrap.servers = a:1\nA->B.enabled = true\n"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def flow(*lines: str) -> Flow:
    return parse((HEAD + "\n".join(lines)).encode(), Path("mm2.properties")).flow("A->B")


def source(*lines: str) -> dict[str, str | int | bool]:
    ignored = ("client.id", "bootstrap.servers")
    plain = flow(*lines).admin_settings("source").plain()
    return {name: value for name, value in plain.items() if name not in ignored}


def test_a_scram_login_becomes_user_name_and_password() -> None:
    assert source(
        "A.security.protocol = sasl_ssl",
        "A.sasl.mechanism = SCRAM-SHA-512",
        f'A.sasl.jaas.config = {SCRAM} required username="mirror" password="p;=\\\\"w";',
    ) == {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "mirror",
        "sasl.password": 'p;="w',
    }


@pytest.mark.parametrize(
    ("jaas", "expected"),
    [
        ('m required username="a" password="b";', {"username": "a", "password": "b"}),
        ("m required username='a' password='b c';", {"username": "a", "password": "b c"}),
        ("m required username=a password=b;", {"username": "a", "password": "b"}),
        ('m required\n username = "a"\n password="";', {"username": "a", "password": ""}),
        ("", {}),
    ],
)
def test_a_jaas_line_is_read_as_java_writes_it(jaas: str, expected: dict[str, str]) -> None:
    assert login_options(jaas) == expected


def test_a_login_without_password_is_refused_when_it_is_needed_not_when_the_file_is_read() -> None:
    found = flow("A.security.protocol = SASL_PLAINTEXT", "A.sasl.mechanism = PLAIN")
    with pytest.raises(PersonMustAct, match=r"sasl.jaas.config of cluster A has no username and password"):
        found.admin_settings("source")


def test_an_oauth_client_is_read_from_the_jaas_line_or_the_newer_options() -> None:
    common = ("A.security.protocol = SASL_SSL", "A.sasl.mechanism = OAUTHBEARER",
        "A.sasl.oauthbearer.token.endpoint.url = https://id/token")  # fmt: skip
    expected = {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://id/token",
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": "s",
        "sasl.oauthbearer.scope": "kafka",
    }
    assert source(*common, 'A.sasl.jaas.config = m required clientId="me" clientSecret="s" scope="kafka";') == expected
    newer = "A.sasl.oauthbearer.client.credentials.client"
    assert source(*common, f"{newer}.id = me", f"{newer}.secret = s", "A.sasl.oauthbearer.scope = kafka") == expected


def test_kerberos_is_understood_as_far_as_the_client_can() -> None:
    found = source(
        "A.security.protocol = SASL_PLAINTEXT",
        'A.sasl.jaas.config = com.sun.Krb5LoginModule required keyTab="/k" principal="m@R" serviceName="kafka";',
    )
    assert found["sasl.mechanism"] == "GSSAPI"
    assert found["sasl.kerberos.service.name"] == "kafka"
    assert (found["sasl.kerberos.keytab"], found["sasl.kerberos.principal"]) == ("/k", "m@R")


@pytest.mark.parametrize(
    ("jaas", "word"),
    [
        ('m required username="a" password="b"c";', "password="),
        ('m required password="b', "its beginning"),
        ('m required username="a"; m required username="b";', "more than one login"),
    ],
)
def test_a_jaas_line_that_java_would_not_read_is_refused_without_its_contents(jaas: str, word: str) -> None:
    with pytest.raises(JaasRefused, match=word) as caught:
        login_options(jaas)
    assert '"b' not in str(caught.value)


def test_a_broken_jaas_line_names_its_own(tmp_path: Path) -> None:
    found = flow(
        "A.security.protocol = SASL_SSL", "A.sasl.mechanism = PLAIN", 'A.sasl.jaas.config = m required p="x"y";'
    )
    with pytest.raises(PersonMustAct, match=r"mm2.properties:6: A.sasl.jaas.config cannot be read behind p="):
        found.admin_settings("source")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("", r"sasl.oauthbearer.token.endpoint.url of cluster A must be the http"),
        ("A.sasl.oauthbearer.token.endpoint.url = file:///token", r"mm2.properties:6: .*must be the http"),
        ("A.sasl.oauthbearer.token.endpoint.url = https://id/token", r"client.id of cluster A is missing"),
    ],
)
def test_an_oauth_client_without_its_endpoint_or_its_id_is_refused(line: str, word: str) -> None:
    found = flow("A.security.protocol = SASL_SSL", "A.sasl.mechanism = OAUTHBEARER", line)
    with pytest.raises(PersonMustAct, match=word):
        found.admin_settings("source")


def test_whom_an_oauth_client_trusts_at_the_endpoint_stands_in_its_jaas_line(certificates: Certificates) -> None:
    found = source(
        "A.security.protocol = SASL_PLAINTEXT",
        "A.sasl.mechanism = OAUTHBEARER",
        "A.sasl.oauthbearer.token.endpoint.url = https://id/token",
        f'A.sasl.jaas.config = m required clientId="me" clientSecret="s" '
        f'ssl.truststore.type="PEM" ssl.truststore.location="{certificates.authority}";',
    )
    assert found["https.ca.pem"] == certificates.authority.read_text()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> KeyStores:
    return make_key_stores(tmp_path_factory.mktemp("stores"), certificates)


@pytest.mark.parametrize("kind", KINDS)
def test_stores_of_every_kind_become_the_same_text(made: KeyStores, certificates: Certificates, kind: str) -> None:
    found = source("A.security.protocol = SSL", made.lines("A", kind), "A.ssl.endpoint.identification.algorithm =")
    key, _, certificate = certificates.client.read_text().partition("-----BEGIN CERTIFICATE-----")
    assert found == {
        "security.protocol": "ssl",
        "ssl.ca.pem": certificates.authority.read_text(),
        "ssl.key.pem": key,
        "ssl.certificate.pem": f"-----BEGIN CERTIFICATE-----{certificate}{certificates.authority.read_text()}",
        "ssl.endpoint.identification.algorithm": "none",
    }
    # librdkafka judges whether key and certificate are what it takes.
    AdminClient(found)


def test_stores_written_into_the_file_itself(made: KeyStores, certificates: Certificates) -> None:
    def one_line(path: Path) -> str:
        return path.read_text().replace("\n", "\\n")

    found = source(
        "A.security.protocol = SSL",
        f"A.ssl.truststore.certificates = {one_line(certificates.authority)}",
        f"A.ssl.keystore.key = {one_line(made.identity['PEM'])}",
        f"A.ssl.keystore.certificate.chain = {one_line(certificates.client)}",
        f"A.ssl.key.password = {made.key_password}",
    )
    key, _, certificate = certificates.client.read_text().partition("-----BEGIN CERTIFICATE-----")
    assert (found["ssl.ca.pem"], found["ssl.key.pem"]) == (certificates.authority.read_text(), key)
    assert found["ssl.certificate.pem"] == f"-----BEGIN CERTIFICATE-----{certificate}"


def test_a_store_is_read_without_the_underscore_that_markup_left(made: KeyStores) -> None:
    found = source("A.security.protocol = SSL", f"A.ssl.truststore.location = {made.trust['JKS']}_")
    assert "BEGIN CERTIFICATE" in str(found["ssl.ca.pem"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("A.ssl.truststore.password = wrong1", "mm2.properties:{line}: A.ssl.truststore.password is not the store's"),
        ("A.ssl.keystore.password = wrong1", "mm2.properties:{line}: A.ssl.keystore.password is not the store's"),
        ("A.ssl.key.password = wrong1", "mm2.properties:{line}: A.ssl.key.password does not open the key me"),
        ("A.ssl.keystore.location = /none/me.jks", "A.ssl.keystore.location names /none/me.jks, and there is no such"),
        ("A.ssl.keystore.location = /", "A.ssl.keystore.location names /, which cannot be read"),
    ],
)
def test_a_wrong_store_is_refused_by_its_option_and_line_when_a_client_is_made(
    made: KeyStores, line: str, words: str
) -> None:
    lines = ["A.security.protocol = SSL", *made.lines("A", "JKS").splitlines(), line]
    found = flow(*lines)
    assert found.consumer_settings("target")  # the other cluster is not held up
    with pytest.raises(PersonMustAct) as caught:
        found.consumer_settings("source")
    assert words.format(line=3 + len(lines)) in caught.value.message
    assert "wrong1" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert any("wrong1" not in str(n) and words.split("{line}")[-1][:20] in str(n) for n in found.client_notices())


def test_a_missing_store_is_named_when_a_client_is_made() -> None:
    with pytest.raises(PersonMustAct, match=r"names /none/ca.pem, and there is no such file"):
        flow("A.security.protocol = SSL", "A.ssl.truststore.location = /none/ca.pem").admin_settings("source")


def test_stores_of_a_plaintext_cluster_are_not_asked_for() -> None:
    assert source("A.ssl.truststore.location = /none/ca.jks") == {"security.protocol": "plaintext"}


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("ssl.keystore.password", True),
        ("A.sasl.jaas.config", True),
        ("sasl.password", True),
        ("ssl.keystore.key", True),
        ("ssl.key.pem", True),
        ("ssl.key.pasword", True),
        ("sasl.oauthbearer.client.credentials.client.secret", True),
        ("config.providers.vault.param.token", True),
        ("sasl.oauthbearer.client.credentials.client.id", False),
        ("sasl.oauthbearer.token.endpoint.url", False),
        ("ssl.keystore.location", False),
        ("bootstrap.servers", False),
    ],
)
def test_secrets_are_known_by_their_names(name: str, secret: bool) -> None:
    assert is_secret(name) is secret


def test_settings_print_masked_pickle_whole_and_refuse_json() -> None:
    settings = flow(
        "A.security.protocol = SASL_PLAINTEXT",
        "A.sasl.mechanism = PLAIN",
        'A.sasl.jaas.config = m required username="u" password="hunter2";',
    ).admin_settings("source")
    assert "hunter2" not in f"{settings} {settings!r}"
    assert MASK in repr(settings)
    assert pickle.loads(pickle.dumps(settings)).plain()["sasl.password"] == "hunter2"
    with pytest.raises(TypeError):
        json.dumps(settings)


def test_a_secret_prints_masked_and_compares() -> None:
    secret = Secret("hunter2")
    assert f"{secret} {secret!r} {[secret]}" == f"{MASK} {MASK} [{MASK}]"
    assert secret == Secret("hunter2")
    assert pickle.loads(pickle.dumps(secret)).reveal() == "hunter2"


def test_a_password_inside_an_address_is_masked() -> None:
    assert shown("schema.url", "https://me:hunter2@host/x") == f"https://{MASK}@host/x"
