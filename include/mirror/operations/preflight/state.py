"""Would a copy go on in every partition? What would stop one is told before it does."""

from __future__ import annotations

from collections.abc import Mapping

from mirror.config import Flow
from mirror.copy.foresight import foresee
from mirror.copy.glance import glance
from mirror.copy.links import links_of
from mirror.errors import MirrorError
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.operations.preflight.checks import Check


def check_partitions(flow: Flow, source: Cluster, target: Cluster) -> list[Check]:
    """Foreign data in a remote topic, topics made anew, logs cut off: as the next run would find them."""
    links = links_of(flow)
    judgement, _ = foresee(flow, links, glance(flow, links, source, target), source)
    if judgement.stopped:
        return [*_stopped(judgement.stopped)]
    reason = f"{len(judgement.ready)} can be copied"
    if judgement.waiting:
        reason += f"; those of {len(judgement.waiting)} topics when these are made or grown"
    return [Check(area="state", subject="partitions", status="ok", reason=reason)]


def _stopped(stopped: Mapping[TopicPartition, MirrorError]) -> list[Check]:
    """One line per topic and kind: what stops one partition of a topic mostly stops them all."""
    kinds: dict[tuple[str, str], list[MirrorError]] = {}
    for partition, error in sorted(stopped.items()):
        kinds.setdefault((partition.topic, type(error).__name__), []).append(error)
    return [
        Check(
            area="state",
            subject=f"topic {topic}",
            status="failed",
            reason=errors[0].message + (f"; and {len(errors) - 1} more partitions" if len(errors) > 1 else ""),
            next_step=errors[0].next_step,
        )
        for (topic, _), errors in kinds.items()
    ]
