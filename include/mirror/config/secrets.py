"""Keeps passwords out of logs, errors, tables and XComs: what prints is masked, what a client needs is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

MASK = "********"

_SECRET_NAME = re.compile(
    r"pas+w|pass|pwd|secret|jaas\.config|keystore\.key$|key\.pem$|private\.key|credentials?$|token$|apikey|api\.key",
    re.IGNORECASE,
)
# A user and a password written into an address, as providers' addresses may have them.
_SECRET_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+@")

V = TypeVar("V")


def is_secret(name: str) -> bool:
    """Whether the value of this option must never be shown."""
    return _SECRET_NAME.search(name) is not None


def shown(name: str, value: object) -> str:
    """The value as it may be shown to people."""
    if is_secret(name):
        return MASK
    if isinstance(value, str) and (count := value.count("-----BEGIN CERTIFICATE-----")):
        return f"{count} certificate{'s' if count > 1 else ''}"
    return _SECRET_IN_ADDRESS.sub(f"{MASK}@", str(value))


class Secret:
    """A string that prints as a mask; `.reveal()` gives it to the one who needs it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __str__(self) -> str:
        return MASK

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __bool__(self) -> bool:
        return bool(self._text)


class MaskedMapping(Mapping[str, V]):
    """A read-only mapping that prints with its secrets masked and pickles with them.

    It is no dict on purpose: what serialises dicts (XCom, json) refuses it instead of leaking it.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, V]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> V:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.masked()})"

    def masked(self) -> dict[str, str]:
        """The values as they may be shown."""
        return {name: shown(name, value) for name, value in self._values.items()}


class ClientSettings(MaskedMapping[str | int | bool]):
    """One client's settings in librdkafka's names; `plain()` is the dict that confluent_kafka takes."""

    __slots__ = ()

    def plain(self, extra: Mapping[str, str | int | bool] | None = None) -> dict[str, str | int | bool]:
        """The settings with their secrets, and `extra` over them; for the client's constructor and nothing else."""
        return {**self._values, **(extra or {})}


def known_as(settings: Mapping[str, Any], who: str) -> dict[str, Any]:
    """One client's settings with `who` behind its client id, so that brokers' logs and quotas can tell it.

    The secrets are in it, as in `plain()`: for the client's constructor and nothing else.
    """
    return {**settings, "client.id": f"{settings['client.id']}|{who}"}
