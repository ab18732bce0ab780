"""What a broken connection means: librdkafka takes a refused login or certificate for one more of them, and retries.

Its words are the only sign, so they are read here and nowhere else; tests/integration/test_refusals.py holds them
against real brokers.
"""

from __future__ import annotations

from dataclasses import dataclass

from mirror.errors import ClusterUnreachable, CredentialsRefused, MirrorError

# What the client logs, and tells nobody, when a broker closes a connection: what it does with a protocol not its own.
CLOSED = "closed by peer"


@dataclass(frozen=True, slots=True)
class _Meaning:
    """Words of the client's, what they mean, and which option of the cluster to look at.

    `sure`: a broker or TLS itself said no. Else it looks like a listener of another protocol, but a broker that goes
    down, or a proxy without one, looks the same: another try may succeed.
    """

    words: tuple[str, ...]
    meaning: str
    option: str
    sure: bool = True


_MEANINGS = (
    _Meaning(("Unsupported SASL mechanism",), "its brokers do not offer the mechanism", "sasl.mechanism"),
    _Meaning(("not valid in current SASL state",), "this listener wants no login", "security.protocol"),
    _Meaning(
        ("OAUTHBEARER token", "OIDC"),
        "no token came from the identity provider",
        "sasl.oauthbearer.token.endpoint.url, client id and secret",
    ),
    _Meaning(("SASL", "Authentication failed"), "its brokers refused the login", "sasl.jaas.config"),
    _Meaning(
        ("certificate verify failed",),
        "the broker's certificate is not signed by an authority of the truststore, or is for another host",
        "ssl.truststore.location",
    ),
    _Meaning(("alert",), "the broker refused the certificate that we showed, or wants one", "ssl.keystore.location"),
    _Meaning(("wrong version number",), "this listener does not speak TLS", "security.protocol"),
    _Meaning(("PLAINTEXT broker listener",), "perhaps this listener does not speak TLS", "security.protocol", False),
    _Meaning(
        (CLOSED,),
        "the connection is closed at once: perhaps this listener wants TLS or a login",
        "security.protocol",
        False,
    ),
)


def meaning_of(code: str, text: str, action: str, cluster: str) -> MirrorError | None:
    """The error for what a connection said; None where it says nothing about credentials or protocol."""
    if code not in ("_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED", "_SSL", "_TRANSPORT"):
        return None
    found = next((meaning for meaning in _MEANINGS if any(words in text for words in meaning.words)), None)
    if found is None and code == "_TRANSPORT":
        return None
    option = found.option if found else "security.protocol"
    why = f": {found.meaning}" if found else ""
    message = f"could not {action} on cluster {cluster}{why}: {text}"
    if found is None or found.sure:
        next_step = f"correct {cluster}.{option} (docs/credentials.md), then run this again"
        return CredentialsRefused(message, next_step=next_step, cluster=cluster, code=code)
    next_step = f"look at {cluster}.{option} (docs/credentials.md), and that its brokers are up, then run this again"
    return ClusterUnreachable(message, next_step=next_step, cluster=cluster, code=code)
