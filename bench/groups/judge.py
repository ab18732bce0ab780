"""How well a group's offset was carried over: to the very record, early by so many, late, or not at all."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from bench.groups.reading import Read


@dataclass(frozen=True, slots=True)
class Landed:
    """Where one offset led: `early` records are read again, `late` ones never; neither is the very record."""

    early: int = 0
    late: int = 0
    is_missing: bool = False

    @property
    def is_exact(self) -> bool:
        return not (self.early or self.late or self.is_missing)


def judge(here: Sequence[Read], there: Sequence[Read], upstream: int, downstream: int | None) -> Landed:
    """Compare what a group reads next on both sides; behind the last record, both are at the end."""
    if downstream is None:
        return Landed(is_missing=True)
    following = here[bisect_left(here, upstream, key=attrgetter("offset")) :]
    places = {record.value: index for index, record in enumerate(there)}
    wanted = places[following[0].value] if following else len(there)
    distance = wanted - bisect_left(there, downstream, key=attrgetter("offset"))
    return Landed(early=max(distance, 0), late=max(-distance, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """All offsets of all groups, carried over by one program."""

    program: str
    landed: tuple[Landed, ...]

    @property
    def exact(self) -> int:
        return sum(one.is_exact for one in self.landed)

    @property
    def missing(self) -> int:
        return sum(one.is_missing for one in self.landed)

    @property
    def early(self) -> list[int]:
        return [one.early for one in self.landed if one.early]

    @property
    def late(self) -> int:
        return sum(one.late > 0 for one in self.landed)

    @property
    def mean_early(self) -> float:
        return sum(self.early) / len(self.early) if self.early else 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "program": self.program,
            "offsets": len(self.landed),
            "exact": self.exact,
            "missing": self.missing,
            "early": len(self.early),
            "mean_records_early": round(self.mean_early, 1),
            "worst_records_early": max(self.early, default=0),
            "late": self.late,
        }


HEADINGS = ("program", "offsets", "exact", "missing", "early", "records early, mean", "worst", "late")


def row(carried: Carried) -> tuple[str, ...]:
    told = carried.to_json()
    mean = f"{carried.mean_early:,.0f}" if carried.early else ""
    worst = f"{told['worst_records_early']:,}" if carried.early else ""
    counts = (str(told[name]) for name in ("offsets", "exact", "missing", "early"))
    return carried.program, *counts, mean, worst, str(carried.late)
