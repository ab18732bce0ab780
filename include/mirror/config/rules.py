"""What must hold between options: whole flows, names that must not meet, and what only sounds as if it worked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from mirror.config import options as opt
from mirror.config import provenance_rules, transforms
from mirror.config.flows import Flow, is_true
from mirror.config.placeholders import has_expression
from mirror.config.problems import Findings, Origin
from mirror.config.providers import is_known_provider
from mirror.config.scopes import Scopes, Setting, is_security_name


def check(scopes: Scopes, flows: tuple[Flow, ...], file: str, findings: Findings) -> None:
    """Tells every rule that the file breaks."""
    clusters = Origin(file=file, line=_line_of(scopes, "clusters"), key="clusters")
    if scopes.clusters:
        _some_flow(scopes, flows, clusters, findings)
    _bootstrap(flows, clusters, findings)
    _slugs(flows, clusters, findings)
    _separators(flows, clusters, findings)
    _offset_syncs(flows, findings)
    _prune(flows, findings)
    provenance_rules.check(flows, findings)
    for setting, name in _everywhere(scopes):
        _security(setting, name, findings)
        _providers(setting, name, findings)
        _not_done_here(setting, name, findings)
    for flow in flows:
        if flow.enabled:
            _mm2_validation(flow, findings)
            transforms.check(flow, findings)


def _line_of(scopes: Scopes, name: str) -> int:
    setting = scopes.top.get(name)
    return setting.origin.line if setting else 0


def _everywhere(scopes: Scopes) -> Iterator[tuple[Setting, str]]:
    for scope in scopes.each():
        for name, setting in scope.items():
            yield setting, name


def _some_flow(scopes: Scopes, flows: tuple[Flow, ...], clusters: Origin, findings: Findings) -> None:
    if len(scopes.clusters) < 2:
        findings.problem(clusters, "expected at least two clusters, because a flow needs a source and a target")
    elif not flows:
        findings.problem(clusters, "no flow is enabled and heartbeats are off: write A->B.enabled = true for one")
    elif not any(flow.enabled for flow in flows):
        findings.warn(clusters, "no flow is enabled, only heartbeats are written: write A->B.enabled = true for one")


def _bootstrap(flows: tuple[Flow, ...], clusters: Origin, findings: Findings) -> None:
    for flow in flows:
        for side, alias in (("source", flow.source), ("target", flow.target)):
            if f"{side}.cluster.bootstrap.servers" not in flow.settings:
                where = Origin(file=clusters.file, line=clusters.line, key=f"{alias}.bootstrap.servers")
                findings.problem(where, f"expected the brokers of cluster {alias}, such as {alias}-host:9092")


def _slugs(flows: tuple[Flow, ...], clusters: Origin, findings: Findings) -> None:
    owners: dict[str, list[str]] = defaultdict(list)
    for flow in flows:
        owners[flow.slug].append(flow.id)
    for slug, ids in owners.items():
        if len(ids) > 1:
            findings.problem(clusters, f"{' and '.join(ids)} would share the Dags {slug}.*; rename an alias")


def _separators(flows: tuple[Flow, ...], clusters: Origin, findings: Findings) -> None:
    for flow in flows:
        separator = _safely(flow, opt.REPLICATION_POLICY_SEPARATOR, ".")
        for alias in (flow.source, flow.target):
            if separator in alias:
                findings.warn(clusters, f'alias {alias} contains the separator "{separator}": MM2 would not recognise '
                    "its remote topics and could loop; airmirror recognises whole aliases")  # fmt: skip


def _safely(flow: Flow, option: opt.Option[str], default: str) -> str:
    """The value, or the default where it was refused or is not known yet."""
    setting = flow.settings.get(option.name)
    if setting is None or has_expression(setting.text):
        return default
    try:
        return option.type.parse(setting.text)
    except ValueError:
        return default


def _offset_syncs(flows: tuple[Flow, ...], findings: Findings) -> None:
    """MM2's offset-syncs topics, where the file asks for them: two flows must not write one."""
    writers: dict[tuple[str, str], list[Flow]] = defaultdict(list)
    for flow in flows:
        emits = flow.settings.get(opt.EMIT_OFFSET_SYNCS_ENABLED.name)
        if flow.enabled and flow.is_set(opt.OFFSET_SYNCS_LOCATION) and not (emits and emits.text.lower() == "false"):
            at_source = _safely(flow, opt.OFFSET_SYNCS_LOCATION, "source") == "source"
            cluster, other = (flow.source, flow.target) if at_source else (flow.target, flow.source)
            writers[cluster, _offset_syncs_topic(flow, other)].append(flow)
    for (cluster, topic), sharing in writers.items():
        if len(sharing) > 1:
            findings.problem(
                sharing[1].origin(opt.OFFSET_SYNCS_LOCATION),
                f"{' and '.join(flow.id for flow in sharing)} would both write {topic} on {cluster}; "
                "use one location for both",
            )


def _offset_syncs_topic(flow: Flow, alias: str) -> str:
    separator = _safely(flow, opt.REPLICATION_POLICY_SEPARATOR, ".")
    switch = flow.settings.get(opt.INTERNAL_TOPIC_SEPARATOR_ENABLED.name)
    if switch and switch.text.lower() == "false":
        separator = "."
    return separator.join(("mm2-offset-syncs", alias, "internal"))


def _prune(flows: tuple[Flow, ...], findings: Findings) -> None:
    """Where names stay the same, two flows that meet on a cluster would remove each other's rights for ever."""
    for flow in flows:
        prune, policy = flow.settings.get(opt.ACLS_PRUNE.name), flow.settings.get(opt.REPLICATION_POLICY_CLASS.name)
        keeps_names = policy is not None and policy.text.endswith("IdentityReplicationPolicy")
        if not flow.enabled or not keeps_names or not is_true(prune, default=False):
            continue
        met = [o.id for o in flows if o.enabled and o.id != flow.id and flow.target in (o.source, o.target)]
        if met:
            findings.problem(
                flow.origin(opt.ACLS_PRUNE),
                f"expected it only where one flow alone meets {flow.target}: with names that stay the same, "
                f"{flow.id} would remove what {' and '.join(met)} or {flow.target} itself granted",
            )


def security_name_in(name: str) -> str:
    """The security option that a name ends with, whatever client or side stands before it; else empty."""
    parts = name.split(".")
    tails = (".".join(parts[at:]) for at in range(len(parts)))
    return next((tail for tail in tails if is_security_name(tail)), "")


def _security(setting: Setting, name: str, findings: Findings) -> None:
    base = security_name_in(name)
    if base in ("ssl.truststore.location", "ssl.keystore.location") and setting.text.endswith("_"):
        findings.warn(setting.origin, "the path ends in _, as some guides' markup leaves it; used as it is, "
            "unless only the file without it exists")  # fmt: skip
    elif base == "sasl.mechanism" and setting.text.upper() == "GSSAPI":
        findings.warn(
            setting.origin, "confluent-kafka's ready-made packages have no Kerberos: install one built with it"
        )


def _providers(setting: Setting, name: str, findings: Findings) -> None:
    if name.startswith("config.providers.") and name.endswith(".class") and not is_known_provider(setting.text):
        findings.warn(
            setting.origin,
            "a Java class that cannot run here: values that ask it are refused when they are used; "
            "${file:...}, ${dir:...}, ${env:...} and ${airflow:...} are there without such a line",
        )


def _not_done_here(setting: Setting, name: str, findings: Findings) -> None:
    """Options that change records or drop them in MM2: silence would be a lie."""
    if name.endswith(".converter") and not setting.text.endswith(("ByteArrayConverter", "SimpleHeaderConverter")):
        findings.warn(setting.origin, "airmirror copies bytes unchanged; this converter is not applied")
    elif name == "errors.tolerance" and setting.text.lower() == "all":
        findings.warn(setting.origin, "airmirror never skips a record in silence; a refused one stops its partition")


def _mm2_validation(flow: Flow, findings: Findings) -> None:
    """What MM2's connectors check between options (spec 1.10)."""
    checkpoints = flow.settings.get(opt.EMIT_CHECKPOINTS_ENABLED.name)
    if checkpoints and checkpoints.text.lower() == "false":
        findings.warn(checkpoints.origin, "MM2 refuses it, logs an error and runs without checkpoints; airmirror runs "
            "without them too")  # fmt: skip
    syncs = flow.settings.get(opt.EMIT_OFFSET_SYNCS_ENABLED.name)
    if syncs and syncs.text.lower() == "false":
        for name, setting in flow.settings.items():
            if name.startswith(("offset-syncs.topic.", "offset-syncs-")):
                findings.problem(setting.origin, "expected no such option beside emit.offset-syncs.enabled = false "
                    f"(line {syncs.origin.line})")  # fmt: skip
    support = flow.settings.get("exactly.once.support")
    if support and support.text.lower() == "required" and flow.reads_uncommitted_by_its_file:
        findings.problem(support.origin, "expected isolation.level = read_committed for the source's consumer, "
            "because exactly.once.support is required")  # fmt: skip
