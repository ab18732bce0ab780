"""The user's own function, `package.module:function`: a record in, the record or None out, checked on both ways."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from mirror.records.record import Record


class FunctionFailed(Exception):
    """The function raised, or gave back what is no record; says what and where, and nothing of the record."""


class RecordFunction:
    """Loads the function where it is first needed: on an executor, not with the configuration."""

    def __init__(self, path: str, load: Callable[[str], Callable[[Record], Any]]) -> None:
        self.path = path
        self._load = load
        self._function: Callable[[Record], Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordFunction, (self.path, self._load)

    def __call__(self, record: Record) -> Record | None:
        if self._function is None:
            self._function = self._load(self.path)
        try:
            given = self._function(record)
        except Exception as error:  # noqa: BLE001 - whatever a user's code raises stops one partition, not the slot
            # Neither the error's own words nor its cause: both may hold the record's contents.
            raise FunctionFailed(f"{self.path} raised {_name(error)}{_place(error)}") from None
        if given is None or given is record:
            return given
        problem = _problem(record, given)
        if problem:
            raise FunctionFailed(f"{self.path} gave back {problem}")
        changed: Record = given
        return changed._replace(headers=tuple(changed.headers))


def _name(error: Exception) -> str:
    return type(error).__qualname__


def _place(error: Exception) -> str:
    """The line of the user's function that raised it, or called what did."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return f" at {PurePath(frames[0].filename).name}:{frames[0].lineno}" if frames else ""


def _problem(record: Record, given: Any) -> str:
    if not isinstance(given, Record):
        return f"a {type(given).__qualname__}: expected the record, record.changed(...), or None to drop it"
    if given[:4] != record[:4]:
        return "a record of another topic, partition or offset: those cannot be changed"
    for name in ("key", "value"):
        if not isinstance(part := getattr(given, name), bytes | None):
            return f"a {name} that is a {type(part).__qualname__}: expected bytes or None"
    if not isinstance(given.timestamp_ms, int) or given.timestamp_ms < 0:
        return "a timestamp_ms that is no whole number of milliseconds"
    return "" if _are_headers(given.headers) else "headers that are no pairs of a str and bytes or None"


def _are_headers(headers: Any) -> bool:
    return isinstance(headers, tuple | list) and all(
        isinstance(pair, tuple | list)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], bytes | None)
        for pair in headers
    )
