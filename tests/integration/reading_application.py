"""An application with a group: writes down each record, then commits now and then. Run as a process, to be killed.

python reading_application.py SERVERS GROUP TOPIC [COUNT]     ends after COUNT records, or when nothing more comes
"""

from __future__ import annotations

import sys
import time

from confluent_kafka import Consumer

COMMIT_EVERY = 7
# Seconds without a record after which it has read all there is.
IDLE_S = 3.0


def main(servers: str, group: str, topic: str, count: int) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "session.timeout.ms": 6000,
        }
    )
    consumer.subscribe([topic])
    processed, idle_since = 0, time.monotonic()
    while processed < count and (not processed or time.monotonic() - idle_since < IDLE_S):
        message = consumer.poll(0.2)
        if message is None or message.error() is not None:
            continue
        # Processed is what is written here; committed is what is said to Kafka, a little later.
        sys.stdout.write(message.value().decode() + "\n")
        sys.stdout.flush()
        processed, idle_since = processed + 1, time.monotonic()
        if processed % COMMIT_EVERY == 0:
            consumer.commit(message, asynchronous=False)
    consumer.commit(asynchronous=False) if processed else None
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]) if len(sys.argv) > 4 else 10**9)
