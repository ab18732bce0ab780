"""The data of the demo: a shop with two sites, each with its own Kafka, its own topics and its own consumers.

Pure: which topics, which records, which groups. `applications.py` writes them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

CUSTOMERS = 800
SPAN_MS = 2 * 3600 * 1000  # a wave's records are spread over the last two hours, well inside every retention


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record as an application writes it; a value of None deletes its key."""

    key: str
    value: Mapping[str, Any] | None
    headers: tuple[tuple[str, str | bytes | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopTopic:
    """One topic of a site: how many records a wave adds, and whether they come in transactions."""

    name: str
    partition_count: int
    record_count: int
    make: Callable[[int, random.Random], Record]
    configs: Mapping[str, str] = field(default_factory=dict)
    records_per_transaction: int = 0  # 0: written without transactions
    abort_every: int = 0  # each so-many-th transaction is aborted: its records must not be copied


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopGroup:
    """A consumer group that has read a part of a topic."""

    name: str
    topic: str
    fraction_read: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What one cluster holds."""

    cluster: str
    topics: tuple[ShopTopic, ...]
    groups: tuple[ShopGroup, ...]


def records_of(topic: ShopTopic, wave: int) -> Iterator[tuple[Record, int]]:
    """A wave's records, each with its age in milliseconds; the same wave is the same records."""
    chance = random.Random(f"{topic.name}/{wave}")
    first = wave * topic.record_count
    for number in range(topic.record_count):
        age_ms = SPAN_MS * (topic.record_count - number) // topic.record_count
        yield topic.make(first + number, chance), age_ms


def _customer(chance: random.Random) -> str:
    return f"customer-{chance.randrange(CUSTOMERS):04d}"


def _order(number: int, chance: random.Random) -> Record:
    items = [{"sku": f"sku-{chance.randrange(500):03d}", "count": chance.randint(1, 4)} for _ in range(2)]
    value = {"order": number, "customer": _customer(chance), "items": items, "total": chance.randint(500, 40000)}
    return Record(key=f"order-{number}", value=value, headers=(("trace", f"{chance.getrandbits(64):016x}".encode()),))


def _payment(number: int, chance: random.Random) -> Record:
    method = chance.choice(("card", "invoice", "voucher"))
    return Record(
        key=f"order-{number}", value={"order": number, "method": method, "amount": chance.randint(500, 40000)}
    )


def _customer_record(number: int, chance: random.Random) -> Record:
    key = _customer(chance)
    if chance.random() < 0.02:
        return Record(key=key, value=None)
    return Record(key=key, value={"name": key.title(), "tier": chance.choice(("basic", "plus")), "version": number})


def _click(number: int, chance: random.Random) -> Record:
    page = chance.choice(("/", "/search", "/basket", f"/product/{chance.randrange(500)}"))
    return Record(
        key=_customer(chance), value={"click": number, "page": page, "ms_on_page": chance.randint(100, 90000)}
    )


def _stock(number: int, chance: random.Random) -> Record:
    value = {"movement": number, "change": chance.randint(-5, 20), "warehouse": chance.choice("ABC")}
    return Record(key=f"sku-{chance.randrange(500):03d}", value=value)


def _shipment(number: int, chance: random.Random) -> Record:
    state = chance.choice(("packed", "sent", "delivered"))
    return Record(key=f"order-{number % 2000}", value={"shipment": number, "state": state})


EAST = Site(
    cluster="east",
    topics=(
        ShopTopic(name="orders", partition_count=3, record_count=4000, make=_order),
        ShopTopic(
            name="payments",
            partition_count=3,
            record_count=3000,
            make=_payment,
            records_per_transaction=50,
            abort_every=6,
        ),
        ShopTopic(
            name="customers",
            partition_count=2,
            record_count=2000,
            make=_customer_record,
            configs={"cleanup.policy": "compact"},
        ),
        ShopTopic(
            name="clickstream",
            partition_count=8,
            record_count=20000,
            make=_click,
            configs={"retention.ms": "259200000", "compression.type": "lz4"},
        ),
        ShopTopic(name="refunds", partition_count=1, record_count=0, make=_payment),
    ),
    groups=(
        ShopGroup(name="order-service", topic="orders", fraction_read=0.7),
        ShopGroup(name="fraud-detection", topic="payments", fraction_read=0.5),
        ShopGroup(name="dashboard", topic="clickstream", fraction_read=0.9),
    ),
)
WEST = Site(
    cluster="west",
    topics=(
        ShopTopic(name="orders", partition_count=3, record_count=1500, make=_order),
        ShopTopic(name="inventory", partition_count=4, record_count=6000, make=_stock),
        ShopTopic(
            name="shipments",
            partition_count=2,
            record_count=2500,
            make=_shipment,
            records_per_transaction=25,
            abort_every=10,
        ),
    ),
    groups=(
        ShopGroup(name="warehouse", topic="inventory", fraction_read=0.4),
        ShopGroup(name="notifications", topic="shipments", fraction_read=0.6),
    ),
)
SITES = (EAST, WEST)
