"""The same keys in the three kinds of store that Java knows, made by Java's and OpenSSL's own tools."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from world.certificates import Certificates

KINDS = ("PEM", "PKCS12", "JKS")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStores:
    """A truststore and a keystore of each kind; JKS has a password of its own for the key, PEM only that one."""

    trust: dict[str, Path]
    identity: dict[str, Path]
    password: str
    key_password: str

    def lines(self, alias: str, kind: str, *, identity: bool = True) -> str:
        """The options of one cluster, as one would write them in mm2.properties."""
        found = [f"ssl.truststore.type = {kind}", f"ssl.truststore.location = {self.trust[kind]}"]
        if kind != "PEM":
            found.append(f"ssl.truststore.password = {self.password}")
        if identity:
            found += [f"ssl.keystore.type = {kind}", f"ssl.keystore.location = {self.identity[kind]}"]
            found += [f"ssl.keystore.password = {self.password}"] if kind != "PEM" else []
            found += [f"ssl.key.password = {self.key_password}"] if kind != "PKCS12" else []
        return "".join(f"{alias}.{line}\n" for line in found)


def make_key_stores(
    directory: Path, certificates: Certificates, *, password: str = "store-secret", key_password: str = "key-secret"
) -> KeyStores:
    """Stores of the client's key and chain, and of the authority."""
    directory.mkdir(parents=True, exist_ok=True)
    chain = directory / "chain.pem"
    chain.write_text(certificates.client.read_text() + certificates.authority.read_text())
    passwords = {**os.environ, "STORE_PASSWORD": password, "KEY_PASSWORD": key_password}

    def run(*command: str) -> None:
        done = subprocess.run(command, env=passwords, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    pem, p12, jks = (directory / f"identity.{end}" for end in ("pem", "p12", "jks"))
    run("openssl", "pkcs12", "-export", "-in", str(chain), "-name", "me", "-out", str(p12), "-passout",
        "env:STORE_PASSWORD")  # fmt: skip
    run("openssl", "pkcs8", "-topk8", "-in", str(certificates.client), "-out", str(pem), "-passout", "env:KEY_PASSWORD")
    pem.write_text(pem.read_text() + "".join(chain.read_text().partition("-----BEGIN CERTIFICATE-----")[1:]))
    run("keytool", "-importkeystore", "-srckeystore", str(p12), "-srcstorepass:env", "STORE_PASSWORD", "-srcalias",
        "me", "-destkeystore", str(jks), "-deststoretype", "JKS", "-deststorepass:env", "STORE_PASSWORD",
        "-destkeypass:env", "KEY_PASSWORD")  # fmt: skip
    trust = {"PEM": certificates.authority}
    for kind, name in (("PKCS12", "trust.p12"), ("JKS", "trust.jks")):
        trust[kind] = directory / name
        run("keytool", "-importcert", "-noprompt", "-alias", "authority", "-file", str(certificates.authority),
            "-keystore", str(trust[kind]), "-storetype", kind, "-storepass:env", "STORE_PASSWORD")  # fmt: skip
    return KeyStores(
        trust=trust,
        identity={"PEM": pem, "PKCS12": p12, "JKS": jks},
        password=password,
        key_password=key_password,
    )
