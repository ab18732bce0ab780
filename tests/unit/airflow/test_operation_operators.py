"""An operation's tasks keep what is to be read, also when the operation failed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from flow_files import write_file
from mirror.airflow import operation_tasks
from mirror.airflow.operation_operators import HTML, PAGE, Form, OperateOperator, PlanOperator, VerifyOperator
from mirror.airflow.operation_tasks import Shown
from mirror.config import load
from mirror.errors import AttemptsExhausted, DrillFailed, FlowNotForward

SHOWN = Shown(markdown="# Title\n", document={"flow": "A->B"})


class Instance:
    """As much of Airflow's task instance as the tasks use."""

    dag_id, run_id, task_id, try_number = "mirror.drill", "manual__2026-11-16T06:43:15+00:00", "drill", 1

    def __init__(self) -> None:
        self.pushed: dict[str, Any] = {}

    def xcom_push(self, key: str, value: Any) -> None:
        self.pushed[key] = value


@pytest.fixture
def form(tmp_path: Path) -> Form:
    configuration = load(write_file(tmp_path))
    return Form("drill", configuration, configuration.enabled_flows, ("flow", "groups", "approval"))


@pytest.fixture
def instance(monkeypatch: pytest.MonkeyPatch) -> Instance:
    monkeypatch.setenv("AIRMIRROR_RUN_BY", "")  # put back afterwards
    return Instance()


def context(instance: Instance) -> Any:
    return {"ti": instance, "params": {"flow": "A->B", "groups": None}, "dag_run": SimpleNamespace(conf={})}


def test_a_plan_is_kept_for_the_approval(form: Form, instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(operation_tasks.PLANS, "drill", lambda asked: SHOWN)
    assert PlanOperator(task_id="plan", form=form).execute(context(instance)) == {"flow": "A->B"}
    assert instance.pushed == {PAGE: "# Title\n"}


def test_a_report_is_kept_before_its_operation_fails(
    form: Form, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = Shown(markdown="# Title\n", document={"flow": "A->B"}, error=DrillFailed("a group would skip a record"))
    monkeypatch.setitem(operation_tasks.OPERATIONS, "drill", lambda asked, say: failed)
    with pytest.raises(DrillFailed):
        OperateOperator(task_id="drill", form=form).execute(context(instance))
    assert "<h1>Title</h1>" in instance.pushed[HTML]
    assert instance.pushed["return_value"] == {"flow": "A->B"}


def test_a_flow_that_is_turned_skips_its_operation(
    form: Form, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Shown:
        raise FlowNotForward("A->B is failed over")

    monkeypatch.setitem(operation_tasks.OPERATIONS, "drill", refuse)
    with pytest.raises(AirflowSkipException, match="failed over"):
        OperateOperator(task_id="drill", form=form).execute(context(instance))


def test_a_task_that_is_ended_leaves_by_an_exception(form: Form) -> None:
    with pytest.raises(AirflowException):
        OperateOperator(task_id="drill", form=form).on_kill()


@pytest.mark.parametrize("document", [None, {"equal": True, "flow": "A->B"}], ids=["no word", "a report"])
def test_a_verification_keeps_what_its_job_left(
    form: Form, instance: Instance, monkeypatch: pytest.MonkeyPatch, document: Any
) -> None:
    operator = VerifyOperator(task_id="verify", form=form)
    monkeypatch.setattr(operation_tasks, "verified", lambda found: SHOWN)
    monkeypatch.setattr(operator, "run_job", lambda flow, **_: (1, document))
    if document is None:
        with pytest.raises(AttemptsExhausted, match="ended with code 1"):
            operator.execute(context(instance))
    else:
        assert operator.execute(context(instance)) == {"flow": "A->B"}
        assert set(instance.pushed) == {HTML, "return_value"}


def test_failback_is_planned_with_the_way_home(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for: list[Any] = []

    def plan(flow: Any, home: Any, request: Any) -> Any:
        asked_for.append((flow.id, home.id, request.survivors, request.producers_still_write))
        return SimpleNamespace(sections=lambda: (), to_json=lambda: {"flow": flow.id})

    monkeypatch.setattr(operation_tasks, "plan_failback", plan)
    instance: Any = {"params": {"flow": "A->B", "survivors": "keep", "producers_still_write": True}}
    asked = form.read({**instance, "dag_run": SimpleNamespace(conf={})})
    shown = operation_tasks.PLANS["failback"](asked)
    assert asked_for == [("A->B", "B->A", "keep", True)]
    assert shown.markdown.startswith("# Failback of A-\\>B: the plan")
