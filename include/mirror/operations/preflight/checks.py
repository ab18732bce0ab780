"""What preflight found, check by check: how it stands, why, and the next command to type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from mirror.errors import MirrorError, NotAuthorized

# "unknown" is a result of its own: it could not be determined, and the reason says why.
Status = Literal["ok", "warning", "unknown", "failed"]
Area = Literal["clusters", "rights", "names", "topics", "settings", "state"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    area: Area
    subject: str
    status: Status
    reason: str
    next_step: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that was looked at, in the order in which it matters."""

    flow: str
    checks: tuple[Check, ...]

    def of(self, status: Status) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.status == status)

    @property
    def counts(self) -> Counter[Status]:
        return Counter(check.status for check in self.checks)

    @property
    def has_failed(self) -> bool:
        return bool(self.of("failed"))

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow,
            "failed": self.counts["failed"],
            "warnings": self.counts["warning"],
            "unknown": self.counts["unknown"],
            "checks": [check.to_json() for check in self.checks],
        }


def unable(area: Area, subject: str, error: MirrorError) -> Check:
    """A check that could not be made. For want of a right it is not known; the rights say which, and fail."""
    status: Status = "unknown" if isinstance(error, NotAuthorized) else "failed"
    return Check(area=area, subject=subject, status=status, reason=error.message, next_step=error.next_step)


def failures_in_words(checks: Sequence[Check]) -> str:
    """All of them on lines of their own, each with its next step below."""
    lines = []
    for check in checks:
        lines.append(f"{check.subject}: {check.reason}")
        if check.next_step:
            lines.append(f"  next: {check.next_step}")
    return "\n  ".join(lines)
