"""The kind of an error decides: another try, a person, or another run."""

from __future__ import annotations

import pytest
from airflow.sdk import RetryAction
from airflow.sdk.exceptions import AirflowSkipException

from mirror import errors
from mirror.airflow.retries import RETRY_POLICY
from mirror.airflow.skipping import skipped_when_another_run_owns_the_flow


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (errors.ClusterUnreachable("no broker answers"), RetryAction.RETRY),
        (errors.AttemptsExhausted("again and again"), RetryAction.RETRY),
        (errors.RecordRefused("too large"), RetryAction.FAIL),
        (errors.CopyIncomplete("in part"), RetryAction.FAIL),
        (errors.ConfigurationRefused("ten mistakes"), RetryAction.FAIL),
        (RuntimeError("a mistake of ours"), RetryAction.DEFAULT),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.value,
)
def test_an_error_is_retried_by_its_kind(error: Exception, action: RetryAction) -> None:
    assert RETRY_POLICY.evaluate(error, 1, 3).action is action


def test_the_policy_is_the_same_after_airflow_stored_it() -> None:
    stored = type(RETRY_POLICY).deserialize(RETRY_POLICY.serialize())
    assert stored.evaluate(errors.RecordRefused("too large"), 1, 3).action is RetryAction.FAIL
    assert stored.evaluate(errors.ClusterBusy("later"), 1, 3).action is RetryAction.RETRY


@pytest.mark.parametrize("error", [errors.ClaimHeld("held by run 7"), errors.FencedByNewerRun("superseded by run 8")])
def test_a_flow_that_another_run_owns_is_skipped_and_says_so(error: errors.StopNow) -> None:
    with pytest.raises(AirflowSkipException, match=error.message), skipped_when_another_run_owns_the_flow():
        raise error


def test_other_errors_are_not_skipped() -> None:
    with pytest.raises(errors.RecordRefused), skipped_when_another_run_owns_the_flow():
        raise errors.RecordRefused("too large")
