"""Answers `${provider:path:key}` expressions, no earlier than a value is used and on the machine that uses it.

`file`, `dir` and `env` are Kafka's three providers; `airflow` asks for a Connection of Airflow's. They are there
without a line in the file. Where the file has MM2's lines (`config.providers = secrets`,
`config.providers.secrets.class = ...FileConfigProvider`), the names it gives them count too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mirror.config import properties
from mirror.config.placeholders import EXPRESSION, has_expression
from mirror.config.problems import did_you_mean
from mirror.config.scopes import Setting
from mirror.errors import ConfigurationRefused

Lookup = Callable[[str, str], str]  # the connection's id and a field of it; raises NoAnswer

_PACKAGE = "org.apache.kafka.common.config.provider."
_CLASSES = {"FileConfigProvider": "file", "DirectoryConfigProvider": "dir", "EnvVarConfigProvider": "env"}
KINDS = ("file", "dir", "env", "airflow")


class NoAnswer(Exception):
    """A provider was asked and has no such value; says why and, where there is a way, which."""

    def __init__(self, why: str, next_step: str = "") -> None:
        super().__init__(why)
        self.next_step = next_step


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """One provider of the file: what kind it is, and the parameters that narrow it."""

    kind: str
    allowed_paths: tuple[Path, ...] = ()
    allowed_names: str = ""


def resolve(setting: Setting, settings: Mapping[str, Setting]) -> str:
    """The value with its expressions answered; `settings` has the file's lines about providers."""
    if not has_expression(setting.text):
        return setting.text

    def answer(match: re.Match[str]) -> str:
        try:
            provider = _find(match[1], settings)
            return _ASK[provider.kind](provider, match[3] or "", match[4])
        except NoAnswer as error:
            origin = setting.origin
            raise ConfigurationRefused(
                f"{origin}: {origin.key}: {match[0]}: {error}",
                next_step=error.next_step or f"correct line {origin.line} of {origin.file}, or what it names",
                option=origin.key,
            ) from None

    return EXPRESSION.sub(answer, setting.text)


def literal(setting: Setting | None) -> str | None:
    """The value where it stands in the file itself; None where only a provider knows it, or no line sets it."""
    return None if setting is None or has_expression(setting.text) else setting.text


def connections_in(settings: Mapping[str, Setting]) -> set[tuple[str, str]]:
    """Every Connection and field that these settings would ask Airflow for."""
    matches = (match for setting in settings.values() for match in EXPRESSION.finditer(setting.text))
    return {_connection(m[3] or "", m[4]) for m in matches if m[1] == "airflow"}


def _connection(path: str, key: str) -> tuple[str, str]:
    return (path, key) if path else (key, "password")


def _find(name: str, settings: Mapping[str, Setting]) -> _Provider:
    declared = settings.get(f"config.providers.{name}.class")
    if declared is None:
        if name not in KINDS:
            known = sorted({*KINDS, *_declared(settings)})
            raise NoAnswer(
                f"there is no provider {name}{did_you_mean(name, known)}", f"use one of {', '.join(known)}: "
                "docs/credentials.md shows each"
            )  # fmt: skip
        return _Provider(kind=name)
    kind = _CLASSES.get(declared.text.strip().removeprefix(_PACKAGE), "")
    if not kind:
        raise NoAnswer(
            f"provider {name} is the Java class {declared.text}, which cannot run here",
            "give the value as a file (${file:...}, ${dir:...}), a variable (${env:...}) or a Connection "
            "(${airflow:...}, behind which Airflow asks vaults): docs/credentials.md shows each",
        )
    return _Provider(
        kind=kind,
        allowed_paths=tuple(Path(each) for each in _list(settings, f"config.providers.{name}.param.allowed.paths")),
        allowed_names=_text(settings, f"config.providers.{name}.param.allowlist.pattern"),
    )


def is_known_provider(class_name: str) -> bool:
    """Whether it is one of Kafka's three."""
    return class_name.strip().removeprefix(_PACKAGE) in _CLASSES


def _declared(settings: Mapping[str, Setting]) -> list[str]:
    return _list(settings, "config.providers")


def _list(settings: Mapping[str, Setting], name: str) -> list[str]:
    return [each.strip() for each in _text(settings, name).split(",") if each.strip()]


def _text(settings: Mapping[str, Setting], name: str) -> str:
    return settings[name].text.strip() if name in settings else ""


def _from_file(provider: _Provider, path: str, key: str) -> str:
    """One key of a properties file; Kafka's provider reads it as UTF-8, unlike MM2's own file."""
    try:
        found = {entry.key: entry.value for entry in properties.parse(_read(provider, path), "utf-8")}
    except UnicodeDecodeError:
        raise NoAnswer(f"{path} is not UTF-8") from None
    if key not in found:
        raise NoAnswer(f"{path} has no key {key}{did_you_mean(key, found)}", f"add {key}=... to {path}")
    return found[key]


def _from_directory(provider: _Provider, path: str, key: str) -> str:
    """One file of a directory, as secrets are mounted into containers; an editor's last line end is no part of it."""
    if not key or "/" in key or key in (".", ".."):
        raise NoAnswer(f'expected the name of a file in {path}, got "{key}"')
    text = _read(provider, str(Path(path) / key)).decode("utf-8", "replace")
    return re.sub(r"\r?\n\Z", "", text)


def _read(provider: _Provider, path: str) -> bytes:
    if not path:
        raise NoAnswer("expected a path: ${file:/path/to/file:key} or ${dir:/path/to/directory:file}")
    where = Path(path)
    if provider.allowed_paths and not any(where.resolve().is_relative_to(p.resolve()) for p in provider.allowed_paths):
        raise NoAnswer(f"{path} is not below what allowed.paths of its provider names")
    try:
        return where.read_bytes()
    except OSError as error:
        raise NoAnswer(f"cannot read {path}: {error.strerror}", f"put the file there, readable for {_me()}") from None


def _me() -> str:
    return f"the user that runs this (id {os.getuid()})" if hasattr(os, "getuid") else "the user that runs this"


def _from_environment(provider: _Provider, path: str, key: str) -> str:
    if provider.allowed_names and not re.fullmatch(provider.allowed_names, key):
        raise NoAnswer(f"variable {key} is not among what allowlist.pattern of its provider names")
    if key not in os.environ:
        raise NoAnswer(f"there is no environment variable {key}", f"set {key} for the process that runs this")
    return os.environ[key]


def _from_airflow(provider: _Provider, path: str, key: str) -> str:
    """`${airflow:CONNECTION}` is its password, `${airflow:CONNECTION:field}` another field of it."""
    return _connections(*_connection(path, key))


def _nobody(connection: str, field: str) -> str:
    raise NoAnswer("nothing here can ask Airflow for a Connection")


_connections: Lookup = _nobody


def ask_for_connections(lookup: Lookup) -> None:
    """Say who knows Airflow's Connections in this process: a task asks Airflow, a Spark driver was told by its task."""
    global _connections  # one process has one such source, set when it starts
    _connections = lookup


_ASK: dict[str, Callable[[_Provider, str, str], str]] = {
    "file": _from_file,
    "dir": _from_directory,
    "env": _from_environment,
    "airflow": _from_airflow,
}
