"""What Airflow does about an error, by the error's kind: try again, or leave it to a person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule

from mirror.errors import PersonMustAct, TryAgain

RETRY_DELAY = timedelta(seconds=10)

# An error that no rule knows (a timeout, a lost process, a mistake of ours) is tried again too: tasks ask the clusters
# what is there and do what is missing, so that another try costs its time and nothing else.
RETRY_POLICY = ExceptionRetryPolicy(
    rules=[
        RetryRule(
            exception=TryAgain, action=RetryAction.RETRY, retry_delay=RETRY_DELAY, reason="another try may succeed"
        ),
        RetryRule(exception=PersonMustAct, action=RetryAction.FAIL, reason="a person must act, see the log"),
    ]
)

RETRY_ARGUMENTS: dict[str, Any] = {"retries": 3, "retry_delay": RETRY_DELAY, "retry_policy": RETRY_POLICY}
