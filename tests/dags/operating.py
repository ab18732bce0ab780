"""An operation's run as automation drives it: the plan read, the approval answered, the report opened."""

from __future__ import annotations

import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from dags.airflow_world import AirflowWorld, wait_until

# Seconds that a person looks at a plan. One who answers within the first was seen to fail the task: Airflow takes the
# end of its first half for the end of the whole.
READING_S = 6


def plan_of(world: AirflowWorld, dag: str, run: str) -> Mapping[str, Any]:
    """What a person is asked: `subject` and `body`; waits until it can be read."""
    wait_until(lambda: world.states(dag, run)["approve"] in ("awaiting_input", "upstream_failed"), "the plan", 240)
    (detail,) = world.rest.get(f"/api/v2/dags/{dag}/dagRuns/{urllib.parse.quote(run, safe='')}/hitlDetails")[
        "hitl_details"
    ]
    return dict(detail)


def read_the_plan() -> None:
    read_until = time.monotonic() + READING_S
    wait_until(lambda: time.monotonic() > read_until, "the plan to be read")


def answer(world: AirflowWorld, dag: str, run: str, option: str) -> Any:
    """Say Approve or Reject, as a person does who has read the plan."""
    read_the_plan()
    place = f"/api/v2/dags/{dag}/dagRuns/{urllib.parse.quote(run, safe='')}/taskInstances/approve/-1/hitlDetails"
    return world.rest.patch(place, {"chosen_options": [option], "params_input": {}})


def report_of(world: AirflowWorld, run: str, operation: str) -> str:
    """The address that the task's link leads to."""
    quoted = urllib.parse.quote(run, safe="")
    links = world.rest.get(f"/api/v2/dags/mirror.{operation}/dagRuns/{quoted}/taskInstances/{operation}/links")
    return str(links["extra_links"]["Report"])


def fetch(url: str, token: str | None = None) -> tuple[int, str]:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answered:
            return int(answered.status), answered.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def page_of(world: AirflowWorld, run: str, operation: str) -> str:
    """The report behind the link."""
    status, page = fetch(report_of(world, run, operation), world.rest.token())
    assert status == 200, page
    return page
