"""Throw-away TLS certificates for a cluster on loopback, as PEM files that Java and librdkafka both read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """An authority and what it signed; `server` and `client` hold the key and the certificate in one file."""

    authority: Path
    server: Path
    client: Path


def make_certificates(directory: Path, *, client_name: str = "client") -> Certificates:
    """Sign a server's certificate for loopback and a client's, both by an authority made for them."""
    directory.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    authority = _certificate("airmirror test authority", key, issuer=None, issuer_key=key)
    made = Certificates(
        authority=directory / "authority.pem", server=directory / "server.pem", client=directory / "client.pem"
    )
    made.authority.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    for path, name in ((made.server, "localhost"), (made.client, client_name)):
        own_key = ec.generate_private_key(ec.SECP256R1())
        signed = _certificate(name, own_key, issuer=authority, issuer_key=key)
        path.touch(mode=0o600)
        path.write_bytes(_key_pem(own_key) + signed.public_bytes(serialization.Encoding.PEM))
    return made


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    *,
    issuer: x509.Certificate | None,
    issuer_key: ec.EllipticCurvePrivateKey,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    loopback = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(loopback), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
