"""What was measured, and what it means against MM2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench import contenders, shapes

BASE = "mm2"
OURS = "airmirror"
# What issue 3 asks of airmirror on the judged shape.
RATE_WANTED = 2.0
CPU_WANTED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One contender on one shape; `seconds` are those between the first and the last record on the target."""

    shape: str
    contender: str
    record_count: int
    copied_count: int
    start_up_s: float
    seconds: float
    cpu_s: float
    copying_cpu_s: float
    broker_cpu_s: float

    @property
    def records_per_s(self) -> float:
        return self.record_count / self.seconds if self.seconds > 0 else 0.0

    @property
    def megabytes_per_s(self) -> float:
        return self.records_per_s * shapes.RECORD_BYTES / 1e6

    @property
    def is_right(self) -> bool:
        return self.copied_count == self.record_count


def medians(results: Sequence[Measured]) -> list[Measured]:
    """One line per contender and shape: each number the median of its rounds; a wrong count stays."""
    rounds: dict[tuple[str, str], list[Measured]] = {}
    for one in results:
        rounds.setdefault((one.shape, one.contender), []).append(one)
    return [_median(same) for same in rounds.values()]


def _median(rounds: Sequence[Measured]) -> Measured:
    wrong = [one for one in rounds if not one.is_right]
    return Measured(
        shape=rounds[0].shape,
        contender=rounds[0].contender,
        record_count=rounds[0].record_count,
        copied_count=(wrong or rounds)[0].copied_count,
        start_up_s=median(one.start_up_s for one in rounds),
        seconds=median(one.seconds for one in rounds),
        cpu_s=median(one.cpu_s for one in rounds),
        copying_cpu_s=median(one.copying_cpu_s for one in rounds),
        broker_cpu_s=median(one.broker_cpu_s for one in rounds),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """A contender in multiples of MM2."""

    rate: float
    cpu: float
    copying_cpu: float


def ratios(one: Measured, results: Sequence[Measured]) -> Ratios | None:
    """How it compares with MM2 on the same shape; None where MM2 was not measured, or not rightly."""
    base = _find(results, one.shape, BASE)
    if base is None or not base.is_right or not base.records_per_s or not base.cpu_s or not base.copying_cpu_s:
        return None
    return Ratios(
        rate=one.records_per_s / base.records_per_s,
        cpu=one.cpu_s / base.cpu_s,
        copying_cpu=one.copying_cpu_s / base.copying_cpu_s,
    )


def is_promise_kept(results: Sequence[Measured]) -> bool | None:
    """Whether airmirror is as fast and as frugal as promised; None when the judged shape was not measured."""
    ours = _find(results, shapes.JUDGED, OURS)
    against = ratios(ours, results) if ours else None
    if ours is None or against is None:
        return None
    return ours.is_right and against.rate >= RATE_WANTED and against.cpu <= CPU_WANTED


def verdict(results: Sequence[Measured]) -> str:
    """The line at the end."""
    kept = is_promise_kept(results)
    if kept is None:
        return ""
    label = shapes.BY_NAME[shapes.JUDGED].label
    return (
        f"{label}: at least {RATE_WANTED:.0f} times MM2's records/s and at most half its CPU seconds: "
        f"{'yes' if kept else 'no'}"
    )


HEADINGS = (
    "shape", "program", "records/s", "MB/s", "CPU s", "copying", "brokers", "start-up s",
    "rate / MM2", "CPU / MM2", "copying / MM2", "count",
)  # fmt: skip
NUMBERS = HEADINGS[2:11]


def rows(results: Sequence[Measured]) -> list[tuple[str, ...]]:
    """The table's lines, one per contender and shape."""
    return [_row(one, ratios(one, results)) for one in results]


def _row(one: Measured, against: Ratios | None) -> tuple[str, ...]:
    multiples = ("", "", "")
    if against is not None and one.contender != BASE:
        multiples = (f"{against.rate:.2f}", f"{against.cpu:.2f}", f"{against.copying_cpu:.2f}")
    return (
        shapes.BY_NAME[one.shape].label,
        contenders.BY_NAME[one.contender].label,
        f"{one.records_per_s:,.0f}",
        f"{one.megabytes_per_s:.1f}",
        f"{one.cpu_s:.1f}",
        f"{one.copying_cpu_s:.1f}",
        f"{one.broker_cpu_s:.1f}",
        f"{one.start_up_s:.1f}",
        *multiples,
        "right" if one.is_right else f"WRONG: {one.copied_count:,} of {one.record_count:,}",
    )


def document(results: Sequence[Measured]) -> dict[str, Any]:
    """Everything, for --json."""
    return {
        "results": [
            {
                **asdict(one),
                "records_per_s": round(one.records_per_s, 1),
                "megabytes_per_s": round(one.megabytes_per_s, 2),
                "is_right": one.is_right,
                "against_mm2": asdict(against) if (against := ratios(one, results)) else None,
            }
            for one in results
        ],
        "promise_kept": is_promise_kept(results),
    }


def _find(results: Sequence[Measured], shape: str, contender: str) -> Measured | None:
    return next((one for one in results if (one.shape, one.contender) == (shape, contender)), None)
