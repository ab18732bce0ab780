"""JSON objects read with the types their members must have, and written so that equal ones are equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from mirror.errors import StateUnreadable
from mirror.wire.primitives import unreadable


class Document:
    """A record's members, each asked for by the type it must have."""

    __slots__ = ("_kind", "_members")

    def __init__(self, kind: str, members: Mapping[str, Any]) -> None:
        self._kind = kind
        self._members = members

    def _wrong(self, name: str, expected: str) -> StateUnreadable:
        return unreadable(f"{name!r} of the {self._kind} record is not {expected}")

    def text(self, name: str) -> str:
        value = self._members.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def number(self, name: str) -> int:
        value = self._members.get(name)
        if not _is_whole(value):
            raise self._wrong(name, "a whole number")
        return int(value)  # type: ignore[arg-type]

    def flag(self, name: str) -> bool:
        value = self._members.get(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def texts(self, name: str) -> list[str]:
        value = self._members.get(name)
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise self._wrong(name, "a list of texts")
        return value

    def rows(self, name: str) -> list[list[str]]:
        value = self._members.get(name)
        if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
            raise self._wrong(name, "a list of rows")
        return value

    def one_of(self, name: str, choices: Any) -> Any:
        value = self.text(name)
        if value not in get_args(choices):
            raise self._wrong(name, f"one of {', '.join(get_args(choices))}")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        value = self._members.get(name)
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return value

    def offsets(self, name: str) -> dict[int, int]:
        found = self.mapping(name)
        if not all(partition.isdecimal() and _is_whole(offset) for partition, offset in found.items()):
            raise self._wrong(name, "offsets by partition")
        return {int(partition): offset for partition, offset in found.items()}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # JSON's true is an int to Python


def to_json(document: Any) -> bytes:
    """Compact, with sorted members: equal keys must be equal bytes, or compaction keeps both."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=dict).encode()


def parse_object(raw: bytes) -> dict[str, Any] | None:
    """The JSON object in these bytes; None when they are something else."""
    try:
        document = json.loads(raw)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def record_key(record: Any, *names: str) -> bytes:
    """The key of a record of the control topic: its kind, its flow, and what else tells it from others of its kind."""
    return to_json({"kind": record.KIND, "flow": record.flow, **{name: getattr(record, name) for name in names}})


def record_value(record: Any, *names: str) -> bytes:
    return to_json({name: getattr(record, name) for name in names})
