"""Reads every line of the file once: is its name known, is its value of the right kind, what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mirror.config import client_options, foreign
from mirror.config import options as opt
from mirror.config import types as t
from mirror.config.options import Option, Scope, Status
from mirror.config.placeholders import MAKES_DAGS, READ_RAW, has_expression
from mirror.config.problems import Findings, did_you_mean, nearest
from mirror.config.scopes import KINDS, OWN_CLASS_PREFIXES, TRANSFORM_PREFIXES, Scopes, Setting, is_security_name
from mirror.config.secrets import is_secret
from mirror.config.types import ValueMistake, ValueType

_TRAILING_COMMENT = re.compile(r"\s+#.*$", re.DOTALL)
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w -]*>")


def check_and_clean(scopes: Scopes, findings: Findings) -> None:
    """Tells what is wrong or doubtful, and leaves each value as it is to be understood, under today's name."""
    for scope in scopes.each():
        _rename_old(scope, findings)
    for name in list(scopes.top):
        _TopLevel(scopes.top, findings, scopes.clusters).check(name)
    for alias, settings in scopes.clusters.items():
        for name in list(settings):
            _Cluster(settings, findings, alias).check(name)
    for settings in scopes.flows.values():
        for name in list(settings):
            _FlowLevel(settings, findings).check(name)


def read_clusters(setting: Setting, findings: Findings) -> tuple[str, ...]:
    """The aliases; told and left out where one cannot be part of a topic's name."""
    text = clean(opt.CLUSTERS.name, setting, t.NON_EMPTY_LIST, findings)
    try:
        aliases = t.NON_EMPTY_LIST.parse(text, lambda message: findings.warn(setting.origin, message))
    except ValueMistake as mistake:
        findings.problem(setting.origin, str(mistake))
        return tuple(alias for alias in (part.strip() for part in text.split(",")) if alias)
    for alias in aliases:
        if not re.fullmatch(r"[a-zA-Z0-9._-]+", alias):
            findings.problem(setting.origin, f'expected aliases of letters, digits, . _ -, because they become part of '
                f'topic names, got "{alias}"')  # fmt: skip
    return aliases


def _rename_old(scope: dict[str, Setting], findings: Findings) -> None:
    for old in [name for name in scope if name in _OLD_NAMES]:
        setting, new = scope.pop(old), _OLD_NAMES[old]
        if new in scope:
            findings.warn(
                setting.origin, f"old name of {new}, which is set too (line {scope[new].origin.line}) and wins"
            )
        else:
            findings.warn(setting.origin, f"old name, which MM2 ignores since 4.0; understood as {new}")
            scope[new] = setting


_OLD_NAMES = {option.name: option.instead for option in foreign.FOREIGN if option.status is Status.OLD_NAME}


def clean(name: str, setting: Setting, type_: ValueType[Any], findings: Findings) -> str:
    """The value's text as it is to be understood; tells what had to be understood."""
    text, origin, secret = setting.text.strip(), setting.origin, is_secret(name)
    if setting.text != setting.text.rstrip():
        raw = name in READ_RAW and setting.text[:4].lower() == "true"
        told = findings.warn if raw or secret else findings.note
        told(origin, "ends with a blank, which MM2 reads as false here; understood as true" if raw
            else "ends with a blank, which is ignored")  # fmt: skip
    if _TRAILING_COMMENT.search(text):
        if type_.is_free_text:
            findings.warn(origin, "has a # behind a blank, which begins no comment here: it is part of the value")
        else:
            text = _TRAILING_COMMENT.sub("", text)
            findings.warn(origin, "a comment cannot follow a value on its line, MM2 reads it as part of the value; "
                "understood without it")  # fmt: skip
    unquoted = t.strip_quotes(text)
    if unquoted != text and secret:
        # A file that works with MM2 has the quotes in the password itself.
        findings.warn(origin, "the quotes around it are part of the value, as in MM2")
    elif unquoted != text:
        text = unquoted.strip()
        findings.warn(origin, "quotes are no syntax of this file, MM2 reads them as part of the value; "
            "understood without them")  # fmt: skip
    if type_ is not t.REGEX_LIST and _PLACEHOLDER.search(text):
        findings.warn(origin, "looks like a placeholder that was not filled in")
    return text


class _Level:
    """What the three scopes have in common."""

    def __init__(self, settings: dict[str, Setting], findings: Findings) -> None:
        self.settings = settings
        self.findings = findings

    def check_value(self, name: str, type_: ValueType[Any]) -> None:
        """Cleans the value in place and tells when it is not of its type."""
        setting = self.settings[name]
        text = clean(name, setting, type_, self.findings)
        self.settings[name] = Setting(text=text, origin=setting.origin)
        if has_expression(text):
            if name in READ_RAW:
                self.findings.problem(setting.origin, "expected true or false itself: it decides which flows exist")
            elif name in MAKES_DAGS:
                self.findings.problem(setting.origin, "expected the value itself: Dags are made from it, and no "
                    "provider is asked when they are")  # fmt: skip
            return
        if type_ is t.BOOTSTRAP and _PLACEHOLDER.search(text):
            return
        try:
            type_.parse(text, lambda message: self.findings.warn(setting.origin, message))
        except ValueMistake as mistake:
            got = "" if is_secret(name) or not str(mistake).startswith("expected") else f', got "{text}"'
            self.findings.problem(setting.origin, f"{mistake}{got}")

    def check_option(self, name: str, option: Option[Any]) -> None:
        origin = self.settings[name].origin
        if option.status is Status.NEVER:
            instead = f"; the option is {option.instead}" if option.instead else ""
            self.findings.warn(origin, f"no MM2 ever had this option, though guides name it; ignored{instead}")
        elif option.status is Status.REMOVED:
            self.findings.warn(origin, "was removed from MM2; ignored")
        else:
            self.check_value(name, option.type)
            if option.status is Status.NO_EFFECT:
                self.findings.note(origin, f"no effect in airmirror: {option.help}")

    def check_security(self, name: str) -> None:
        if name == "bootstrap.servers":
            self.check_value(name, t.BOOTSTRAP)
        else:
            self._check_security_value(name, name)

    def _check_security_value(self, key: str, name: str) -> None:
        if name in client_options.SECURITY:
            self.check_value(key, client_options.SECURITY[name])
        elif name in client_options.SECURITY_WITHOUT_COUNTERPART:
            self.check_value(key, t.STRING)
        else:
            self.unknown(key, client_options.SECURITY, name)

    def check_client(self, kind: str, prefix: str, key: str) -> None:
        """One option of a Java client, `key` being the prefix and its name."""
        name = key[len(prefix) :]
        option = client_options.find(kind, name)
        if option:
            self.check_value(key, option.type)
        elif is_security_name(name):
            self._check_security_value(key, name)
        else:
            self.unknown(key, client_options.names(kind), name)

    def check_connects(self, name: str) -> None:
        """An option of Connect's; those of transforms are cleaned here, and understood once their chain is known."""
        if not name.startswith(TRANSFORM_PREFIXES):
            self.findings.note(self.settings[name].origin, "no effect in airmirror: an option of Kafka Connect")
        else:
            is_pattern = name.endswith(".pattern")  # in which a # or a quote may be meant
            self.check_value(name, t.STRING if is_pattern else _TRANSFORMS_WORD)

    def unknown(self, key: str, known: Iterable[str], name: str = "") -> None:
        setting = self.settings[key]
        written = setting.origin.key
        prefix = written[: len(written) - len(name or key)]
        self.settings[key] = Setting(text=setting.text.strip(), origin=setting.origin)
        hint = did_you_mean(name or key, known, prefix=prefix)
        self.findings.warn(setting.origin, f"unknown option, ignored{hint}")


_NAMES = [option.name for option in foreign.TABLE]
_TRANSFORMS_WORD = t.ValueType(label="string", expected="expected text", convert=lambda text, _warn: text)


def _is_connects(name: str) -> bool:
    """Whether it belongs to a family of Connect's options and is no slip of the pen."""
    if name.startswith(TRANSFORM_PREFIXES):
        return True
    return name.startswith(foreign.NO_EFFECT_PREFIXES) and nearest(name, _NAMES, cutoff=0.88) is None


def _may_be_of_own_class(name: str) -> bool:
    """Whether it may be an option of an own policy, filter or admin, which gets it whatever it is called."""
    for prefix in OWN_CLASS_PREFIXES:
        known = [option.removeprefix(prefix) for option in _NAMES if option.startswith(prefix)]
        if name.startswith(prefix):
            return nearest(name.removeprefix(prefix), known) is None
    return False


def _is_providers(name: str) -> bool:
    """Whether it tells what a provider of `${...}` is; read when one is asked."""
    return re.fullmatch(r"config\.providers\.[^.]+\.(class|param\..+)", name) is not None


class _TopLevel(_Level):
    """Keys without a scope."""

    def __init__(self, settings: dict[str, Setting], findings: Findings, aliases: Iterable[str]) -> None:
        super().__init__(settings, findings)
        self.aliases = aliases

    def check(self, name: str) -> None:
        setting = self.settings[name]
        option = foreign.BY_NAME.get(name)
        if option is opt.CLUSTERS:
            return  # read first of all
        if option:
            self.check_option(name, option)
            if option is opt.ENABLED:
                self.findings.warn(setting.origin, "at top level it enables every flow between all clusters, as in MM2")
            elif option.scope is Scope.FLOW_ONLY:
                self.findings.warn(setting.origin, f"counts only for a flow: write A->B.{name}")
        elif is_security_name(name):
            self.check_security(name)
        elif name.startswith(tuple(f"{kind}." for kind in KINDS)):
            self.findings.warn(setting.origin, f"has no effect at top level, in MM2 neither; write ALIAS.{name}")
        elif _is_connects(name):
            self.check_connects(name)
        elif (alias := _alias_of_connection(name)) is not None:
            hint = did_you_mean(alias, self.aliases)
            self.findings.warn(setting.origin, f"{alias} is not one of the clusters; ignored{hint}")
        elif not _may_be_of_own_class(name) and not _is_providers(name):
            self.unknown(name, _NAMES)


def _alias_of_connection(name: str) -> str | None:
    """The alias in `X.bootstrap.servers` and its like, when X is no cluster of the file."""
    found = re.fullmatch(r"(.+?)\.(bootstrap\.servers|security\.protocol|(?:ssl|sasl)\..+)", name)
    return found[1] if found else None


class _Cluster(_Level):
    """Keys of one cluster: connection, security, clients."""

    def __init__(self, settings: dict[str, Setting], findings: Findings, alias: str) -> None:
        super().__init__(settings, findings)
        self.alias = alias

    def check(self, name: str) -> None:
        origin = self.settings[name].origin
        kind = next((kind for kind in KINDS if name.startswith(f"{kind}.")), None)
        option = foreign.BY_NAME.get(name)
        if is_security_name(name):
            self.check_security(name)
        elif kind:
            self.check_client(kind, f"{kind}.", name)
        elif option and (option.scope is Scope.WORKER or name.endswith("converter")):
            self.check_option(name, option)
        elif option or name.startswith(TRANSFORM_PREFIXES):
            self.findings.warn(origin, f"has no effect for a cluster, in MM2 neither; write {name} at top level or "
                f"A->B.{name}")  # fmt: skip
        elif _is_connects(name):
            self.findings.note(origin, "no effect in airmirror: an option of Kafka Connect")
        elif any(client_options.find(kind, name) for kind in KINDS):
            kinds = [kind for kind in ("consumer", "producer", "admin") if client_options.find(kind, name)]
            self.findings.warn(origin, "has no effect for a cluster, in MM2 neither; clients' options are written "
                + " or ".join(f"{self.alias}.{kind}.{name}" for kind in kinds))  # fmt: skip
        else:
            self.unknown(name, ["bootstrap.servers", *client_options.SECURITY, *_WORKER_NAMES])


_WORKER_NAMES = [option.name for option in foreign.FOREIGN if option.scope is Scope.WORKER]
_FLOW_CLIENT = re.compile(r"((?:(?:source|target)\.)?(consumer|producer|admin)\.(?:override\.)?)(.+)")
_FLOW_CLUSTER = re.compile(r"((?:source|target)\.cluster\.)(.+)")


class _FlowLevel(_Level):
    """Keys of one flow: any connector's option, and overrides of its clients."""

    def check(self, name: str) -> None:
        origin = self.settings[name].origin
        option = foreign.BY_NAME.get(name)
        client = _FLOW_CLIENT.fullmatch(name)
        cluster = _FLOW_CLUSTER.fullmatch(name)
        if option:
            self.check_option(name, option)
            if option.scope is Scope.DRIVER:
                self.findings.warn(origin, f"has no effect for a flow; write {name} at top level")
        elif client:
            self.check_client(client[2], client[1], name)
        elif cluster:
            if cluster[2] == "bootstrap.servers":
                self.check_value(name, t.BOOTSTRAP)
            else:
                self._check_security_value(name, cluster[2])
        elif _is_connects(name):
            self.check_connects(name)
        elif not _may_be_of_own_class(name) and not _is_providers(name):
            self.unknown(name, _NAMES)
