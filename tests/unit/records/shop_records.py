"""Record functions as a user would write them."""

from __future__ import annotations

from typing import Any

from mirror.records import Record

NOT_CALLABLE = 3


def hide_cards(record: Record) -> Record | None:
    """Drops what is internal, and blackens card numbers."""
    if record.header("internal") is not None:
        return None
    if record.value is None:
        return record
    return record.changed(value=record.value.replace(b"4111", b"****"), headers=(*record.headers, ("hidden", b"1")))


def fails(record: Record) -> Record:
    raise ValueError(f"a secret: {record.value!r}")


def answers_nonsense(record: Record) -> Any:
    return {
        b"str": "text",
        b"topic": record._replace(topic="other"),
        b"offset": record._replace(offset=record.offset + 1),
        b"value": record.changed(value="text"),
        b"headers": record.changed(headers=[("name", 1)]),
        b"timestamp": record.changed(timestamp_ms=-5),
    }[record.value or b""]


def moves(record: Record) -> Record:
    return record.changed(partition=1)


def forget_headers(record: Record) -> Record:
    return record.changed(headers=())


class Only:
    """A topic filter: all that is called orders."""

    def should_replicate_topic(self, topic: str) -> bool:
        return topic == "orders"
