"""A flow: one source, one target, and the value of every option between them with the line it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from mirror.config import options as opt
from mirror.config.options import Option
from mirror.config.placeholders import has_expression
from mirror.config.problems import DEFAULT, Notice, Origin
from mirror.config.providers import literal, resolve
from mirror.config.scopes import ARROW, Pair, Scopes, Setting, effective_settings
from mirror.config.secrets import ClientSettings, MaskedMapping
from mirror.config.types import ValueMistake
from mirror.errors import ConfigurationRefused

T = TypeVar("T")
Side = Literal["source", "target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A->B: what the file says about replicating from A to B."""

    source: str
    target: str
    enabled: bool
    aliases: tuple[str, ...]
    settings: Mapping[str, Setting] = field(repr=False)
    # The file's own, where own classes may lie.
    folder: Path | None = None
    # All flows of the file, for what one must know of the others; theirs are empty.
    file_flows: tuple[Flow, ...] = field(default=(), repr=False, compare=False)
    _typed: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def id(self) -> str:
        return f"{self.source}{ARROW}{self.target}"

    @property
    def slug(self) -> str:
        """The id in characters that Airflow takes; no two flows of a file share one."""
        return slug_of(self.source, self.target)

    def __str__(self) -> str:
        return self.id

    def __getitem__(self, option: Option[T]) -> T:
        """The option's value, typed; the default where no line sets it."""
        if option.name not in self._typed:
            self._typed[option.name] = self._read(option)
        value: T = self._typed[option.name]
        return value

    def _read(self, option: Option[T]) -> T:
        setting = self.settings.get(option.name)
        if setting is None:
            return option.default
        try:
            return option.type.parse(resolve(setting, self.settings))
        except ValueMistake as mistake:
            # Loading checked every literal; only what a provider answered comes here.
            raise ConfigurationRefused(
                f"{setting.origin}: {setting.origin.key}: {mistake}", flow=self.id, option=option.name
            ) from None

    def is_set(self, option: Option[Any]) -> bool:
        """Whether a line of the file sets it, for options whose absence means something."""
        setting = self.settings.get(option.name)
        return setting is not None and not setting.origin.is_default

    def origin(self, option: Option[Any]) -> Origin:
        """The line that sets the option, or the default."""
        setting = self.settings.get(option.name)
        return setting.origin if setting else DEFAULT

    @property
    def raw(self) -> Mapping[str, str]:
        """The connector's properties as MM2 would hand them to a policy or filter; prints masked."""
        return _RawProperties(self.settings)

    @property
    def auto_offset_reset(self) -> Literal["earliest", "latest"]:
        """Where a source partition begins that has no position yet."""
        value = self._consumer_option("auto.offset.reset", "earliest")
        return "latest" if value == "latest" else "earliest"

    @property
    def isolation_level(self) -> Literal["read_committed", "read_uncommitted"]:
        """What the copy reads; unlike MM2, committed records only, unless the file says otherwise."""
        value = self._consumer_option("isolation.level", "read_committed")
        return "read_uncommitted" if value == "read_uncommitted" else "read_committed"

    @property
    def reads_uncommitted_by_its_file(self) -> bool:
        """Whether the file itself says so, for checks that ask no provider."""
        text = literal(self._consumer_setting("isolation.level"))
        return text is not None and text.strip().lower() == "read_uncommitted"

    @property
    def mm2_isolation_level(self) -> str:
        """What MM2 reads with the same file: also what is not committed, unless the file says otherwise."""
        return self._consumer_option("isolation.level", "read_uncommitted")

    def _consumer_option(self, name: str, default: str) -> str:
        setting = self._consumer_setting(name)
        return resolve(setting, self.settings).strip().lower() if setting else default

    def _consumer_setting(self, name: str) -> Setting | None:
        from mirror.config.clients import client_properties

        return client_properties(self.settings, "source", "consumer").get(name)

    def text(self, option: Option[Any]) -> str:
        """The option as people may read it: an expression stays one, and no provider is asked."""
        setting = self.settings.get(option.name)
        return setting.text if setting and has_expression(setting.text) else opt.value_text(self[option])

    def consumer_settings(self, side: Side) -> ClientSettings:
        """For a consumer: no group, nothing committed, `isolation.level` as the flow says."""
        return self._client(side, "consumer")

    def producer_settings(self, side: Side) -> ClientSettings:
        """For a producer: every record acknowledged by all replicas; the transactional id is the caller's."""
        return self._client(side, "producer")

    def admin_settings(self, side: Side) -> ClientSettings:
        """For administrative calls."""
        return self._client(side, "admin")

    def client_notices(self) -> tuple[Notice, ...]:
        """What the file says about clients that has no counterpart in librdkafka; for `airmirror config`."""
        from mirror.config.clients import client_notices

        return client_notices(self)

    def _client(self, side: Side, kind: Literal["consumer", "producer", "admin"]) -> ClientSettings:
        # Imported late: Dag files build flows by the hundred and need no client.
        from mirror.config.clients import client_settings

        return client_settings(self, side, kind)


class _RawProperties(MaskedMapping[str]):
    """Each value's `${...}` is resolved when it is asked for: most are other people's passwords."""

    __slots__ = ("_settings",)

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        super().__init__({name: setting.text for name, setting in settings.items()})
        self._settings = settings

    def __getitem__(self, name: str) -> str:
        return resolve(self._settings[name], self._settings)


def slug_of(source: str, target: str) -> str:
    """Airflow's ids take letters, digits, `_`, `.` and `-`."""
    return "-to-".join(re.sub(r"[^A-Za-z0-9_.-]", "_", alias) for alias in (source, target))


def is_true(setting: Setting | None, *, default: bool) -> bool:
    """A switch that counts while the file is loaded; a wrong value was told as a problem before."""
    text = literal(setting)
    return default if text is None else text.strip().lower() == "true"


def build_flows(scopes: Scopes, folder: Path | None = None) -> tuple[Flow, ...]:
    """Every ordered pair that is enabled or has heartbeats: the pairs for which MM2 would run a herder."""
    flows = tuple(build_flow(scopes, pair, folder) for pair in scopes.flows if _has_herder(scopes, pair))
    return tuple(replace(flow, file_flows=flows, _typed={}) for flow in flows)


def build_flow(scopes: Scopes, pair: Pair, folder: Path | None) -> Flow:
    """The flow between two clusters, whether or not the file enables it."""
    settings = effective_settings(scopes, pair)
    return Flow(
        source=pair[0],
        target=pair[1],
        # From the merged settings: as in MM2, `enabled` at top level reaches every flow that has a herder.
        enabled=is_true(settings[opt.ENABLED.name], default=False),
        aliases=tuple(scopes.clusters),
        settings=settings,
        folder=folder,
    )


def _has_herder(scopes: Scopes, pair: Pair) -> bool:
    if is_true(scopes.flows[pair].get(opt.ENABLED.name), default=False):
        return True
    name = opt.EMIT_HEARTBEATS_ENABLED.name
    return is_true(scopes.flows[pair].get(name) or scopes.top.get(name), default=True)
