"""Loads an mm2.properties: the file's flows, or a refusal that lists every problem at once."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from mirror.config import checks, class_rules, properties, rules
from mirror.config.flows import Flow, build_flow, build_flows
from mirror.config.problems import Findings, Notice, Origin, Severity, nearest
from mirror.config.scopes import Scopes, Setting, settings_of, sort_into_scopes
from mirror.errors import ConfigurationRefused, UnknownFlow

VARIABLE = "AIRMIRROR_CONFIG"
DEFAULT_PATH = Path(__file__).parents[2] / "mm2.properties"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One loaded file."""

    path: Path
    clusters: tuple[str, ...]
    flows: tuple[Flow, ...]
    warnings: tuple[Notice, ...] = ()
    notices: tuple[Notice, ...] = ()
    scopes: Scopes = field(default_factory=Scopes, repr=False)

    @property
    def enabled_flows(self) -> tuple[Flow, ...]:
        return tuple(flow for flow in self.flows if flow.enabled)

    def opposite(self, flow: Flow) -> Flow:
        """The flow that goes the other way, which a failback needs; enabled or not."""
        return build_flow(self.scopes, (flow.target, flow.source), flow.folder)

    def flow(self, name: str) -> Flow:
        """The flow called `A->B`, or `A-to-B` where a shell or Airflow dislikes the arrow."""
        for flow in self.flows:
            if name in (flow.id, flow.slug):
                return flow
        known = [flow.id for flow in self.flows]
        close = nearest(name, [*known, *(flow.slug for flow in self.flows)])
        hint = f"did you mean {close}? " if close else ""
        raise UnknownFlow(
            f"{self.path.name} has no flow {name}; {hint}known: {', '.join(known) or 'none'}",
            next_step="airmirror flows",
            flow=name,
        )


def load(path: Path | str | None = None) -> Configuration:
    """The configuration of a file; None means $AIRMIRROR_CONFIG, else the project's own mm2.properties."""
    chosen = Path(path or os.environ.get(VARIABLE) or DEFAULT_PATH)
    try:
        data = chosen.read_bytes()
    except OSError as error:
        raise ConfigurationRefused(
            f"cannot read {chosen}: {error.strerror}",
            next_step=f"airmirror --config FILE ..., or set {VARIABLE}",
            problems=[f"{chosen}: {error.strerror}"],
        ) from None
    return parse(data, chosen)


def parse(data: bytes, path: Path) -> Configuration:
    """The configuration of a file's contents."""
    findings = Findings()
    file = _display(path)
    settings = settings_of(properties.parse(data), file, findings)
    aliases = _aliases(settings, file, findings)
    scopes = sort_into_scopes(settings, aliases, findings)
    checks.check_and_clean(scopes, findings)
    flows = build_flows(scopes, path.absolute().parent)
    rules.check(scopes, flows, file, findings)
    class_rules.check(scopes, path.absolute().parent, findings)
    if problems := findings.of(Severity.PROBLEM):
        lines = [str(problem) for problem in problems]
        raise ConfigurationRefused(
            "\n".join((f"{file} has {len(lines)} problem{'s' if len(lines) > 1 else ''}:", *lines)),
            next_step=f"correct the file, then: airmirror --config {file} config",
            problems=lines,
            warnings=[str(warning) for warning in findings.of(Severity.WARNING)],
        )
    return Configuration(
        path=path,
        clusters=aliases,
        flows=flows,
        warnings=findings.of(Severity.WARNING),
        notices=findings.of(Severity.NOTICE),
        scopes=scopes,
    )


def _display(path: Path) -> str:
    """The path as messages show it: relative where it lies below the working directory."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _aliases(settings: dict[str, Setting], file: str, findings: Findings) -> tuple[str, ...]:
    setting = settings.get("clusters")
    if setting is None:
        hint = nearest("clusters", settings)
        message = "expected the aliases of the clusters, such as clusters = A, B"
        findings.problem(Origin(file=file, key="clusters"), message + (f"; did you mean {hint}?" if hint else ""))
        return ()
    value: tuple[str, ...] = checks.read_clusters(setting, findings)
    return value
