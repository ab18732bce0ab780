"""A flow's Java client options as settings of librdkafka's clients, each with the line it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mirror.config import client_options, security
from mirror.config.client_options import ClientOption, Value
from mirror.config.placeholders import resolve
from mirror.config.problems import DEFAULT, Findings, Notice, Origin, Severity
from mirror.config.scopes import Setting, is_security_name
from mirror.config.secrets import ClientSettings
from mirror.config.types import ValueMistake
from mirror.errors import ConfigurationRefused

if TYPE_CHECKING:
    from mirror.config.flows import Flow, Side

Kind = Literal["consumer", "producer", "admin"]

# Connect's own overrides reach only the framework's clients, all of which talk to the target.
_OVERRIDES: dict[tuple[str, str], str] = {
    ("target", "producer"): "producer.override.",
    ("target", "admin"): "admin.override.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientValue:
    """One setting of one client: its librdkafka name, its value and the Java option that led to it."""

    name: str
    value: Value
    java_name: str = ""
    origin: Origin = DEFAULT


def client_properties(settings: Mapping[str, Setting], side: str, kind: str) -> dict[str, Setting]:
    """The Java properties of one client, the later winning: cluster, both sides', this side's, overrides (spec 1.6)."""
    found: dict[str, Setting] = {}
    cluster = f"{side}.cluster."
    for name, setting in settings.items():
        if name.startswith(cluster) and is_security_name(name[len(cluster) :]):
            found[name[len(cluster) :]] = setting
    for prefix in (f"{kind}.", f"{side}.{kind}.", _OVERRIDES.get((side, kind), "")):
        if not prefix:
            continue
        for name, setting in settings.items():
            if name.startswith(prefix) and not name.startswith(f"{kind}.override.", 0 if prefix == f"{kind}." else 999):
                found[name[len(prefix) :]] = setting
    found.pop("poll.timeout.ms", None)  # `consumer.poll.timeout.ms` and `admin.timeout.ms` are options of MM2 itself
    if kind == "admin":
        found.pop("timeout.ms", None)
    return found


def client_settings(flow: Flow, side: Side, kind: Kind) -> ClientSettings:
    """What a client's constructor takes; asks for stores and secrets only now."""
    return ClientSettings({value.name: value.value for value in client_values(flow, side, kind)})


def client_values(flow: Flow, side: Side, kind: Kind, findings: Findings | None = None) -> list[ClientValue]:
    """The settings with their origins; what has no counterpart goes to `findings`."""
    findings = findings or Findings()
    properties = client_properties(flow.settings, side, kind)
    alias = flow.source if side == "source" else flow.target
    values = {value.name: value for value in _fixed(flow, kind)}
    for name, setting in properties.items():
        if is_security_name(name) and name != "bootstrap.servers":
            continue
        option = client_options.find(kind, name)
        if option is None:
            continue  # told as unknown when the file was loaded
        if not option.target:
            findings.note(setting.origin, f"no effect: {option.why}")
            continue
        value = ClientValue(name=option.target, value=_convert(option, setting), java_name=name, origin=setting.origin)
        values[option.target] = value
    prefix = properties.get("client.id")
    base = f"airmirror|{flow.id}"
    values["client.id"] = ClientValue(
        name="client.id",
        value=f"{resolve(prefix.text).strip()}|{base}" if prefix else base,
        java_name="client.id",
        origin=prefix.origin if prefix else DEFAULT,
    )
    for name, value_, java_name in security.translate(properties, alias, findings):
        origin = properties[java_name].origin if java_name in properties else DEFAULT
        values[name] = ClientValue(name=name, value=value_, java_name=java_name, origin=origin)
    return list(values.values())


def _convert(option: ClientOption, setting: Setting) -> Value:
    try:
        value = option.type.parse(resolve(setting.text))
    except ValueMistake as mistake:
        raise ConfigurationRefused(f"{setting.origin}: {setting.origin.key}: {mistake}") from None
    if option.convert:
        return option.convert(value)
    result: Value = value
    return result


def _fixed(flow: Flow, kind: Kind) -> list[ClientValue]:
    """What airmirror decides for every client of this kind."""
    if kind == "consumer":
        return [
            ClientValue(name="enable.auto.commit", value=False),
            # A position out of range is judged by us; a client that jumps would lose records in silence.
            ClientValue(name="auto.offset.reset", value="error"),
            ClientValue(name="isolation.level", value=flow.isolation_level),
        ]
    if kind == "producer":
        return [ClientValue(name="acks", value="all"), ClientValue(name="enable.idempotence", value=True)]
    return []


def client_notices(flow: Flow) -> tuple[Notice, ...]:
    """What has no counterpart or cannot be used, over all clients that a flow has."""
    findings = Findings()
    clients: tuple[tuple[Side, Kind], ...] = (
        ("source", "consumer"), ("source", "admin"),
        ("target", "producer"), ("target", "consumer"), ("target", "admin"),
    )  # fmt: skip
    for side, kind in clients:
        try:
            client_values(flow, side, kind, findings)
        except security.SecurityRefused as error:
            findings.warn(DEFAULT, error.message)
    return (*findings.of(Severity.WARNING), *findings.of(Severity.NOTICE))
