"""Keystores and truststores of Java's three kinds as PEM text, which is all that librdkafka is ever given.

As text, because the settings travel to Spark's executors, which have none of this machine's files. What a file is, is
told by its first bytes: since Java 9 keytool writes PKCS12 whatever the name ends in, and Java reads either.
"""

from __future__ import annotations

import base64
import re
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mirror.config import jks

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

_JCEKS_MAGIC = b"\xce\xce\xce\xce"
_DER_SEQUENCE = b"\x30"
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_CERTIFICATES = ("CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")


class StoreRefused(Exception):
    """A store that gives nothing; `part` is the option's last word that is to be corrected: password, location ..."""

    def __init__(self, part: str, why: str) -> None:
        super().__init__(why)
        self.part = part


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A client's key, no longer under a password, and its certificates, its own first."""

    key: str = field(repr=False)
    chain: str = field(repr=False)


def kind_of(data: bytes) -> str:
    """JKS, JCEKS, PKCS12 or PEM by the first bytes; empty for anything else."""
    if data.startswith(jks.MAGIC):
        return "JKS"
    if data.startswith(_JCEKS_MAGIC):
        return "JCEKS"
    if b"-----BEGIN " in data:
        return "PEM"
    return "PKCS12" if data.startswith(_DER_SEQUENCE) else ""


def trusted(data: bytes, password: str) -> str:
    """The certificates that a truststore trusts."""
    kind = _readable(data)
    if kind == "PEM":
        return certificates(data.decode("utf-8", "replace"))
    if kind == "JKS":
        found = list(_java_store(data, password).trusted)
    else:
        from cryptography.hazmat.primitives.serialization import Encoding

        store = _pkcs12(data, password)
        found = [each.certificate.public_bytes(Encoding.DER) for each in store.additional_certs]
    if not found:
        raise StoreRefused("location", "holds no trusted certificate")
    return "".join(_pem("CERTIFICATE", der) for der in found)


def identity(data: bytes, password: str, key_password: str) -> Identity:
    """The first private key of a keystore with its certificates; without a key password the store's own is used."""
    kind = _readable(data)
    if kind == "PEM":
        text = data.decode("utf-8", "replace")
        return Identity(key=private_key(text, key_password), chain=certificates(text))
    if kind == "PKCS12":
        return _pkcs12_identity(_pkcs12(data, password))
    keys = _java_store(data, password).keys
    if not keys:
        raise StoreRefused("location", "holds no private key")
    try:
        opened = keys[0].open(key_password or password)
    except jks.WrongKeyPassword:
        raise StoreRefused("key.password", f"does not open the key {keys[0].alias}") from None
    except jks.BrokenStore:
        raise StoreRefused("location", f"has a key {keys[0].alias} that cannot be read") from None
    chain = "".join(_pem("CERTIFICATE", der) for der in keys[0].chain)
    return Identity(key=_pem("PRIVATE KEY", opened), chain=chain)


def certificates(text: str) -> str:
    """The certificates of PEM text, in lines as OpenSSL wants them: Java also reads them all on one line."""
    found = [_lines(match) for match in _BLOCK.finditer(text) if match[1] in _CERTIFICATES]
    if not found:
        raise StoreRefused("location", "holds no certificate in PEM")
    return "".join(found)


def private_key(text: str, password: str) -> str:
    """The private key of PEM text, opened where it is under a password."""
    found = next((match for match in _BLOCK.finditer(text) if match[1].endswith("PRIVATE KEY")), None)
    if found is None:
        raise StoreRefused("location", "holds no private key in PEM")
    block = _lines(found)
    if "ENCRYPTED" not in block:
        return block
    from cryptography.hazmat.primitives import serialization as forms

    if not password:
        raise StoreRefused("key.password", "is missing: the key is under a password")
    try:
        key = forms.load_pem_private_key(block.encode(), password.encode())
    except (ValueError, TypeError):
        raise StoreRefused("key.password", "does not open the key") from None
    opened = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    return opened.decode()


def _readable(data: bytes) -> str:
    kind = kind_of(data)
    if kind == "JCEKS":
        raise StoreRefused("location", "is a JCEKS store; convert it: keytool -importkeystore -deststoretype PKCS12")
    if not kind:
        raise StoreRefused("location", "is neither JKS nor PKCS12 nor PEM")
    return kind


def _java_store(data: bytes, password: str) -> jks.JavaKeyStore:
    try:
        return jks.read(data, password)
    except jks.WrongStorePassword:
        raise StoreRefused("password", "is not the store's, or the store is damaged") from None
    except jks.BrokenStore:
        raise StoreRefused("location", "is damaged") from None


def _pkcs12(data: bytes, password: str) -> PKCS12KeyAndCertificates:
    from cryptography.hazmat.primitives.serialization import pkcs12

    try:
        return pkcs12.load_pkcs12(data, password.encode() if password else None)
    except ValueError:
        why = "is not the store's, or the store is damaged" if password else "is missing: the store is under one"
        raise StoreRefused("password", why) from None


def _pkcs12_identity(store: PKCS12KeyAndCertificates) -> Identity:
    from cryptography.hazmat.primitives import serialization as forms

    if store.key is None or store.cert is None:
        raise StoreRefused("location", "holds no private key with a certificate")
    key = store.key.private_bytes(forms.Encoding.DER, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    chain = [each.certificate.public_bytes(forms.Encoding.DER) for each in (store.cert, *store.additional_certs)]
    return Identity(key=_pem("PRIVATE KEY", key), chain="".join(_pem("CERTIFICATE", der) for der in chain))


def _pem(label: str, der: bytes) -> str:
    body = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"


def _lines(block: re.Match[str]) -> str:
    """One PEM block, its base64 in lines; an old key's headers are left where they stand."""
    label, body = block[1], block[2]
    if ":" in body:
        return f"{block[0]}\n"
    inner = "\n".join(textwrap.wrap("".join(body.split()), 64))
    return f"-----BEGIN {label}-----\n{inner}\n-----END {label}-----\n"
