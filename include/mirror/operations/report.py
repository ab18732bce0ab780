"""A plan or a report as a person reads it: sections of text, tables and commands, on a terminal and on a page alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mirror.operations import pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part; what it has not is left out."""

    heading: str
    text: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    commands: tuple[str, ...] = ()


class Tells(Protocol):
    """A plan or a report."""

    def sections(self) -> Sequence[Section]: ...

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A plan or a report with all that is shown of it."""

    title: str
    parts: tuple[Section, ...]
    document: dict[str, Any]

    def sections(self) -> tuple[Section, ...]:
        return self.parts

    def to_json(self) -> dict[str, Any]:
        return self.document


def kept_again(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """A report's members out of a kept document, which may be of an older version and lack some; lists were tuples."""
    members = {name: document[name] for name in names if name in document}
    return members | {name: tuple(value) for name, value in members.items() if isinstance(value, list)}


def markdown(title: str, sections: Sequence[Section]) -> str:
    """The page; names in it are other people's words and are shown as they are."""
    return pages.document(f"# {pages.words(title)}", *(_section(section) for section in sections))


def _section(section: Section) -> str:
    rows = [[pages.words(cell) for cell in row] for row in section.rows]
    return pages.document(
        f"## {pages.words(section.heading)}",
        *(pages.words(text) for text in section.text),
        pages.table(section.headings, rows) if rows else "",
        pages.commands(section.commands) if section.commands else "",
    )
