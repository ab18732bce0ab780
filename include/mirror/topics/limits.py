"""What a cluster's brokers take where a topic itself says nothing."""

from __future__ import annotations

import logging

from mirror.errors import NotAuthorized
from mirror.kafka.cluster import Cluster
from mirror.topics.settings import KAFKA_MAX_MESSAGE_BYTES

log = logging.getLogger(__name__)


def smallest_record_limit(cluster: Cluster) -> int:
    """What a topic without a setting of its own takes on the broker that takes least."""
    try:
        values = cluster.broker_setting("message.max.bytes")
    except NotAuthorized:
        # The right to read brokers' settings is one that MM2 never needed; without it Kafka's default is assumed,
        # so that at worst a topic gets an explicit setting which it did not need.
        log.info("cluster %s does not let us read its brokers' settings; assuming Kafka's default", cluster.alias)
        return KAFKA_MAX_MESSAGE_BYTES
    return min((int(value) for value in values), default=KAFKA_MAX_MESSAGE_BYTES)
