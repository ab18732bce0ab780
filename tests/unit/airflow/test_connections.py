"""Airflow's Connections on their way to a Spark driver, which cannot ask for them itself."""

from __future__ import annotations

import pytest

from flow_files import flow_from
from mirror.airflow import connections
from mirror.config.providers import NoAnswer


def test_a_driver_answers_as_its_task_would(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def look_up(connection: str, name: str) -> str:
        if connection == "gone":
            raise NoAnswer("Airflow has no Connection gone", "add it")
        return f"{connection}'s {name}\nin two lines"

    monkeypatch.setattr(connections, "look_up", look_up)
    flow = flow_from(
        tmp_path_factory.mktemp("flow"),
        "A.ssl.key.password = ${airflow:a}\nB.sasl.jaas.config = ${airflow:gone:login}\n",
    )
    line = connections.answers_for(flow)
    assert "\n" not in line
    answer = connections.from_answers(line)
    assert answer("a", "password") == "a's password\nin two lines"
    with pytest.raises(NoAnswer, match="no Connection gone") as caught:
        answer("gone", "login")
    assert caught.value.next_step == "add it"
    with pytest.raises(NoAnswer, match="asked for no host"):
        answer("a", "host")


def test_a_flow_without_connections_asks_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert connections.answers_for(flow_from(tmp_path_factory.mktemp("flow"))) == "[]"
