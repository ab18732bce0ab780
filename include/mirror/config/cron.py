"""Checks a cron expression without a library, because Dag files are parsed often and Airflow reads it again anyway."""

from __future__ import annotations

import re

PRESETS = ("@hourly", "@daily", "@weekly", "@monthly", "@quarterly", "@yearly")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day of the month", 1, 31, []),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)


def check_cron(text: str) -> None:
    """Raises ValueError: empty for something that is no cron at all, with words for a wrong field."""
    if text in PRESETS:
        return
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError
    for field, (name, least, most, words) in zip(fields, _FIELDS, strict=True):
        if not all(_is_part(part, least, most, words) for part in field.split(",")):
            raise ValueError(f"expected a cron {name} between {least} and {most}, *, a range or a step")


def _is_part(part: str, least: int, most: int, words: list[str]) -> bool:
    found = re.fullmatch(r"(\*|\w+)(?:-(\w+))?(?:/([1-9][0-9]*))?", part)
    if not found:
        return False
    if found[1] == "*":
        return found[2] is None
    bounds = [_number(word, words) for word in (found[1], found[2]) if word is not None]
    return all(bound is not None and least <= bound <= most for bound in bounds)


def _number(word: str, words: list[str]) -> int | None:
    if word.lower() in words:
        return words.index(word.lower()) + (1 if words is _MONTHS else 0)
    return int(word) if word.isdigit() else None
