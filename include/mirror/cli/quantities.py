"""Numbers, sizes and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400


def count_text(number: int) -> str:
    return f"{number:,}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 partition`, `12 partitions`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bytes_text(byte_count: int) -> str:
    """Three digits and a unit of a thousand, as disks and networks are measured."""
    size, unit = float(byte_count), 0
    while size >= 999.5 and unit < len(_BYTE_UNITS) - 1:
        size /= 1000
        unit += 1
    return f"{size:.1f} {_BYTE_UNITS[unit]}" if unit and size < 99.95 else f"{size:.0f} {_BYTE_UNITS[unit]}"


def duration_text(seconds: float) -> str:
    """The two largest units: `4.2 s`, `3 min 20 s`, `2 d 5 h`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} min {whole % _MINUTE_S} s"
    if whole < _DAY_S:
        return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S} min"
    return f"{whole // _DAY_S} d {whole % _DAY_S // _HOUR_S} h"


def moment_text(at_ms: int) -> str:
    """A moment to the second, in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
