"""Both clusters of a flow for administrative calls, changed by the class that the file names for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mirror.config import Flow, known_as
from mirror.config import options as opt
from mirror.config.import_paths import own_path
from mirror.custom import load_configured
from mirror.kafka.cluster import Cluster
from mirror.kafka.forwarding import ForwardingAdmin, admin_of

_FUNCTIONS = ("create_topics", "grow_topics", "alter_settings", "create_acls", "delete_acls")


@contextmanager
def clusters_of(flow: Flow, task: str) -> Iterator[tuple[Cluster, Cluster]]:
    """Source and target, under a client id that tells the task."""
    with (
        Cluster(flow.source, known_as(flow.admin_settings("source"), task)) as source,
        Cluster(flow.target, known_as(flow.admin_settings("target"), task)) as target,
    ):
        forwarded(flow, source)
        forwarded(flow, target)
        yield source, target


def forwarded(flow: Flow, cluster: Cluster) -> ForwardingAdmin:
    """Who changes this cluster on behalf of this flow; stays so for as long as the cluster is used."""
    option = opt.FORWARDING_ADMIN_CLASS
    if cluster.forwarding is None and own_path(flow[option]) is not None:
        own: ForwardingAdmin = load_configured(flow, option, ForwardingAdmin, _FUNCTIONS)
        own.cluster = cluster
        cluster.forwarding = own
    return admin_of(cluster)
