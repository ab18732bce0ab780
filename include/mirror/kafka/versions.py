"""Which requests a cluster's brokers know, and so how old they are at the most; Kafka has no question for its version.

The client learns it when it connects, and tells it only in its debug log.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from confluent_kafka.admin import AdminClient

from mirror.kafka.errors import kafka_call
from mirror.kafka.rights import FIRST_ANSWER_S

_LINE = re.compile(r"ApiKey \S+ \((\d+)\) Versions \d+\.\.(\d+)")

# Request, its version, and the release whose brokers were the first to know it; newest first.
_RELEASES: tuple[tuple[int, int, str], ...] = (
    (90, 0, "4.1"),
    (3, 13, "4.0"),
    (80, 0, "3.9"),
    (75, 0, "3.8"),
    (74, 0, "3.7"),
    (65, 0, "3.0"),
    (60, 0, "2.8"),
    (50, 0, "2.7"),
    (48, 0, "2.6"),
    (47, 0, "2.4"),
    (44, 0, "2.3"),
    (37, 0, "1.0"),
    (22, 0, "0.11"),
)

ApiVersions = dict[int, int]


class _Captured(logging.Handler):
    """Keeps what is said of requests: by number the newest version that every broker knows."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.versions: ApiVersions = {}

    def emit(self, record: logging.LogRecord) -> None:
        found = _LINE.search(record.getMessage())
        if found is not None:
            key, newest = int(found[1]), int(found[2])
            self.versions[key] = min(newest, self.versions.get(key, newest))


def api_versions(alias: str, settings: Mapping[str, Any]) -> ApiVersions:
    """Ask with a client of its own; empty where it did not say."""
    captured = _Captured()
    logger = logging.Logger(f"{__name__}.{alias}", logging.DEBUG)
    logger.addHandler(captured)
    client_settings: dict[str, Any] = {**settings, "debug": "feature", "logger": logger}
    client = AdminClient(client_settings)
    with kafka_call("ask what its brokers know", alias):
        client.describe_cluster(request_timeout=FIRST_ANSWER_S).result()
    client.poll(0.2)
    return captured.versions


def release_of(versions: ApiVersions) -> str:
    """The newest release that knows all of these: brokers are at least that new."""
    known = (release for key, version, release in _RELEASES if versions.get(key, -1) >= version)
    return next(known, "")
