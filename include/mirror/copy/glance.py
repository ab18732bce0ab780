"""A survey for those who only look: it waits for no writer, and a flow that was never copied has no state."""

from __future__ import annotations

from mirror.config import Flow
from mirror.copy.control import Control, ControlState
from mirror.copy.spec import FlowLinks
from mirror.copy.state import States, read_mm2_positions, read_states
from mirror.copy.survey import Survey, not_begun, view_source, view_target
from mirror.copy.unmarked import unmarked_copies
from mirror.kafka.cluster import Cluster


def glance(flow: Flow, links: FlowLinks, source: Cluster, target: Cluster) -> Survey:
    """Both clusters as a run would see them, the state up to its stable end.

    What is committed behind another slot's open transaction is not in it yet: nothing may be copied by it.
    """
    existing = target.describe([links.syncs_topic, links.control_topic])
    states = States(states={}, read_to=0)
    if links.syncs_topic in existing:
        states = read_states(links, target, until=target.stable_ends([links.syncs]).get(links.syncs, 0))
    control = Control(links, target).read() if links.control_topic in existing else ControlState()
    mm2_positions = read_mm2_positions(links, target)
    view = view_source(flow, source, heartbeats=links.is_of_heartbeats)
    return Survey(
        source=view,
        target=view_target(view, target),
        states=states,
        control=control,
        mm2_positions=mm2_positions,
        unmarked=unmarked_copies(flow, links, source, not_begun(view, states, control), view.topics),
    )
