"""Applications that run while something is done to their clusters: one that writes, one that reads with its group."""

from __future__ import annotations

import threading
from types import TracebackType

from confluent_kafka import TopicPartition as ClientTopicPartition

from integration import records
from integration.group_reading import consumer


class Writing:
    """A producer that writes numbered records into a topic's partitions in turn until it is stopped."""

    def __init__(self, servers: str, topic: str, partition_count: int, *, start: int = 0) -> None:
        self._servers, self._topic, self._count = servers, topic, partition_count
        self._stopped = threading.Event()
        self.written = start
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Writing:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join(records.DEADLINE_S)

    def _write(self) -> None:
        client = records.producer(self._servers)
        while not self._stopped.wait(0.02):
            records.send(client, self._topic, records.numbered(20, start=self.written, partitions=self._count))
            self.written += 20


class Reading:
    """A member of a group that reads and commits; `stop` leaves the group as a well-behaved application does."""

    def __init__(self, servers: str, group: str, topic: str) -> None:
        self._client = consumer(servers, group, auto_offset_reset="earliest")
        self._client.subscribe([topic])
        self.seen: list[tuple[int, bytes]] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._stopped.is_set():
            places: dict[int, ClientTopicPartition] = {}
            for message in self._client.consume(10, 0.1):
                if message.error() is None:
                    number, offset = message.partition() or 0, message.offset() or 0
                    self.seen.append((number, message.value() or b""))
                    places[number] = ClientTopicPartition(message.topic() or "", number, offset + 1)
            if places:
                self._client.commit(offsets=list(places.values()), asynchronous=False)

    def wait_for(self, count: int) -> None:
        pause = threading.Event()
        for _ in range(int(records.DEADLINE_S / 0.05)):
            if len(self.seen) >= count:
                return
            pause.wait(0.05)
        raise AssertionError(f"{len(self.seen)} of {count} records were read in {records.DEADLINE_S} s")

    def stop(self) -> list[tuple[int, bytes]]:
        self._stopped.set()
        self._thread.join(records.DEADLINE_S)
        self._client.close()
        return self.seen
