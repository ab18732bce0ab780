"""Skipped is not failed: nothing was to be done, or another run does it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowSkipException, DownstreamTasksSkipped

from mirror.errors import StopNow

log = logging.getLogger(__name__)


def end_here(context: Context, summary: Mapping[str, Any], *, skip: str) -> NoReturn:
    """End this task well, with its summary, and skip the next."""
    context["ti"].xcom_push(key="return_value", value=dict(summary))
    raise DownstreamTasksSkipped(tasks=[skip])  # type: ignore[no-untyped-call]


@contextmanager
def skipped_when_another_run_owns_the_flow() -> Iterator[None]:
    """Superseded, or held by a run that does this one's work."""
    try:
        yield
    except StopNow as error:
        log.info("skipped: %s", error.message)
        raise AirflowSkipException(error.message) from None
