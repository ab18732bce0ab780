"""What the next run would decide, without deciding it."""

from __future__ import annotations

from dataclasses import replace

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.first_positions import decide_first_positions, undecided
from mirror.copy.judge import Judgement, foreign_data, judge
from mirror.copy.spec import FlowLinks
from mirror.copy.survey import Survey
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition


def foresee(flow: Flow, links: FlowLinks, seen: Survey, source: Cluster) -> tuple[Judgement, list[TopicPartition]]:
    """The judgement, and the partitions that no run has seen yet; their first positions are put into the survey."""
    fresh = undecided(seen)
    decided = decide_first_positions(flow, links.flow_key, seen, source, fresh)
    seen.control.first_positions.update(zip(fresh, decided, strict=True))
    judgement = judge(flow, links, seen)
    if flow[opt.ON_FOREIGN_DATA] == "fail":
        judgement = replace(judgement, stopped={**judgement.stopped, **foreign_data(links, seen, fresh)})
    return judgement, fresh
