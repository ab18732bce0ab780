"""Who carries out changes on a cluster: its brokers as a rule, or what `forwarding.admin.class` puts before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mirror.errors import MirrorError
from mirror.kafka.acls import TopicAcl, create_acls, delete_acls
from mirror.kafka.configs import SettingChange, alter_settings
from mirror.kafka.values import NewTopic

if TYPE_CHECKING:
    from mirror.kafka.cluster import Cluster


class ForwardingAdmin:
    """Asks the brokers; base of an own class that asks another system, for all changes or for some.

    Each call returns the errors by topic or binding; None, and what is not named, count as done. Reading goes past it,
    as do records and groups' offsets. There is one per cluster of a flow; `self.cluster` is the one to change.
    """

    cluster: Cluster

    def configure(self, properties: Mapping[str, str]) -> None:
        """Take what is needed of the flow's properties, by the names they have in the file without `A->B.`."""

    def create_topics(self, topics: Sequence[NewTopic]) -> Mapping[str, MirrorError | None]:
        """Create each topic, internal ones too; by name. One that exists is no error."""
        return self.cluster.create_topics(topics)

    def grow_topics(self, partition_counts: Mapping[str, int]) -> Mapping[str, MirrorError | None]:
        """Raise each topic to the given number of partitions; by name."""
        return self.cluster.grow_topics(partition_counts)

    def alter_settings(self, changes: Mapping[str, Sequence[SettingChange]]) -> Mapping[str, MirrorError | None]:
        """Set and delete settings, by topic, and leave all others as they are; by topic."""
        return alter_settings(self.cluster, changes)

    def create_acls(self, acls: Sequence[TopicAcl]) -> Mapping[TopicAcl, MirrorError | None]:
        """Make each binding; by binding."""
        return create_acls(self.cluster, acls)

    def delete_acls(self, acls: Sequence[TopicAcl]) -> Mapping[TopicAcl, MirrorError | None]:
        """Remove each binding and nothing else, where `airmirror.acls.prune` is on; by binding."""
        return delete_acls(self.cluster, acls)


def admin_of(cluster: Cluster) -> ForwardingAdmin:
    """Who changes this cluster."""
    if cluster.forwarding is None:
        cluster.forwarding = ForwardingAdmin()
        cluster.forwarding.cluster = cluster
    return cluster.forwarding
