"""Reads a flow's lag from both clusters and writes nothing, not even a missing internal topic."""

from __future__ import annotations

import time
from dataclasses import replace

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.first_positions import decide_first_positions, undecided
from mirror.copy.glance import glance
from mirror.copy.judge import foreign_data, judge
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.copy.survey import Survey
from mirror.kafka.cluster import Cluster
from mirror.kafka.timestamps import read_timestamps
from mirror.status.lag import FlowLag
from mirror.status.stand import Findings, stand, unseen, with_ages


def measure_lag(flow: Flow) -> FlowLag:
    """How far the flow is behind now."""
    links = links_of(flow)
    with Cluster(flow.source, links.source_admin) as source, Cluster(flow.target, links.target_admin) as target:
        seen = glance(flow, links, source, target)
        found = _find(flow, links, seen, source)
    lag = stand(flow.id, found, now_ms=int(time.time() * 1000))
    return with_ages(lag, read_timestamps(links.source_consumer, flow.source, unseen(lag)))


def _find(flow: Flow, links: FlowLinks, seen: Survey, source: Cluster) -> Findings:
    """What the next run would decide, without deciding it."""
    fresh = undecided(seen)
    decided = decide_first_positions(flow, links.flow_key, seen, source, fresh)
    seen.control.first_positions.update(zip(fresh, decided, strict=True))
    judgement = judge(flow, links, seen)
    if flow[opt.ON_FOREIGN_DATA] == "fail":
        judgement = replace(judgement, stopped={**judgement.stopped, **foreign_data(links, seen, fresh)})
    return Findings(survey=seen, judgement=judgement, new=frozenset(fresh))
