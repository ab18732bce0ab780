"""What a person reads before agreeing: a plan is true of both clusters now, and says when nothing would be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.returning import IDENTITY, RoundTrip
from mirror.errors import UsageRefused
from mirror.operations.failback_preview import FailbackPlan, plan_failback
from mirror.operations.failback_request import FailbackRequest
from mirror.operations.failover_plan import FailoverPlan, FailoverRequest, plan_failover
from mirror.operations.report import markdown
from world.kafka import KafkaCluster


def page(plan: FailoverPlan | FailbackPlan) -> str:
    return markdown("the plan", plan.sections())


@pytest.mark.long("a way there and back")
def test_plans_tell_what_is_so_now_all_the_way_there_and_back(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = RoundTrip(tmp_path, east, west, IDENTITY)
    topic = flow.topic("orders", 2)
    flow.write_here(topic, "before", (20, 12))
    flow.mirror().raise_if_incomplete()
    flow.write_here(topic, "uncopied", (4, 3))
    with pytest.raises(UsageRefused, match="goes forward: there is nothing to bring back"):
        plan_failback(flow.flow, flow.home, FailbackRequest())
    # Planned, the living source is asked; unplanned it is not, and was last seen before the last records came.
    planned, unplanned = (plan_failover(flow.flow, FailoverRequest(planned=mode)) for mode in (True, False))
    assert (planned.missing, unplanned.missing) == (7, 0)
    assert ("at least 4, as of" in page(planned), "nothing, as far as was seen" in page(unplanned)) == (True, True)

    flow.fail_over(planned=True)
    again = plan_failover(flow.flow, FailoverRequest())
    assert (again.missing, f"{flow.flow.id} is failed over since" in again.idle) == (0, True)
    assert "its report would be told again" in page(again)
    flow.write_there(topic, "there", (5, 1))
    back = plan_failback(flow.flow, flow.home, FailbackRequest())
    # Offsets, at most: each partition's last copy ended with a marker.
    assert (back.to_return, back.idle, "let the flow go forward again" in page(back)) == (6 + 2, "", True)

    flow.fail_back()
    done = plan_failback(flow.flow, flow.home, FailbackRequest())
    assert ("came back before" in page(done), "bring back" in page(done)) == (True, False)
