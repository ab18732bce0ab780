"""Reads a flow's lag from both clusters and writes nothing, not even a missing internal topic."""

from __future__ import annotations

import time

from mirror.config import Flow
from mirror.copy.foresight import foresee
from mirror.copy.glance import glance
from mirror.copy.links import links_of
from mirror.kafka.cluster import Cluster
from mirror.kafka.timestamps import read_timestamps
from mirror.status.lag import FlowLag
from mirror.status.stand import Findings, stand, unseen, with_ages


def measure_lag(flow: Flow) -> FlowLag:
    """How far the flow is behind now."""
    links = links_of(flow)
    with Cluster(flow.source, links.source_admin) as source, Cluster(flow.target, links.target_admin) as target:
        seen = glance(flow, links, source, target)
        judgement, fresh = foresee(flow, links, seen, source)
    found = Findings(survey=seen, judgement=judgement, new=frozenset(fresh))
    lag = stand(flow.id, found, now_ms=int(time.time() * 1000))
    return with_ages(lag, read_timestamps(links.source_consumer, flow.source, unseen(lag)))
