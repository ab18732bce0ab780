"""Things that happen to a copy in its midst: at one of its named points, while its client has read little ahead."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from integration.copying import Mirrored
from integration.records import Sent, producer, send
from mirror.copy import driver, points, record_engine
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks

RECORD_BYTES = 1000
# A commit every fifty records, not faster than five hundred of them a second.
MANY_COMMITS = f"""airmirror.copy.commit.bytes = {50 * RECORD_BYTES}
airmirror.copy.max.bytes.per.second = {500 * RECORD_BYTES}
"""


def fill(flow: Mirrored, topic: str, count: int, label: bytes = b"first") -> None:
    """Records in batches of ten, so that a fetch need not bring all of them."""
    client = producer(flow.upstream.bootstrap_servers, batch_num_messages=10)
    send(client, topic, [Sent(value=(b"%s-%d" % (label, n)).ljust(RECORD_BYTES, b".")) for n in range(count)])


def at(patch: pytest.MonkeyPatch, point: str, nth: int, disturb: Callable[[], object]) -> threading.Event:
    """Disturb the copies of this process when one reaches the point for the nth time; the event says that it did."""
    assert point in points.POINTS
    lock, done = threading.Lock(), threading.Event()
    seen = 0

    def reached(name: str) -> None:
        nonlocal seen
        if name != point:
            return
        with lock:  # slots are threads here: the others wait at their own points until it is done
            seen += 1
            if seen == nth:
                disturb()
                done.set()

    patch.setattr(record_engine, "reached", reached)
    patch.setattr(driver, "links_of", _reading_little_ahead(links_of))
    return done


def _reading_little_ahead(links: Callable[..., FlowLinks]) -> Callable[..., FlowLinks]:
    # A client that has fetched everything already does not notice that the log moves away under it.
    little = {
        "queued.min.messages": 1,
        "queued.max.messages.kbytes": 1,
        "max.partition.fetch.bytes": 1000,
        "fetch.queue.backoff.ms": 5,
    }

    def of(*arguments: Any, **more: Any) -> FlowLinks:
        found = links(*arguments, **more)
        return replace(found, source_consumer={**found.source_consumer, **little})

    return of
