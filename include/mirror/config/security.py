"""Java's `security.protocol`, `ssl.*` and `sasl.*` in librdkafka's words: stores as text, logins, tokens.

Nothing of it is asked for before a client is made: no provider, and no store but those that the protocol uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from mirror.config import stores
from mirror.config.client_options import SECURITY_WITHOUT_COUNTERPART, Value
from mirror.config.jaas import JaasRefused, login_options
from mirror.config.problems import Findings
from mirror.config.providers import resolve
from mirror.config.scopes import Setting
from mirror.config.stores import StoreRefused
from mirror.errors import ConfigurationRefused

Translated = tuple[str, Value, str]  # librdkafka's name, the value, the Java option it came from


class Words(Mapping[str, str]):
    """The Java options of one client of one cluster; a provider is asked when a value is."""

    def __init__(self, properties: Mapping[str, Setting], settings: Mapping[str, Setting], cluster: str) -> None:
        self.cluster = cluster
        self._properties, self._settings = properties, settings

    def __getitem__(self, name: str) -> str:
        return resolve(self._properties[name], self._settings).strip()

    def __iter__(self) -> Iterator[str]:
        return iter(self._properties)

    def __len__(self) -> int:
        return len(self._properties)

    def __contains__(self, name: object) -> bool:
        return name in self._properties

    def refusal(self, option: str, why: str, next_step: str = "") -> ConfigurationRefused:
        """Names the option as the file writes it, with its line; an option that is not there by its cluster."""
        setting = self._properties.get(option)
        where = f"{setting.origin}: {setting.origin.key}" if setting else f"{option} of cluster {self.cluster}"
        return ConfigurationRefused(
            f"{where} {why}", next_step=next_step or f"correct {option} of cluster {self.cluster}",
            cluster=self.cluster, option=option,
        )  # fmt: skip


def translate(words: Words, origins: Mapping[str, Setting], findings: Findings) -> Iterator[Translated]:
    """The security settings of one client."""
    for name, why in SECURITY_WITHOUT_COUNTERPART.items():
        if name in origins:
            findings.note(origins[name].origin, f"no effect: {why}")
    protocol = words.get("security.protocol", "PLAINTEXT").upper()
    yield "security.protocol", protocol.lower(), "security.protocol"
    if protocol.endswith("SSL"):
        yield from _ssl(words)
    if protocol.startswith("SASL"):
        yield from _sasl(words, origins, findings)


def _ssl(words: Words) -> Iterator[Translated]:
    if (trusted := _trusted(words, words)) is not None:
        yield "ssl.ca.pem", *trusted
    yield from _identity(words)
    name = "ssl.endpoint.identification.algorithm"
    if name in words:
        yield name, "https" if words[name].lower() == "https" else "none", name


def _trusted(words: Words, options: Mapping[str, str]) -> tuple[str, str] | None:
    """What the truststore that the options name holds, and the option that named it."""
    inline, location = "ssl.truststore.certificates", "ssl.truststore.location"
    try:
        if inline in options:
            return stores.certificates(options[inline]), inline
        if options.get(location):
            data = _contents(words, location, options[location])
            return stores.trusted(data, options.get("ssl.truststore.password", "")), location
    except StoreRefused as error:
        raise _refused(words, "truststore", inline if inline in options else "", error) from None
    return None


def _identity(words: Words) -> Iterator[Translated]:
    key, chain, location = "ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.keystore.location"
    option = ""
    try:
        if key in words:
            option = key
            found = stores.private_key(words[key], words.get("ssl.key.password", ""))
            yield "ssl.key.pem", found, key
            if chain in words:
                option = chain
                yield "ssl.certificate.pem", stores.certificates(words[chain]), chain
        elif words.get(location):
            passwords = (words.get("ssl.keystore.password", ""), words.get("ssl.key.password", ""))
            identity = stores.identity(_contents(words, location, words[location]), *passwords)
            yield "ssl.key.pem", identity.key, location
            yield "ssl.certificate.pem", identity.chain, location
    except StoreRefused as error:
        raise _refused(words, "keystore", option, error) from None


def _refused(words: Words, store: str, inline: str, error: StoreRefused) -> ConfigurationRefused:
    """The refusal under the name of the option that is to be corrected."""
    if error.part == "key.password":
        option = "ssl.key.password"
    elif inline:
        option = inline
    else:
        option = f"ssl.{store}.{error.part}"
    where = words.get(f"ssl.{store}.location", "")
    of = f" ({store} {where})" if where and not inline else ""
    return words.refusal(option, f"{error}{of}", f"correct it, then: airmirror config shows cluster {words.cluster}'s")


def _contents(words: Words, option: str, location: str) -> bytes:
    """The store's bytes; a path that ends in `_`, as a guide's markup left it, is read without if only that exists."""
    path = Path(location)
    if not path.exists() and path.name.endswith("_") and path.with_name(path.name[:-1]).exists():
        path = path.with_name(path.name[:-1])
    try:
        return path.read_bytes()
    except FileNotFoundError:
        why = f"names {path}, and there is no such file"
    except OSError as error:
        why = f"names {path}, which cannot be read: {error.strerror}"
    raise words.refusal(option, why, f"put the store there, or change {option} of cluster {words.cluster}")


def _sasl(words: Words, origins: Mapping[str, Setting], findings: Findings) -> Iterator[Translated]:
    mechanism = words.get("sasl.mechanism", "GSSAPI").upper()
    yield "sasl.mechanism", mechanism, "sasl.mechanism"
    try:
        login = login_options(words.get("sasl.jaas.config", ""))
    except JaasRefused as error:
        raise words.refusal("sasl.jaas.config", str(error)) from None
    if mechanism == "GSSAPI":
        yield from _kerberos(words, login)
    elif mechanism == "OAUTHBEARER":
        yield from _oauth(words, login)
    else:
        yield from _user(words, login, mechanism)
        if login.get("tokenauth", "").lower() == "true":
            findings.warn(origins["sasl.jaas.config"].origin, "delegation tokens have no counterpart; used as a login")


def _user(words: Words, login: Mapping[str, str], mechanism: str) -> Iterator[Translated]:
    if "username" not in login or "password" not in login:
        raise words.refusal(
            "sasl.jaas.config",
            f"has no username and password, which sasl.mechanism {mechanism} needs",
            'set sasl.jaas.config = <login module> required username="..." password="...";',
        )
    yield "sasl.username", login["username"], "sasl.jaas.config"
    yield "sasl.password", login["password"], "sasl.jaas.config"


def _kerberos(words: Words, login: Mapping[str, str]) -> Iterator[Translated]:
    service = words.get("sasl.kerberos.service.name") or login.get("serviceName")
    if service:
        yield "sasl.kerberos.service.name", service, "sasl.kerberos.service.name"
    if "principal" in login:
        yield "sasl.kerberos.principal", login["principal"], "sasl.jaas.config"
    if "keyTab" in login:
        yield "sasl.kerberos.keytab", login["keyTab"], "sasl.jaas.config"
    name = "sasl.kerberos.min.time.before.relogin"
    if name in words:
        yield name, int(words[name]), name


def _oauth(words: Words, login: Mapping[str, str]) -> Iterator[Translated]:
    subject, endpoint = login.get("unsecuredLoginStringClaim_sub"), "sasl.oauthbearer.token.endpoint.url"
    if subject and endpoint not in words:
        yield "enable.sasl.oauthbearer.unsecure.jwt", True, "sasl.jaas.config"
        yield "sasl.oauthbearer.config", f"principal={subject}", "sasl.jaas.config"
        return
    if not words.get(endpoint, "").startswith(("http://", "https://")):
        raise words.refusal(
            endpoint, "must be the http or https address of the identity provider's token endpoint: the client gets "
            "its tokens there with its id and secret (client credentials), and from nowhere else",
            f"set {endpoint} = https://... of cluster {words.cluster}",
        )  # fmt: skip
    yield "sasl.oauthbearer.method", "oidc", "sasl.mechanism"
    yield endpoint, words[endpoint], endpoint
    credentials = "sasl.oauthbearer.client.credentials.client"
    for target, option, word in (
        ("sasl.oauthbearer.client.id", f"{credentials}.id", "clientId"),
        ("sasl.oauthbearer.client.secret", f"{credentials}.secret", "clientSecret"),
        ("sasl.oauthbearer.scope", "sasl.oauthbearer.scope", "scope"),
    ):
        if option in words:
            yield target, words[option], option
        elif word in login:
            yield target, login[word], "sasl.jaas.config"
        elif word != "scope":
            raise words.refusal(option, f"is missing, and sasl.jaas.config has no {word} either")
    extensions = [f"{name[10:]}={value}" for name, value in login.items() if name.startswith("extension_")]
    if extensions:
        yield "sasl.oauthbearer.extensions", ",".join(extensions), "sasl.jaas.config"
    if (trusted := _trusted(words, login)) is not None:
        # As in Java, whom to trust at the endpoint stands in the JAAS line: it is not the brokers' authority as a rule.
        yield "https.ca.pem", trusted[0], "sasl.jaas.config"
