"""Record functions of the copies under test."""

from __future__ import annotations

from mirror.records import Record


def every_third_dropped_and_values_marked(record: Record) -> Record | None:
    """Drops every third record, leaves every second as it is, and marks the others."""
    if record.offset % 3 == 2:
        return None
    if record.offset % 2 == 0 or record.value is None:
        return record
    return record.changed(value=record.value + b" marked", headers=(*record.headers, ("marked", b"yes")))


def fails_at_seven(record: Record) -> Record:
    if record.value == b"value-7":
        raise ValueError(record.value)
    return record
