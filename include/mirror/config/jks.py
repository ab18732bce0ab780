"""Java's own keystore format, JKS, read without Java: certificates, and private keys under their password.

    u4 0xFEEDFEED   u4 version   u4 number of entries
    entry: u4 kind   utf alias   u8 time   then
        kind 1: u4 size, sealed key;  u4 number of certificates, each: utf type (version 2), u4 size, DER
        kind 2: one certificate
    20 bytes: SHA-1 of the store's password, a phrase, and all that stands before

A private key is sealed with a key stream that SHA-1 makes of its password: salt, sealed bytes, SHA-1 of password and
key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

MAGIC = b"\xfe\xed\xfe\xed"
_PHRASE = b"Mighty Aphrodite"
_DIGEST_BYTES = 20
_PRIVATE_KEY, _TRUSTED = 1, 2


class BrokenStore(Exception):
    """The bytes are not what the format says."""


class WrongStorePassword(Exception):
    """The store's digest was made with another password, or the file was changed since."""


class WrongKeyPassword(Exception):
    """The key was sealed with another password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateKeyEntry:
    """A key that is still sealed, and its certificates in DER, the key's own first."""

    alias: str
    sealed: bytes = field(repr=False)
    chain: tuple[bytes, ...] = field(repr=False)

    def open(self, password: str) -> bytes:
        """The key as PKCS#8 in DER."""
        secret = password.encode("utf-16-be")
        box = _octets(self.sealed)
        salt, hidden, check = box[:_DIGEST_BYTES], box[_DIGEST_BYTES:-_DIGEST_BYTES], box[-_DIGEST_BYTES:]
        key = bytes(byte ^ mask for byte, mask in zip(hidden, _stream(secret, salt), strict=False))
        if _sha1(secret + key) != check:
            raise WrongKeyPassword
        return key


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaKeyStore:
    """What a store holds."""

    keys: tuple[PrivateKeyEntry, ...]
    trusted: tuple[bytes, ...]


def read(data: bytes, password: str) -> JavaKeyStore:
    """All entries; an empty password leaves the store's digest unchecked, as Java does."""
    body, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if password and _sha1(password.encode("utf-16-be") + _PHRASE + body) != digest:
        raise WrongStorePassword
    reader = _Reader(body)
    if reader.take(4) != MAGIC or (version := reader.number(4)) not in (1, 2):
        raise BrokenStore
    keys: list[PrivateKeyEntry] = []
    trusted: list[bytes] = []
    for _ in range(reader.number(4)):
        kind, alias, _made_at = reader.number(4), reader.text(), reader.number(8)
        if kind == _PRIVATE_KEY:
            sealed = reader.take(reader.number(4))
            chain = tuple(reader.certificate(version) for _ in range(reader.number(4)))
            keys.append(PrivateKeyEntry(alias=alias, sealed=sealed, chain=chain))
        elif kind == _TRUSTED:
            trusted.append(reader.certificate(version))
        else:
            raise BrokenStore
    return JavaKeyStore(keys=tuple(keys), trusted=tuple(trusted))


class _Reader:
    """Takes big-endian fields from the front of bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) != size:
            raise BrokenStore
        self._at += size
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def text(self) -> str:
        return self.take(self.number(2)).decode("utf-8", "replace")

    def certificate(self, version: int) -> bytes:
        if version == 2:
            self.text()  # its type: Java has no other than X.509
        return self.take(self.number(4))


def _octets(sealed: bytes) -> bytes:
    """The last field of `SEQUENCE { SEQUENCE { algorithm }, OCTET STRING }`."""
    body, _ = _der(sealed, 0x30)
    _, rest = _der(body, 0x30)
    octets, _ = _der(rest, 0x04)
    if len(octets) < 2 * _DIGEST_BYTES:
        raise BrokenStore
    return octets


def _der(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The contents of the first DER value, which must have this tag, and what follows it."""
    if len(data) < 2 or data[0] != tag:
        raise BrokenStore
    start, size = 2, data[1]
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(data[2:start], "big")
    if start + size > len(data):
        raise BrokenStore
    return data[start : start + size], data[start + size :]


def _stream(secret: bytes, salt: bytes) -> Iterator[int]:
    block = salt
    while True:
        block = _sha1(secret + block)
        yield from block


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()
