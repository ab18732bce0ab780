"""Both clusters of a flow for administrative calls, changed by the class that the file names for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.import_paths import own_path
from mirror.custom import load_configured
from mirror.kafka.cluster import Cluster
from mirror.kafka.forwarding import ForwardingAdmin, admin_of

_FUNCTIONS = ("create_topics", "grow_topics", "alter_settings", "create_acls", "delete_acls")


@contextmanager
def clusters_of(flow: Flow, task: str) -> Iterator[tuple[Cluster, Cluster]]:
    """Source and target, under a client id that tells the task, so that brokers' logs and quotas can tell it too."""
    with (
        Cluster(flow.source, _settings(flow, "source", task)) as source,
        Cluster(flow.target, _settings(flow, "target", task)) as target,
    ):
        forwarded(flow, source)
        forwarded(flow, target)
        yield source, target


def _settings(flow: Flow, side: Literal["source", "target"], task: str) -> dict[str, Any]:
    settings = flow.admin_settings(side)
    return {**settings, "client.id": f"{settings['client.id']}|{task}"}


def forwarded(flow: Flow, cluster: Cluster) -> ForwardingAdmin:
    """Who changes this cluster on behalf of this flow; stays so for as long as the cluster is used."""
    option = opt.FORWARDING_ADMIN_CLASS
    if cluster.forwarding is None and own_path(flow[option]) is not None:
        own: ForwardingAdmin = load_configured(flow, option, ForwardingAdmin, _FUNCTIONS)
        own.cluster = cluster
        cluster.forwarding = own
    return admin_of(cluster)
