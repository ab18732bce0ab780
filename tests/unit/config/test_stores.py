"""Stores that Java's and OpenSSL's tools made: the same keys come out of each kind, and a wrong password is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from key_stores import KINDS, KeyStores, make_key_stores
from mirror.config import jks, stores
from mirror.config.stores import StoreRefused
from world.certificates import Certificates, make_certificates

BEGIN = "-----BEGIN CERTIFICATE-----"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> KeyStores:
    return make_key_stores(
        tmp_path_factory.mktemp("stores"), certificates, password='store "$1', key_password="the key' 2"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_keystore_gives_its_key_and_its_whole_chain(made: KeyStores, certificates: Certificates, kind: str) -> None:
    found = stores.identity(made.identity[kind].read_bytes(), made.password, made.key_password)
    key, _, certificate = certificates.client.read_text().partition(BEGIN)
    assert found.key == key
    assert found.chain == BEGIN + certificate + certificates.authority.read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_a_truststore_gives_its_authorities(made: KeyStores, certificates: Certificates, kind: str) -> None:
    assert stores.trusted(made.trust[kind].read_bytes(), made.password) == certificates.authority.read_text()


def test_a_jks_truststore_opens_without_a_password_as_in_java(made: KeyStores, certificates: Certificates) -> None:
    assert stores.trusted(made.trust["JKS"].read_bytes(), "") == certificates.authority.read_text()


@pytest.mark.parametrize(
    ("kind", "password", "key_password", "part"),
    [
        ("JKS", "wrong", "", "password"),
        ("JKS", None, "wrong", "key.password"),
        ("JKS", None, "", "key.password"),  # the store's own is tried
        ("PKCS12", "wrong", "", "password"),
        ("PKCS12", "", "", "password"),
        ("PEM", "", "wrong", "key.password"),
        ("PEM", "", "", "key.password"),
    ],
)
def test_a_wrong_password_names_the_option_and_no_password(
    made: KeyStores, kind: str, password: str | None, key_password: str, part: str
) -> None:
    store = made.identity[kind].read_bytes()
    with pytest.raises(StoreRefused) as caught:
        stores.identity(store, made.password if password is None else password, key_password)
    assert caught.value.part == part
    assert "wrong" not in str(caught.value)
    assert made.password not in str(caught.value)


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_a_truststore_under_another_password_is_refused(made: KeyStores, kind: str) -> None:
    with pytest.raises(StoreRefused, match="not the store's") as caught:
        stores.trusted(made.trust[kind].read_bytes(), "wrong")
    assert caught.value.part == "password"


def test_a_store_is_what_its_bytes_say_not_its_name(made: KeyStores) -> None:
    kinds = {kind: stores.kind_of(path.read_bytes()) for kind, path in made.identity.items()}
    assert kinds == {kind: kind for kind in KINDS}


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "neither JKS nor PKCS12 nor PEM"),
        (b"hello", "neither JKS nor PKCS12 nor PEM"),
        (b"\xce\xce\xce\xce rest", "JCEKS"),
        (jks.MAGIC + bytes(40), "damaged"),
        (jks.MAGIC + b"\0\0\0\2\0\0\0\1\0\0\0\1\0", "damaged"),
        (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "no certificate"),
    ],
)
def test_what_is_no_store_is_said(data: bytes, word: str) -> None:
    with pytest.raises(StoreRefused, match=word) as caught:
        stores.trusted(data, "")
    assert caught.value.part == "location"


def test_a_truststore_is_no_keystore_and_the_other_way_round(made: KeyStores) -> None:
    with pytest.raises(StoreRefused, match="no private key"):
        stores.identity(made.trust["JKS"].read_bytes(), made.password, "")
    with pytest.raises(StoreRefused, match="no private key"):
        stores.identity(made.trust["PKCS12"].read_bytes(), made.password, "")
    with pytest.raises(StoreRefused, match="no trusted certificate"):
        stores.trusted(made.identity["JKS"].read_bytes(), made.password)


def test_pem_on_one_line_gets_its_lines_back(certificates: Certificates) -> None:
    text = certificates.authority.read_text()
    assert stores.certificates(" ".join((text * 2).split())) == text * 2


def test_an_identity_prints_nothing_of_itself(made: KeyStores) -> None:
    found = stores.identity(made.identity["PKCS12"].read_bytes(), made.password, "")
    assert "PRIVATE" not in repr(found)


def test_a_damaged_store_is_not_read_in_part(made: KeyStores) -> None:
    data = bytearray(made.trust["JKS"].read_bytes())
    data[60] ^= 1
    with pytest.raises(StoreRefused, match="damaged"):
        stores.trusted(bytes(data), made.password)
    path = Path(made.trust["JKS"])
    assert stores.trusted(path.read_bytes(), made.password)
