"""From a flow of the configuration to what a copy needs to reach both clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from mirror import naming
from mirror.config import Flow, known_as
from mirror.config import options as opt
from mirror.config.mm2_worker import offsets_topic
from mirror.copy.spec import FlowLinks
from mirror.topics.internal import published_syncs
from mirror.wire.control import flow_key

# What sets the claim and the ids of the heartbeats' copy apart: no `airmirror.flow.id` may have a slash.
_HEARTBEATS = "/heartbeats"
# The claim that keeps two operations on one flow apart; it copies nothing.
_OPERATION = "/operation"
# What comes back after a failover.
_RETURN = "/return"


def links_of(
    flow: Flow, *, heartbeats: bool = False, operation: bool = False, route: Mapping[str, str] | None = None
) -> FlowLinks:
    """The flow's clients, with stable names so that brokers' quotas can hold them, and its state topics.

    The heartbeats topics are copied apart from all others, beside a long copy and without Spark. Both copies keep their
    states in the same topics; no partition is in both, and neither can fence or wait for the other's claim.
    With a `route` the links are those of a return: it has a claim, ids and a state of its own, beside the flow's.
    """
    published = published_syncs(flow, naming.policy_of(flow))
    key = flow_key(flow.id, flow[opt.FLOW_ID]) + ("" if route is None else _RETURN)
    location = "" if published is None or route is not None else ("source" if published[0] == flow.source else "target")
    return FlowLinks(
        flow=flow.id,
        flow_key=key + (_HEARTBEATS if heartbeats else "") + (_OPERATION if operation else ""),
        state_key=key,
        source=flow.source,
        target=flow.target,
        source_consumer=_client(flow, "source", "consumer"),
        source_admin=_client(flow, "source", "admin"),
        source_producer=_client(flow, "source", "producer"),
        target_consumer=_client(flow, "target", "consumer"),
        target_admin=_client(flow, "target", "admin"),
        target_producer=_client(flow, "target", "producer"),
        syncs_topic=naming.syncs_topic(flow.source),
        control_topic=naming.control_topic(flow.source),
        transaction_timeout_ms=flow[opt.TRANSACTION_TIMEOUT_MS],
        published_location=location,
        published_topic=published[1] if location and published else "",
        route=route,
        mm2_offsets_topic=offsets_topic(flow),
        is_of_heartbeats=heartbeats,
        has_one_slot=heartbeats or operation,
    )


def _client(
    flow: Flow, side: Literal["source", "target"], kind: Literal["consumer", "admin", "producer"]
) -> dict[str, Any]:
    read = {"consumer": flow.consumer_settings, "admin": flow.admin_settings, "producer": flow.producer_settings}[kind]
    return known_as(read(side), f"{side}-{kind}")
