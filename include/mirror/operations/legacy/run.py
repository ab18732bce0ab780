"""Rounds of a flow without Airflow: look for topics, copy for a while, and again, until told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from mirror import topics
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import Executor
from mirror.copy.links import links_of
from mirror.copy.progress import Progress
from mirror.copy.result import CopyResult
from mirror.errors import TryAgain
from mirror.kafka.cluster import Cluster

# Seconds that one round goes on with what arrives; new topics are looked for between rounds.
ROUND_S = 60.0
# Seconds before another try after a passing fault, doubled each time up to the most.
PAUSE_S, PAUSE_MAX_S = 1.0, 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How it goes on: until interrupted, or until nothing is left to copy."""

    drains: bool = False
    # Whether a partition that cannot go on ends it all, as MirrorMaker 1 did unless told otherwise.
    aborts: bool = True


def run_legacy(flow: Flow, rounds: Rounds, executor: Callable[[], Executor], progress: Progress) -> CopyResult:
    """Copy in rounds; gives the last round's result. Ctrl-C ends it, and what is committed stands."""
    pause_s = PAUSE_S
    looked = False
    while True:
        try:
            if not looked or flow[opt.REFRESH_TOPICS_ENABLED]:
                make_topics(flow, progress)
                looked = True
            window_s = 0.0 if rounds.drains else ROUND_S
            result = run_copy(flow, CopyRequest(window_s=window_s), executor, progress)
        except TryAgain as error:
            if rounds.drains:
                raise
            progress.say(f"{error.message}; again in {pause_s:.0f} s")
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, PAUSE_MAX_S)
            continue
        pause_s = PAUSE_S
        if result.failed and (rounds.aborts or rounds.drains):
            return result
        if rounds.drains and not result.record_count:
            return result


def make_topics(flow: Flow, progress: Progress) -> None:
    """Create and grow what the target lacks; a topic that it refuses is told, and the others are copied."""
    links = links_of(flow)
    with Cluster(flow.source, links.source_admin) as source, Cluster(flow.target, links.target_admin) as target:
        plan = topics.discover(flow, source, target)
        summary = topics.apply(plan, source, target)
    renamed = [d for d in plan.decisions if d.selected and d.remote_topic != d.topic]
    for decision in renamed:
        progress.say(f"{decision.topic} is called {decision.remote_topic} on {flow.target}, by the replication policy")
    if (failure := summary.failure()) is not None:
        progress.say(str(failure))
