"""The approval of a plan: a person's, unless the form says that none is needed."""

from __future__ import annotations

from typing import Any

from airflow.providers.standard.exceptions import HITLTimeoutError
from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Context, ExceptionRetryPolicy, RetryAction, RetryRule

# A plan that nobody looked at in time is not waited for again; whatever else happens to the task says nothing of it.
_POLICY = ExceptionRetryPolicy(
    rules=[RetryRule(exception=HITLTimeoutError, action=RetryAction.FAIL, reason="nobody answered in time")]
)


class Approval(ApprovalOperator):
    """Waits for a person without holding a worker; rejected, the operation is skipped and nothing was changed."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**{"retry_policy": _POLICY, **arguments})

    def execute(self, context: Context) -> Any:
        if not context["params"]["approval"]:
            self.log.info("no approval asked for: the run was started with approval off")
            return {"chosen_options": [self.APPROVE], "responded_by_user": None}
        return super().execute(context)
