"""The Dags of operations that a configuration becomes, without any cluster or database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dags.test_structure import measured, parse  # noqa: F401 - a fixture
from flow_files import write_file

Parse = Callable[..., Any]
OPERATIONS = ("failover", "failback", "drill", "verify")
BOTH = ("A->B", "B->A")


@pytest.fixture
def operations(parse: Parse) -> Parse:  # noqa: F811 - the fixture
    return lambda *lines, **options: parse(*lines, file="operations.py", **options)


def test_each_operation_is_one_dag_for_all_flows(operations: Parse) -> None:
    bag = operations(flows=BOTH)
    assert bag.import_errors == {}
    assert sorted(bag.dags) == sorted(f"mirror.{name}" for name in OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_plan_is_approved_before_anything_is_done(operations: Parse, name: str) -> None:
    dag = operations().dags[f"mirror.{name}"]
    assert [task.task_id for task in dag.topological_sort()] == ["plan", "approve", name]
    assert (dag.get_task("plan").downstream_task_ids, dag.get_task("approve").downstream_task_ids) == (
        {"approve"},
        {name},
    )
    assert (dag.max_active_runs, dag.catchup, dag.schedule) == (1, False, None)
    # A plan that nobody looked at in time must not be waited for three times over.
    assert [rule.action.name for rule in dag.get_task("approve").retry_policy.rules] == ["FAIL"]


def test_the_form_asks_for_a_flow_unless_there_is_only_one(operations: Parse) -> None:
    from airflow.sdk.exceptions import ParamValidationError

    params = operations(flows=BOTH).dags["mirror.drill"].params
    assert params.get_param("flow").schema["enum"] == ["A->B", "B->A"]
    with pytest.raises(ParamValidationError):
        params.validate()
    assert operations().dags["mirror.drill"].params.validate() == {"flow": "A->B", "groups": None, "approval": True}


@pytest.mark.parametrize(
    ("conf", "valid"),
    [
        ({"flow": "B->A"}, True),
        ({"flow": "A->B", "groups": "billing.*", "approval": False}, True),
        ({"flow": "A->C"}, False),
        ({"flow": "A->B", "groups": "billing("}, False),
        ({"flow": "A->B", "approval": "maybe"}, False),
    ],
    ids=str,
)
def test_the_form_of_a_drill_is_checked(operations: Parse, conf: dict[str, Any], valid: bool) -> None:
    from airflow.sdk.exceptions import ParamValidationError

    params = operations(flows=BOTH).dags["mirror.drill"].params
    if valid:
        params.update(conf)
        assert params.validate() == {"groups": None, "approval": True, **conf}
    else:
        with pytest.raises(ParamValidationError):
            params.update(conf)


def test_a_flow_whose_drills_have_a_schedule_has_a_dag_of_its_own_that_asks_nobody(operations: Parse) -> None:
    bag = operations("A->B.airmirror.drill.schedule = 0 4 * * 1\n", flows=BOTH)
    assert bag.import_errors == {}
    assert sorted(bag.dags) == sorted(["A-to-B.drill", *(f"mirror.{name}" for name in OPERATIONS)])
    dag = bag.dags["A-to-B.drill"]
    assert (dag.schedule, dag.task_ids, dag.params.validate()) == (
        "0 4 * * 1",
        ["drill"],
        {"flow": "A->B", "groups": None},
    )


def test_every_operation_has_its_tasks_and_its_report_is_linked(operations: Parse) -> None:
    from mirror.airflow import operation_dags, operation_tasks

    assert [operation.name for operation in operation_dags.OPERATIONS] == list(operation_tasks.PLANS)
    assert operation_tasks.OPERATIONS.keys() == operation_tasks.PLANS.keys() - {"verify"}
    for name in OPERATIONS:
        links = operations().dags[f"mirror.{name}"].get_task(name).operator_extra_links
        assert [link.name for link in links] == ["Report"]


def test_no_secret_is_in_a_serialized_operation(operations: Parse) -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    bag = operations(
        "B.security.protocol = SASL_PLAINTEXT\nB.sasl.mechanism = PLAIN\nairmirror.drill.schedule = 3600\n"
        'B.sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required username="me" '
        'password="hunter2";\n'
    )
    assert bag.import_errors == {}
    for dag in bag.dags.values():
        assert "hunter2" not in json.dumps(DagSerialization.to_dict(dag))


def test_the_start_of_a_task_builds_only_its_dag(operations: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "mirror.drill")
    assert list(operations("airmirror.drill.schedule = 3600\n").dags) == ["mirror.drill"]


def test_operations_are_parsed_without_spark_or_kafka(tmp_path: Path) -> None:
    count, _, heavy = measured("operations.py", write_file(tmp_path, flows=BOTH))
    assert (count, heavy) == (len(OPERATIONS), [])
