"""Both clusters of a flow for a task's administrative calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from mirror.config import Flow
from mirror.kafka.cluster import Cluster


@contextmanager
def clusters_of(flow: Flow, task: str) -> Iterator[tuple[Cluster, Cluster]]:
    """Source and target, under a client id that tells the task, so that brokers' logs and quotas can tell it too."""
    with (
        Cluster(flow.source, _settings(flow, "source", task)) as source,
        Cluster(flow.target, _settings(flow, "target", task)) as target,
    ):
        yield source, target


def _settings(flow: Flow, side: Literal["source", "target"], task: str) -> dict[str, Any]:
    settings = flow.admin_settings(side)
    return {**settings, "client.id": f"{settings['client.id']}|{task}"}
