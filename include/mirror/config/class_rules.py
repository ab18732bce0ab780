"""Checks the classes that a file names: MM2's own, or Python's that can be found; none is imported for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirror.config import options as opt
from mirror.config import types as t
from mirror.config.import_paths import built_in_name, own_path, spec_of
from mirror.config.placeholders import has_expression
from mirror.config.problems import Findings, did_you_mean
from mirror.config.scopes import Scopes, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What may stand behind one option: MM2's classes by their short names, and what an own one extends."""

    built_in: tuple[str, ...] = ()
    extends: str = ""
    what: str = "class as package.module:Class"
    document: str = "docs/custom-classes.md"


KINDS: dict[str, Kind] = {
    opt.REPLICATION_POLICY_CLASS.name: Kind(
        built_in=("DefaultReplicationPolicy", "IdentityReplicationPolicy", "LegacyReplicationPolicy"),
        extends="mirror.naming.ReplicationPolicy",
    ),
    opt.TOPIC_FILTER_CLASS.name: Kind(built_in=("DefaultTopicFilter",), extends="mirror.filters.TopicFilter"),
    opt.GROUP_FILTER_CLASS.name: Kind(built_in=("DefaultGroupFilter",), extends="mirror.filters.GroupFilter"),
    opt.CONFIG_PROPERTY_FILTER_CLASS.name: Kind(
        built_in=("DefaultConfigPropertyFilter",), extends="mirror.filters.ConfigPropertyFilter"
    ),
    opt.FORWARDING_ADMIN_CLASS.name: Kind(
        built_in=("ForwardingAdmin",), extends="mirror.kafka.forwarding.ForwardingAdmin"
    ),
    opt.RECORD_FUNCTION.name: Kind(what="function as package.module:function", document="docs/records.md"),
}


def check(scopes: Scopes, folder: Path, findings: Findings) -> None:
    """Tells every class that is neither MM2's nor to be found; `folder` is the file's own."""
    for scope in scopes.each():
        for name, setting in scope.items():
            option = opt.BY_NAME.get(name)
            if option is not None and option.type in t.IMPORTED and _is_well_formed(option, setting):
                _check(name, setting, folder, findings)


def _is_well_formed(option: opt.Option[Any], setting: Setting) -> bool:
    """Whether it is written as a name at all; if not, that was told where the line was read."""
    try:
        option.type.parse(setting.text)
    except ValueError:
        return False
    return True


def _check(name: str, setting: Setting, folder: Path, findings: Findings) -> None:
    text = setting.text.removeprefix("class ")
    kind = KINDS.get(name, Kind())
    if not text or has_expression(text) or built_in_name(text) in kind.built_in:
        return
    path = own_path(text)
    if path is not None and spec_of(path.module, folder) is not None:
        return
    built_in = f"{', '.join(kind.built_in)} of MM2, or " if kind.built_in else ""
    missing = f"no module {path.module} beside this file or on Python's path" if path else "no module is named"
    extends = f"extends {kind.extends}, " if kind.extends else ""
    hint = did_you_mean(built_in_name(text), kind.built_in)
    findings.problem(
        setting.origin,
        f'expected {built_in}an own Python {kind.what}, got "{text}": {missing}{hint}. '
        f"Java classes cannot run here: write it in Python ({extends}see {kind.document})",
    )
