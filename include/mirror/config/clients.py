"""A flow's Java client options as settings of librdkafka's clients, each with the line it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from mirror.config import client_options, limits, security
from mirror.config import options as opt
from mirror.config.client_options import ClientOption, Value
from mirror.config.placeholders import has_expression
from mirror.config.problems import DEFAULT, Findings, Notice, Origin, Severity
from mirror.config.providers import resolve
from mirror.config.scopes import Setting, is_security_name
from mirror.config.secrets import ClientSettings
from mirror.config.types import ValueMistake
from mirror.errors import ConfigurationRefused

if TYPE_CHECKING:
    from mirror.config.flows import Flow, Side

Kind = Literal["consumer", "producer", "admin"]

# Options of MM2 itself that look like a client's.
_MM2_NAMES = (opt.CONSUMER_POLL_TIMEOUT_MS.name, opt.ADMIN_TIMEOUT_MS.name)
# Connect's own overrides reach only the framework's clients, all of which talk to the target.
_OVERRIDES: dict[tuple[str, str], str] = {
    ("target", "producer"): "producer.override.",
    ("target", "admin"): "admin.override.",
}
# The clients that a flow has.
CLIENTS: tuple[tuple[Literal["source", "target"], Kind], ...] = (
    ("source", "consumer"), ("source", "admin"),
    ("target", "producer"), ("target", "consumer"), ("target", "admin"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientValue:
    """One setting of one client: its librdkafka name, its value and the Java option that led to it.

    `expression` is the option's text where a provider answered for it.
    """

    name: str
    value: Value = field(repr=False)
    java_name: str = ""
    origin: Origin = DEFAULT
    expression: str = ""


def client_properties(settings: Mapping[str, Setting], side: str, kind: str) -> dict[str, Setting]:
    """The Java properties of one client, the later winning: cluster, both sides', this side's, overrides (spec 1.6)."""
    found: dict[str, Setting] = {}
    cluster = f"{side}.cluster."
    for name, setting in settings.items():
        if name.startswith(cluster) and is_security_name(name[len(cluster) :]):
            found[name[len(cluster) :]] = setting
    both, override = f"{kind}.", _OVERRIDES.get((side, kind))
    for name, setting in settings.items():
        if name.startswith(both) and not name.startswith(f"{both}override.") and name not in _MM2_NAMES:
            found[name[len(both) :]] = setting
    for prefix in (f"{side}.{kind}.", override):
        if prefix:
            found.update(
                (name[len(prefix) :], setting) for name, setting in settings.items() if name.startswith(prefix)
            )
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
        option = client_options.find(kind, name)
        if option is None:
            continue  # a security option, read below, or one told as unknown when the file was loaded
        if _is_other_codecs_level(name, properties, flow):
            continue
        if option.target:
            values[option.target] = _convert(option, setting, flow, findings)
        else:
            findings.note(setting.origin, f"no effect: {option.why}")
    _bend(flow, kind, values, findings)
    values["client.id"] = _client_id(flow, properties.get("client.id"))
    words = security.Words(properties, flow.settings, alias)
    for name, value, java_name in security.translate(words, properties, findings):
        origin = properties[java_name].origin if java_name in properties else DEFAULT
        values[name] = ClientValue(name=name, value=value, java_name=java_name, origin=origin)
    return [_with_expression(value, properties) for value in values.values()]


def _with_expression(value: ClientValue, properties: Mapping[str, Setting]) -> ClientValue:
    setting = properties.get(value.java_name)
    return replace(value, expression=setting.text) if setting and has_expression(setting.text) else value


def _is_other_codecs_level(name: str, properties: Mapping[str, Setting], flow: Flow) -> bool:
    """Java has a level per codec and reads the chosen codec's; librdkafka has one level."""
    if not (name.startswith("compression.") and name.endswith(".level")):
        return False
    codec = properties.get("compression.type")
    return codec is None or resolve(codec, flow.settings).strip().lower() != name.split(".")[1]


def _convert(option: ClientOption, setting: Setting, flow: Flow, findings: Findings) -> ClientValue:
    try:
        value: Value = option.type.parse(resolve(setting, flow.settings))
    except ValueMistake as mistake:
        raise ConfigurationRefused(f"{setting.origin}: {setting.origin.key}: {mistake}") from None
    if option.convert:
        value = option.convert(value)
    if option.limits and isinstance(value, int):
        within = min(max(value, option.limits[0]), option.limits[1])
        if within != value:
            findings.note(setting.origin, f"librdkafka's {option.target} ends at {within}; used so")
        value = within
    return ClientValue(name=option.target, value=value, java_name=option.name, origin=setting.origin)


def _bend(flow: Flow, kind: Kind, values: dict[str, ClientValue], findings: Findings) -> None:
    def use(name: str, number: int, why: str) -> None:
        before = values.get(name, ClientValue(name=name, value=number))
        findings.note(before.origin, f"librdkafka's {name} is {number} instead: {why}")
        values[name] = replace(before, value=number)

    numbers = {name: value.value for name, value in values.items() if isinstance(value.value, int)}
    limits.bend(kind, numbers, flow[opt.TRANSACTION_TIMEOUT_MS], use)


def _client_id(flow: Flow, prefix: Setting | None) -> ClientValue:
    base = f"airmirror|{flow.id}"
    if prefix is None:
        return ClientValue(name="client.id", value=base)
    return ClientValue(
        name="client.id",
        value=f"{resolve(prefix, flow.settings).strip()}|{base}",
        java_name="client.id",
        origin=prefix.origin,
    )


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
    for side, kind in CLIENTS:
        try:
            client_values(flow, side, kind, findings)
        except ConfigurationRefused as error:
            findings.warn(DEFAULT, error.message)
    return (*findings.of(Severity.WARNING), *findings.of(Severity.NOTICE))
