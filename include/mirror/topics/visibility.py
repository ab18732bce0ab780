"""Wait until brokers know of what their controller said was made."""

from __future__ import annotations

import time
from collections.abc import Mapping

from mirror.errors import ClusterBusy
from mirror.kafka.cluster import Cluster

# Seconds: a broker was seen to take half a second for 100 new partitions' logs, after the controller had answered.
VISIBLE_WITHIN_S = 60.0
_PAUSE_S = 0.1


def wait_until_visible(
    cluster: Cluster, partition_counts: Mapping[str, int], *, within_s: float = VISIBLE_WITHIN_S
) -> dict[str, ClusterBusy]:
    """Wait until each topic is described with its partitions; the topics that were not in time, with the error.

    Without this, a copy or a second run that follows at once finds topics missing that exist.
    """
    waiting = dict(partition_counts)
    give_up = time.monotonic() + within_s
    while True:
        seen = cluster.describe(waiting)
        waiting = {
            name: count for name, count in waiting.items() if name not in seen or seen[name].partition_count < count
        }
        if not waiting or time.monotonic() > give_up:
            break
        time.sleep(_PAUSE_S)
    return {name: _late(cluster.alias, name, within_s) for name in waiting}


def _late(cluster: str, name: str, within_s: float) -> ClusterBusy:
    return ClusterBusy(
        f"topic {name} was made on cluster {cluster}, but its brokers do not show it after {within_s:.0f} s",
        next_step="nothing to do but run this again",
        cluster=cluster,
        topic=name,
    )
