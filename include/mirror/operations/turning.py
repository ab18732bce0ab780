"""Turns a flow: from the moment its state is written, nothing that believed another state can write records any more.

The claim and the state stand in the control topic before the ids are fenced. A slot that initialised its id before
the fence is locked out by it; one that does so behind the fence reads the state next, and leaves.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.claim import ClaimPolicy, take_claim
from mirror.copy.control import Control
from mirror.copy.links import links_of
from mirror.copy.points import reached
from mirror.copy.spec import FlowLinks
from mirror.kafka.cluster import Cluster
from mirror.topics import ensure_internal
from mirror.wire.flow_state import Direction, FlowState

log = logging.getLogger(__name__)


def turn(flow: Flow, target: Cluster, state: Direction, operation: str, say: Callable[[str], None]) -> FlowState:
    """Take the flow from whoever has it, heartbeats included, and write its state; run again, it does the same."""
    policy = ClaimPolicy(on_held="take-over", renew_s=flow[opt.CLAIM_RENEW_SECONDS])
    links = links_of(flow)
    turned = FlowState(
        flow=links.state_key,
        state=state,
        operation=operation,
        at_ms=int(time.time() * 1000),
        by=os.environ.get("AIRMIRROR_RUN_BY", f"operation {operation}"),
    )
    for part in (links, links_of(flow, heartbeats=True)):
        announced = (turned,) if part is links else ()
        take_claim(part, Control(part, target), operation, 0, policy, say, announced=announced).release()
        reached("turned-copy" if part is links else "turned-heartbeats")
    log.info("turned flow=%s state=%s operation=%s", flow.id, state, operation)
    return turned


def turn_return(
    home: Flow, links: FlowLinks, target: Cluster, state: Direction, operation: str, say: Callable[[str], None]
) -> None:
    """The same for the way back, which has a state and ids of its own on the cluster that records return to."""
    ensure_internal(home, target)
    policy = ClaimPolicy(on_held="take-over", renew_s=home[opt.CLAIM_RENEW_SECONDS])
    turned = FlowState(
        flow=links.state_key,
        state=state,
        operation=operation,
        at_ms=int(time.time() * 1000),
        by=f"operation {operation}",
    )
    take_claim(links, Control(links, target), operation, 0, policy, say, announced=(turned,)).release()
    reached("turned-return")
