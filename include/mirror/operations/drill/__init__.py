"""A failover rehearsed: copies of the groups read on the target, and nothing of the flow is touched."""

from mirror.operations.drill.plan import DrillPlan, DrillRequest, plan_drill
from mirror.operations.drill.report import DrillReport
from mirror.operations.drill.run import run_drill

__all__ = ["DrillPlan", "DrillReport", "DrillRequest", "plan_drill", "run_drill"]
