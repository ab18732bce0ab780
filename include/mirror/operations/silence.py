"""Whether producers have let go of a cluster: its ends are looked at twice, and must not move between."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from mirror.kafka.values import TopicPartition

# Seconds between the two looks, unless asked for otherwise: producers that batch for a second or two must show.
SILENCE_S = 5.0

Ends = Mapping[TopicPartition, int]


def growth(look: Callable[[], Ends], seconds: float) -> dict[TopicPartition, int]:
    """How many offsets each partition gained while it was watched; empty when all was silent."""
    before = look()
    time.sleep(seconds)
    return grown(before, look())


def grown(before: Ends, now: Ends) -> dict[TopicPartition, int]:
    return {p: end - before.get(p, 0) for p, end in sorted(now.items()) if end > before.get(p, 0)}


def told(found: Mapping[TopicPartition, int], at_most: int = 5) -> str:
    """The partitions that grew most, in words."""
    most = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    names = ", ".join(f"{partition} by {count:,}" for partition, count in most[:at_most])
    return names + (f" and {len(most) - at_most} more" if len(most) > at_most else "")
