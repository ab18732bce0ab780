"""Security options: stores, logins and tokens in librdkafka's words, secrets nowhere else."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from mirror.config import Flow, Secret
from mirror.config.configuration import parse
from mirror.config.secrets import MASK, is_secret, shown
from mirror.config.security import login_options, store_type
from mirror.errors import PersonMustAct

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
    with pytest.raises(PersonMustAct, match=r"cluster A needs sasl.jaas.config"):
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


def test_pem_stores_become_what_librdkafka_reads(tmp_path: Path) -> None:
    authority, identity = tmp_path / "ca.pem", tmp_path / "me.pem"
    authority.touch()
    identity.touch()
    assert source(
        "A.security.protocol = SSL",
        f"A.ssl.truststore.location = {authority}",
        "A.ssl.keystore.type = PEM",
        f"A.ssl.keystore.location = {identity}",
        "A.ssl.key.password = p",
        "A.ssl.endpoint.identification.algorithm =",
    ) == {
        "security.protocol": "ssl",
        "ssl.ca.location": str(authority),
        "ssl.key.location": str(identity),
        "ssl.certificate.location": str(identity),
        "ssl.key.password": "p",
        "ssl.endpoint.identification.algorithm": "none",
    }
    assert source(
        "A.security.protocol = SSL",
        "A.ssl.truststore.certificates = CA",
        "A.ssl.keystore.key = KEY",
        "A.ssl.keystore.certificate.chain = CHAIN",
    ) == {"security.protocol": "ssl", "ssl.ca.pem": "CA", "ssl.key.pem": "KEY", "ssl.certificate.pem": "CHAIN"}


def test_a_pkcs12_keystore_is_handed_on_and_read_without_the_underscore_that_markup_left(tmp_path: Path) -> None:
    store = tmp_path / "me.p12"
    store.touch()
    found = source("A.security.protocol = SSL", f"A.ssl.keystore.location = {store}_", "A.ssl.keystore.password = p")
    assert (found["ssl.keystore.location"], found["ssl.keystore.password"]) == (str(store), "p")


@pytest.mark.parametrize("side", ["truststore", "keystore"])
def test_a_jks_store_is_refused_with_the_way_out_when_a_client_is_made(tmp_path: Path, side: str) -> None:
    store = tmp_path / "store.jks"
    store.touch()
    found = flow("A.security.protocol = SSL", f"A.ssl.{side}.location = {store}")
    assert found.consumer_settings("target")  # the other cluster is not held up
    with pytest.raises(PersonMustAct, match=r"JKS store") as caught:
        found.consumer_settings("source")
    assert f"ssl.{side}.type" in caught.value.next_step


def test_a_missing_store_is_named_when_a_client_is_made() -> None:
    with pytest.raises(PersonMustAct, match=r"no file /none/ca.pem"):
        flow("A.security.protocol = SSL", "A.ssl.truststore.location = /none/ca.pem").admin_settings("source")


def test_stores_of_a_plaintext_cluster_are_not_asked_for() -> None:
    assert source("A.ssl.truststore.location = /none/ca.jks") == {"security.protocol": "plaintext"}


@pytest.mark.parametrize(
    ("location", "declared", "kind"),
    [("a.pem", "", "PEM"), ("a.p12", "", "PKCS12"), ("a.jks_", "", "JKS"), ("a", "", "JKS"), ("a.jks", "pem", "PEM")],
)
def test_a_stores_kind_is_declared_or_told_by_its_name(location: str, declared: str, kind: str) -> None:
    assert store_type(location, declared) == kind


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
