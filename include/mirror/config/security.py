"""Java's `security.protocol`, `ssl.*` and `sasl.*` in librdkafka's words: stores, JAAS lines, OAuth clients."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mirror.config.client_options import SECURITY_WITHOUT_COUNTERPART, Value
from mirror.config.placeholders import resolve
from mirror.config.problems import Findings
from mirror.config.scopes import Setting
from mirror.errors import ConfigurationRefused

Translated = tuple[str, Value, str]  # librdkafka's name, the value, the Java option it came from

_LOGIN_OPTION = re.compile(r"""([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))""")


class SecurityRefused(ConfigurationRefused):
    """A store or a login that this machine cannot use."""


def translate(properties: Mapping[str, Setting], cluster: str, findings: Findings) -> Iterator[Translated]:
    """The security settings of one client; reads no store's contents, but looks whether it is there."""
    words = {name: resolve(setting.text).strip() for name, setting in properties.items()}
    for name, why in SECURITY_WITHOUT_COUNTERPART.items():
        if name in properties:
            findings.note(properties[name].origin, f"no effect: {why}")
    protocol = words.get("security.protocol", "PLAINTEXT").upper()
    yield "security.protocol", protocol.lower(), "security.protocol"
    if protocol.endswith("SSL"):
        yield from _ssl(words, cluster)
    if protocol.startswith("SASL"):
        yield from _sasl(words, properties, cluster, findings)


def _ssl(words: Mapping[str, str], cluster: str) -> Iterator[Translated]:
    yield from _truststore(words, cluster)
    yield from _keystore(words, cluster)
    name = "ssl.endpoint.identification.algorithm"
    if name in words:
        yield name, "https" if words[name].lower() == "https" else "none", name


def _truststore(words: Mapping[str, str], cluster: str) -> Iterator[Translated]:
    if "ssl.truststore.certificates" in words:
        yield "ssl.ca.pem", words["ssl.truststore.certificates"], "ssl.truststore.certificates"
    elif location := words.get("ssl.truststore.location"):
        kind = store_type(location, words.get("ssl.truststore.type", ""))
        path = _existing(location, "ssl.truststore.location", cluster)
        if kind != "PEM":
            raise _unreadable(path, kind, "truststore", cluster)
        yield "ssl.ca.location", path, "ssl.truststore.location"


def _keystore(words: Mapping[str, str], cluster: str) -> Iterator[Translated]:
    password = words.get("ssl.key.password")
    if "ssl.keystore.key" in words:
        yield "ssl.key.pem", words["ssl.keystore.key"], "ssl.keystore.key"
        if "ssl.keystore.certificate.chain" in words:
            yield "ssl.certificate.pem", words["ssl.keystore.certificate.chain"], "ssl.keystore.certificate.chain"
        if password:
            yield "ssl.key.password", password, "ssl.key.password"
    elif location := words.get("ssl.keystore.location"):
        kind = store_type(location, words.get("ssl.keystore.type", ""))
        path = _existing(location, "ssl.keystore.location", cluster)
        if kind == "JKS":
            raise _unreadable(path, kind, "keystore", cluster)
        if kind == "PKCS12":
            yield "ssl.keystore.location", path, "ssl.keystore.location"
            yield "ssl.keystore.password", words.get("ssl.keystore.password", ""), "ssl.keystore.password"
            return
        # A PEM keystore holds key and chain in one file; librdkafka reads each from where it is told.
        yield "ssl.key.location", path, "ssl.keystore.location"
        yield "ssl.certificate.location", path, "ssl.keystore.location"
        if password:
            yield "ssl.key.password", password, "ssl.key.password"


def store_type(location: str, declared: str) -> str:
    """PEM, PKCS12 or JKS: what the file says, else what the name ends in, else Java's default."""
    if declared:
        return declared.upper()
    suffix = Path(location.rstrip("_")).suffix.lower()
    if suffix in (".pem", ".crt", ".cer", ".key"):
        return "PEM"
    return "PKCS12" if suffix in (".p12", ".pfx", ".pkcs12") else "JKS"


def _existing(location: str, option: str, cluster: str) -> str:
    """The path to use; one that ends in `_`, as a guide's markup left it, is read without if only that exists."""
    if not Path(location).exists() and location.endswith("_") and Path(location[:-1]).exists():
        return location[:-1]
    if not Path(location).is_file():
        raise SecurityRefused(
            f"{option} of cluster {cluster}: there is no file {location}",
            next_step=f"put the store there, or change {option}",
            cluster=cluster,
        )
    return location


def _unreadable(path: str, kind: str, what: str, cluster: str) -> SecurityRefused:
    tool = "keytool -importkeystore -srckeystore" if kind == "JKS" else "openssl pkcs12 -nokeys -in"
    target = "PEM" if what == "truststore" else "PKCS12"
    return SecurityRefused(
        f"the {what} of cluster {cluster}, {path}, is a {kind} store, which librdkafka cannot read",
        next_step=f"convert it to {target} ({tool} {path} ...) and set ssl.{what}.type = {target}",
        cluster=cluster,
    )


def _sasl(
    words: Mapping[str, str], properties: Mapping[str, Setting], cluster: str, findings: Findings
) -> Iterator[Translated]:
    mechanism = words.get("sasl.mechanism", "GSSAPI").upper()
    yield "sasl.mechanism", mechanism, "sasl.mechanism"
    login = login_options(words.get("sasl.jaas.config", ""))
    if mechanism == "GSSAPI":
        yield from _kerberos(words, login)
    elif mechanism == "OAUTHBEARER":
        yield from _oauth(words, login)
    else:
        if "username" not in login or "password" not in login:
            raise SecurityRefused(
                f"sasl.mechanism {mechanism} of cluster {cluster} needs sasl.jaas.config with username and password",
                next_step='set sasl.jaas.config = <login module> required username="..." password="...";',
                cluster=cluster,
            )
        if login.get("tokenauth", "").lower() == "true":
            findings.warn(
                properties["sasl.jaas.config"].origin, "delegation tokens have no counterpart; used as a login"
            )
        yield "sasl.username", login["username"], "sasl.jaas.config"
        yield "sasl.password", login["password"], "sasl.jaas.config"


def login_options(jaas: str) -> dict[str, str]:
    """The options of a JAAS line: `module required name="value" ...;`."""
    found: dict[str, str] = {}
    for name, double, single, bare in _LOGIN_OPTION.findall(jaas):
        found[name] = re.sub(r"\\(.)", r"\1", double or single) or bare
    return found


def _kerberos(words: Mapping[str, str], login: Mapping[str, str]) -> Iterator[Translated]:
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


def _oauth(words: Mapping[str, str], login: Mapping[str, str]) -> Iterator[Translated]:
    subject = login.get("unsecuredLoginStringClaim_sub")
    if subject and "sasl.oauthbearer.token.endpoint.url" not in words:
        yield "enable.sasl.oauthbearer.unsecure.jwt", True, "sasl.jaas.config"
        yield "sasl.oauthbearer.config", f"principal={subject}", "sasl.jaas.config"
        return
    yield "sasl.oauthbearer.method", "oidc", "sasl.mechanism"
    for target, option, word in (
        ("sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.token.endpoint.url", ""),
        ("sasl.oauthbearer.client.id", "sasl.oauthbearer.client.credentials.client.id", "clientId"),
        ("sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret", "clientSecret"),
        ("sasl.oauthbearer.scope", "sasl.oauthbearer.scope", "scope"),
    ):
        if option in words:
            yield target, words[option], option
        elif word in login:
            yield target, login[word], "sasl.jaas.config"
    extensions = [f"{name[10:]}={value}" for name, value in login.items() if name.startswith("extension_")]
    if extensions:
        yield "sasl.oauthbearer.extensions", ",".join(extensions), "sasl.jaas.config"
