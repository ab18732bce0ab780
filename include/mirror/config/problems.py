"""What the reader of a configuration finds: problems that refuse it, warnings, and notices for `airmirror config`."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath


class Severity(enum.Enum):
    """How loud a finding is."""

    PROBLEM = "problem"  # the file is refused
    WARNING = "warning"  # printed by every command
    NOTICE = "notice"  # printed by `airmirror config` only


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a value came from: a line of a file, or the option's default."""

    file: str = ""
    line: int = 0
    key: str = ""

    @property
    def is_default(self) -> bool:
        return self.line == 0

    def __str__(self) -> str:
        return "default" if self.is_default else f"{PurePath(self.file).name}:{self.line}"


DEFAULT = Origin()


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One finding about one line of the file; as text it is one line."""

    severity: Severity
    message: str
    origin: Origin = DEFAULT

    def __str__(self) -> str:
        where = f"{self.origin.file}:{self.origin.line}: " if self.origin.line else f"{self.origin.file}: "
        key = f"{self.origin.key}: " if self.origin.key else ""
        return f"{where if self.origin.file else ''}{key}{self.message}"


@dataclass(slots=True)
class Findings:
    """Collects everything before anything is refused, so that one run shows all mistakes."""

    all: list[Notice] = field(default_factory=list)

    def problem(self, origin: Origin, message: str) -> None:
        self._add(Severity.PROBLEM, origin, message)

    def warn(self, origin: Origin, message: str) -> None:
        self._add(Severity.WARNING, origin, message)

    def note(self, origin: Origin, message: str) -> None:
        self._add(Severity.NOTICE, origin, message)

    def of(self, severity: Severity) -> tuple[Notice, ...]:
        """The findings of one kind, in the order of the file."""
        chosen = [notice for notice in self.all if notice.severity is severity]
        return tuple(sorted(chosen, key=lambda notice: (notice.origin.line, notice.origin.key)))

    def _add(self, severity: Severity, origin: Origin, message: str) -> None:
        notice = Notice(severity=severity, message=message, origin=origin)
        if notice not in self.all:
            self.all.append(notice)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.72) -> str | None:
    """The known name that was probably meant."""
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def did_you_mean(word: str, known: Iterable[str], *, prefix: str = "") -> str:
    """A clause to end a message with, empty when nothing known is near."""
    name = nearest(word, known)
    return f"; did you mean {prefix}{name}?" if name else ""
