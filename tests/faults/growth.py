"""A source that grows while its copies die: plain records, committed and aborted transactions, in many partitions."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Mapping
from types import TracebackType

from confluent_kafka import Producer

from integration.records import DEADLINE_S

FIRST_COUNT = 12_000
TICK_COUNT = 60
TICK_S = 0.05
PADDING = b"." * 150


class GrowingSource:
    """Fills topics when entered, then goes on writing from a thread; left, all transactions are at an end."""

    def __init__(self, servers: str, partition_counts: Mapping[str, int], *, first_count: int = FIRST_COUNT) -> None:
        self._places = [(topic, number) for topic, count in partition_counts.items() for number in range(count)]
        self._settings = {"bootstrap.servers": servers, "linger.ms": 5, "transaction.timeout.ms": 60_000}
        self._plain = Producer({"bootstrap.servers": servers, "linger.ms": 5, "enable.idempotence": True})
        self._transactional = Producer({**self._settings, "transactional.id": f"growth-{uuid.uuid4().hex}"})
        self._first_count = first_count
        self._written = 0
        self._random = random.Random(7)
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._grow, name="growth", daemon=True)

    def __enter__(self) -> GrowingSource:
        self._transactional.init_transactions(DEADLINE_S)
        self._write(self._plain, self._first_count // 2)
        self._transaction(self._first_count // 4, stands=False)
        self._transaction(self._first_count // 2, stands=True)
        self._flush(self._plain)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(DEADLINE_S)
        if kind is None:
            assert not self._thread.is_alive(), "the source's writer hangs"
            if self._error is not None:
                raise self._error

    def _grow(self) -> None:
        try:
            while not self._ended.wait(TICK_S):
                self._write(self._plain, TICK_COUNT // 2)
                self._transaction(TICK_COUNT // 2, stands=self._random.random() < 0.7)
            self._flush(self._plain)
        except BaseException as error:  # noqa: BLE001 - raised again in the test's own thread
            self._error = error

    def _transaction(self, count: int, *, stands: bool) -> None:
        self._transactional.begin_transaction()
        self._write(self._transactional, count)
        self._flush(self._transactional)  # so that aborted records are in the log, to be stepped over
        if stands:
            self._transactional.commit_transaction(DEADLINE_S)
        else:
            self._transactional.abort_transaction(DEADLINE_S)

    def _flush(self, client: Producer) -> None:
        assert client.flush(DEADLINE_S) == 0, "the source did not take every record"

    def _write(self, client: Producer, count: int) -> None:
        for _ in range(count):
            number = self._written
            self._written += 1
            topic, partition = self._places[number % len(self._places)]
            client.produce(
                topic,
                b"value-%d" % number + PADDING if number % 50 else None,
                b"key-%d" % number if number % 3 else None,
                partition,
                timestamp=int(time.time() * 1000) - number % 1000,
                headers=[("number", b"%d" % number), ("kind", None)] if number % 4 == 0 else None,
            )
            client.poll(0)
