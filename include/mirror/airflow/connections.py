"""Connections that a flow's file names with `${airflow:...}`: a task asks Airflow, and tells its Spark driver.

The driver is no task: it has no channel to Airflow, so the task sends it what it needs through the leash, which no
disk and no process list ever shows.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from mirror.config import Flow
from mirror.config.connections import field_of
from mirror.config.providers import Lookup, NoAnswer, connections_in


def look_up(connection: str, name: str) -> str:
    """A field of a Connection, asked of Airflow: its database, its secrets backends."""
    return field_of(_fields(connection), connection, name)


@functools.cache  # a task process is short, and every client of it asks again
def _fields(connection: str) -> Mapping[str, Any]:
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException

    try:
        found = BaseHook.get_connection(connection)
    except AirflowNotFoundException:
        raise NoAnswer(
            f"Airflow has no Connection {connection}",
            f"airflow connections add {connection} --conn-type generic --conn-login ... --conn-password ...",
        ) from None
    return {name: getattr(found, name) for name in ("password", "login", "host", "port", "schema", "extra")}


def answers_for(flow: Flow) -> str:
    """All that the flow's driver may ask for, in one line; what Airflow does not know goes with its reason."""
    answers: list[dict[str, str]] = []
    for connection, name in sorted(connections_in(flow.settings)):
        answer = {"connection": connection, "field": name}
        try:
            answers.append({**answer, "value": look_up(connection, name)})
        except NoAnswer as error:
            answers.append({**answer, "why": str(error), "next_step": error.next_step})
    return json.dumps(answers)


def from_answers(line: str) -> Lookup:
    """The driver's side of it."""
    given: list[dict[str, str]] = json.loads(line or "[]")
    answers = {(each["connection"], each["field"]): each for each in given}

    def look_up(connection: str, name: str) -> str:
        answer = answers.get((connection, name), {"why": f"the task asked for no {name} of Connection {connection}"})
        if "value" not in answer:
            raise NoAnswer(answer["why"], answer.get("next_step", ""))
        return answer["value"]

    return look_up
