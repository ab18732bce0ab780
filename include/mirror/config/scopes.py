"""Sorts the file's keys into top level, clusters and flows, and merges them in MM2's order of precedence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mirror.config import foreign
from mirror.config import options as opt
from mirror.config.problems import DEFAULT, Findings, Origin, did_you_mean
from mirror.config.properties import Entry

Pair = tuple[str, str]
ARROW = "->"
KINDS = ("producer", "consumer", "admin")
# Options of own classes; MM2 hands only a policy's on from the top level, and any from a flow.
OWN_CLASS_PREFIXES = (
    "replication.policy.", "topic.filter.", "group.filter.", "config.property.filter.", "forwarding.admin.",
)  # fmt: skip
# Options of single transforms and their predicates, under names of the user's own.
TRANSFORM_PREFIXES = ("transforms.", "predicates.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One value's text and the line it came from."""

    text: str = field(repr=False)
    origin: Origin = DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """The file's settings by where they stand, each under its name without the scope's prefix."""

    top: dict[str, Setting] = field(default_factory=dict)
    clusters: dict[str, dict[str, Setting]] = field(default_factory=dict)
    flows: dict[Pair, dict[str, Setting]] = field(default_factory=dict)

    def each(self) -> Iterable[dict[str, Setting]]:
        """Every scope's settings."""
        yield self.top
        yield from self.clusters.values()
        yield from self.flows.values()


def settings_of(entries: Iterable[Entry], file: str, findings: Findings) -> dict[str, Setting]:
    """The file's settings by full key; of duplicates the last one counts, as in Java."""
    settings: dict[str, Setting] = {}
    for entry in entries:
        origin = Origin(file=file, line=entry.line, key=entry.key)
        if entry.mistake:
            findings.problem(origin, entry.mistake)
            continue
        if earlier := settings.get(entry.key):
            findings.warn(origin, f"is also set in line {earlier.origin.line}; the last one, this one, counts")
        settings[entry.key] = Setting(text=entry.value, origin=origin)
    return settings


def sort_into_scopes(settings: Mapping[str, Setting], aliases: tuple[str, ...], findings: Findings) -> Scopes:
    """Each key in the scope that it names; keys of unknown flows are told and left out."""
    scopes = Scopes(
        clusters={alias: {} for alias in aliases},
        flows={(a, b): {} for a in aliases for b in aliases if a != b},
    )
    # The longest alias first: `us.west.x` belongs to the cluster us.west, although it also begins with `us.`.
    by_length = sorted(aliases, key=len, reverse=True)
    for key, setting in settings.items():
        if ARROW in key:
            _put_into_flow(scopes, setting, by_length, findings)
        elif key not in foreign.BY_NAME and (alias := _owner(key, by_length)):
            scopes.clusters[alias][key[len(alias) + 1 :]] = setting
        else:
            scopes.top[key] = setting
    return scopes


def _owner(key: str, aliases: Iterable[str]) -> str | None:
    return next((alias for alias in aliases if key.startswith(f"{alias}.")), None)


def _put_into_flow(scopes: Scopes, setting: Setting, aliases: list[str], findings: Findings) -> None:
    key = setting.origin.key
    for source in aliases:
        rest = key.removeprefix(source + ARROW)
        target = _owner(rest, aliases) if rest != key else None
        if target is None:
            continue
        if target == source:
            findings.warn(
                setting.origin, f"{source}{ARROW}{target} is no flow: source and target are the same; ignored"
            )
        else:
            scopes.flows[source, target][rest[len(target) + 1 :]] = setting
        return
    known = [f"{a}{ARROW}{b}" for a, b in scopes.flows]
    written = _flow_part(key)
    hint = did_you_mean(written, known) or (f"; the flows are {', '.join(known[:6])}" if known else "")
    findings.warn(setting.origin, f"{written} is no flow between the clusters of this file; ignored{hint}")


def _flow_part(key: str) -> str:
    """What was probably meant as the flow in a key that names none: all before the option."""
    parts = key.split(".")
    for size in range(1, len(parts)):
        if ".".join(parts[size:]) in foreign.BY_NAME:
            return ".".join(parts[:size])
    source, _, rest = key.partition(ARROW)
    return f"{source}{ARROW}{rest.split('.')[0]}"


def is_security_name(name: str) -> bool:
    """Whether MM2 hands this name from a cluster, or the top level, to every client (spec 1.6)."""
    return name in ("bootstrap.servers", "security.protocol") or name.startswith(("ssl.", "sasl."))


def cluster_settings(scopes: Scopes, alias: str) -> dict[str, Setting]:
    """A cluster's settings with its security names fanned out to its clients (spec 1.4, step 1)."""
    merged = dict(scopes.clusters[alias])
    for scope in (scopes.clusters[alias], scopes.top):
        for name, setting in scope.items():
            if is_security_name(name) and name != "ssl.client.auth":
                merged.setdefault(name, setting)
                for kind in KINDS:
                    merged.setdefault(f"{kind}.{name}", setting)
    return merged


def effective_settings(scopes: Scopes, pair: Pair) -> dict[str, Setting]:
    """The properties that MM2's connectors of this flow would see (spec 1.5), and ours with them."""
    merged = {name: setting for name, setting in scopes.top.items() if reaches_connectors(name)}
    for side, alias in zip(("source", "target"), pair, strict=True):
        for name, setting in cluster_settings(scopes, alias).items():
            infix = "" if name.startswith(KINDS) else "cluster."
            merged[f"{side}.{infix}{name}"] = setting
        merged.setdefault(f"{side}.cluster.alias", Setting(text=alias))
    # Where MM2's worker keeps its offsets: for these the top level beats the cluster (spec 1.4, step 2).
    merged |= {f"target.cluster.{name}": s for name, s in scopes.top.items() if name.startswith("offset.storage.")}
    merged.setdefault("name", Setting(text="MirrorSourceConnector"))
    merged.setdefault("connector.class", Setting(text="org.apache.kafka.connect.mirror.MirrorSourceConnector"))
    merged.update(scopes.flows[pair])
    merged.setdefault("enabled", Setting(text="false"))
    return merged


def reaches_connectors(name: str) -> bool:
    """Whether a top-level name counts for flows; for `use.defaults.from`, transforms and own names only here."""
    return (
        name in foreign.CONNECTOR_NAMES
        or is_security_name(name)
        or name.startswith(("config.providers", opt.OWN_PREFIX, *OWN_CLASS_PREFIXES, *TRANSFORM_PREFIXES))
    )
