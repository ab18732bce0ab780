"""Whether the flow may be written to: its state, read with the claim and again before every write that matters.

A flow that failed over is not to be touched by an Airflow that comes back late, nor by a command typed out of habit.
What is fenced (copies) is safe by the fence; what cannot be fenced (checkpoints, group offsets, settings, ACLs,
heartbeats) asks here at the last moment.
"""

from __future__ import annotations

from datetime import UTC, datetime

from mirror.config import Flow
from mirror.copy.control import Control, ControlState
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.errors import FlowNotForward
from mirror.kafka.cluster import Cluster
from mirror.wire.flow_state import FlowState


def refusal(flow: str, direction: FlowState | None, operation: str = "") -> FlowNotForward | None:
    """Why a run of this operation (or of none) may not write; None if it may."""
    if direction is None or direction.is_forward:
        return None if not operation else _over(flow, operation)
    if operation == direction.operation:
        return None
    since = datetime.fromtimestamp(direction.at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if direction.state == "handed-over":
        return FlowNotForward(
            f"{flow} is handed over to MM2 since {since} ({direction.by}): airmirror writes nothing along it",
            next_step=f"stop MM2, then: airmirror handover '{flow}' --back",
            flow=flow,
            state=direction.state,
            operation=direction.operation,
        )
    what = "failed over" if direction.state == "failed-over" else "on its way back"
    return FlowNotForward(
        f"{flow} is {what} since {since} ({direction.by}): nothing is written along it",
        next_step=f"airmirror failback '{flow}'",
        flow=flow,
        state=direction.state,
        operation=direction.operation,
    )


def _over(flow: str, operation: str) -> FlowNotForward:
    return FlowNotForward(
        f"{flow} goes forward: operation {operation} is over", next_step="airmirror flows", flow=flow, state="forward"
    )


def check_direction(links: FlowLinks, control: ControlState, operation: str = "") -> None:
    """Raise unless what was read of the control topic allows this run to write."""
    found = refusal(links.flow, control.direction, operation)
    if found is not None:
        raise found


def read_direction(links: FlowLinks, target: Cluster) -> FlowState | None:
    """The flow's state as it stands now; none where nothing was ever copied or turned."""
    if not target.describe([links.control_topic]):
        return None
    return Control(links, target).read().direction


def require_forward(links: FlowLinks, target: Cluster, operation: str = "") -> None:
    """Read the flow's state now, and raise unless this run may write."""
    found = refusal(links.flow, read_direction(links, target), operation)
    if found is not None:
        raise found


def require_flow_forward(flow: Flow) -> None:
    """The same for who has no client at hand."""
    links = links_of(flow)
    with Cluster(flow.target, links.target_admin) as target:
        require_forward(links, target)
