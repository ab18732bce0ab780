"""The Dags that a configuration becomes, without any cluster or database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from flow_files import write_file
from mirror.config import options as opt
from mirror.config import placeholders
from world import project

DAGS = project.root() / "dags"
Parse = Callable[..., Any]
SUFFIXES = ("topics", "configs", "acls", "copy", "groups", "heartbeats")


@pytest.fixture
def parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parse:
    """`parse(lines, flows=...)`: the DagBag of a file of dags/ with this configuration."""

    def dag_bag(lines: str = "", *, flows: tuple[str, ...] = ("A->B",), file: str = "flows.py") -> Any:
        from airflow.dag_processing.dagbag import DagBag

        monkeypatch.setenv("AIRMIRROR_CONFIG", str(write_file(tmp_path, lines, flows=flows)))
        return DagBag(DAGS / file)

    return dag_bag


def test_every_enabled_flow_has_its_dags(parse: Parse) -> None:
    bag = parse(flows=("A->B", "B->A"))
    assert bag.import_errors == {}
    assert sorted(bag.dags) == sorted(f"{flow}.{suffix}" for flow in ("A-to-B", "B-to-A") for suffix in SUFFIXES)


def test_a_flow_that_is_not_enabled_has_only_heartbeats_and_none_where_they_are_off(parse: Parse) -> None:
    own = {f"A-to-B.{suffix}" for suffix in SUFFIXES}
    assert parse("B->A.enabled = false\n").dags.keys() == own | {"B-to-A.heartbeats"}
    assert parse("B->A.emit.heartbeats.enabled = false\n").dags.keys() == own


@pytest.mark.parametrize(
    ("dag_id", "order"),
    [
        ("A-to-B.topics", ["discover", "create_topics"]),
        ("A-to-B.copy", ["look", "copy"]),
        ("A-to-B.groups", ["checkpoints", "sync_group_offsets"]),
    ],
)
def test_tasks_follow_each_other(parse: Parse, dag_id: str, order: list[str]) -> None:
    dag = parse().dags[dag_id]
    assert [task.task_id for task in dag.topological_sort()] == order
    assert dag.get_task(order[0]).downstream_task_ids == {order[1]}


def test_runs_never_overlap_and_are_not_made_up_for(parse: Parse) -> None:
    for dag in parse().dags.values():
        assert (dag.max_active_runs, dag.catchup) == (1, False)
        flow = dag.dag_id.partition(".")[0].replace("-to-", "->")
        source, target = flow.split("->")
        assert {"airmirror", flow, f"source {source}", f"target {target}"} == set(dag.tags)
        assert {task.owner for task in dag.tasks} == {"airmirror"}


@pytest.mark.parametrize(
    ("lines", "dag_id", "schedule"),
    [
        ("", "A-to-B.topics", timedelta(seconds=600)),
        ("refresh.topics.interval.seconds = 30\n", "A-to-B.topics", timedelta(seconds=30)),
        ("refresh.topics.enabled = false\n", "A-to-B.topics", None),
        ("", "A-to-B.copy", "* * * * *"),
        ("A->B.airmirror.copy.schedule = */5 * * * *\n", "A-to-B.copy", "*/5 * * * *"),
        ("airmirror.copy.schedule = 90\n", "A-to-B.copy", timedelta(seconds=90)),
        ("airmirror.copy.schedule = none\n", "A-to-B.copy", None),
        # A second, as MM2 does by default, is nothing for a scheduler.
        ("", "A-to-B.heartbeats", timedelta(seconds=60)),
        ("", "B-to-A.heartbeats", timedelta(seconds=60)),
        ("emit.heartbeats.interval.seconds = 300\n", "A-to-B.heartbeats", timedelta(seconds=300)),
        ("sync.topic.configs.enabled = false\n", "A-to-B.configs", None),
        ("sync.topic.acls.enabled = false\n", "A-to-B.acls", None),
    ],
)
def test_the_file_says_when_a_dag_runs(parse: Parse, lines: str, dag_id: str, schedule: object) -> None:
    bag = parse(lines)
    assert bag.import_errors == {}
    assert bag.dags[dag_id].schedule == schedule


@pytest.mark.parametrize(
    ("dag_id", "task_id", "option"),
    [
        ("A-to-B.configs", "sync_configs", "sync.topic.configs.interval.seconds"),
        ("A-to-B.acls", "sync_acls", "sync.topic.acls.interval.seconds"),
    ],
)
def test_settings_and_acls_have_their_own_interval_and_follow_new_topics(
    parse: Parse, dag_id: str, task_id: str, option: str
) -> None:
    from airflow.sdk import DeltaTriggerTimetable

    dags = parse(f"{option} = 45\n").dags
    schedule = dags[dag_id].schedule
    assert schedule.timetable == DeltaTriggerTimetable(timedelta(seconds=45))
    (told,) = dags["A-to-B.topics"].get_task("create_topics").outlets
    (followed,) = schedule.asset_condition.objects
    assert (followed.name, followed.uri) == (told.name, told.uri)
    assert dags[dag_id].task_ids == [task_id]


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        pytest.param("", 60, id="MM2's default"),
        pytest.param("emit.checkpoints.interval.seconds = 300\n", 300, id="checkpoints"),
        pytest.param(
            "emit.checkpoints.interval.seconds = 300\nsync.group.offsets.interval.seconds = 90\n",
            300,
            id="the sync's counts only where it is on",
        ),
        pytest.param(
            "emit.checkpoints.interval.seconds = 300\nsync.group.offsets.interval.seconds = 90\n"
            "sync.group.offsets.enabled = true\n",
            90,
            id="the shorter of the two",
        ),
        pytest.param("emit.checkpoints.interval.seconds = 5\n", 60, id="not under a minute"),
    ],
)
def test_groups_follow_each_copy_and_an_interval(parse: Parse, lines: str, seconds: int) -> None:
    from airflow.sdk import DeltaTriggerTimetable

    dags = parse(lines).dags
    schedule = dags["A-to-B.groups"].schedule
    assert schedule.timetable == DeltaTriggerTimetable(timedelta(seconds=seconds))
    (told,) = dags["A-to-B.copy"].get_task("copy").outlets
    (followed,) = schedule.asset_condition.objects
    assert (followed.name, followed.uri) == (told.name, told.uri)


def test_no_checkpoints_no_schedule_for_groups(parse: Parse) -> None:
    assert parse("emit.checkpoints.enabled = false\n").dags["A-to-B.groups"].schedule is None


@pytest.mark.parametrize(("enabled", "rule"), [("true", "all_done"), ("false", "all_success")])
def test_one_unreadable_group_neither_holds_back_the_others_nor_hides(parse: Parse, enabled: str, rule: str) -> None:
    dag = parse(f"sync.group.offsets.enabled = {enabled}\n").dags["A-to-B.groups"]
    assert dag.get_task("sync_group_offsets").trigger_rule == rule


def test_every_task_of_upkeep_has_its_function(parse: Parse) -> None:
    from mirror.airflow.upkeep_dags import UpkeepOperator
    from mirror.airflow.upkeep_tasks import TASKS

    found = {task.task_id for dag in parse().dags.values() for task in dag.tasks if isinstance(task, UpkeepOperator)}
    assert found == TASKS.keys()


def test_the_heartbeats_dag_names_the_switch_for_a_cluster_that_is_only_read(parse: Parse) -> None:
    text = parse().dags["B-to-A.heartbeats"].doc_md
    assert "`B->A.emit.heartbeats.enabled = false`" in text
    assert "once a minute" in text


@pytest.mark.parametrize(
    ("conf", "valid"),
    [
        ({}, True),
        ({"topics": "orders.*", "window": 30}, True),
        ({"topics": "", "window": 0}, True),
        ({"topics": "orders("}, False),
        ({"topics": 7}, False),
        ({"window": -1}, False),
        ({"window": "half an hour"}, False),
        ({"window": 1.5}, False),
    ],
    ids=str,
)
def test_the_form_of_a_copy_is_checked(parse: Parse, conf: dict[str, Any], valid: bool) -> None:
    from airflow.sdk.exceptions import ParamValidationError

    params = parse().dags["A-to-B.copy"].params
    if valid:
        params.update(conf)
        assert params.validate() == {"topics": None, "window": None, **conf}
    else:
        with pytest.raises(ParamValidationError):
            params.update(conf)


def test_a_hung_copy_ends_but_a_window_is_granted(parse: Parse) -> None:
    from mirror.airflow.flow_dags import COPY_TIMEOUT

    copy = parse("airmirror.copy.window.seconds = 3000\n").dags["A-to-B.copy"].get_task("copy")
    assert copy.execution_timeout == COPY_TIMEOUT + timedelta(seconds=3000)


def test_a_broken_file_is_an_import_error_that_names_every_problem(parse: Parse) -> None:
    bag = parse("tasks.max = many\nairmirror.copy.schedule = sometimes\nC.bootstrap.servers\nA->B.topics = [\n")
    assert bag.dags == {}
    (message,) = bag.import_errors.values()
    assert "ConfigurationRefused" in message
    for said in ("tasks.max", "airmirror.copy.schedule", "mm2.properties:6", "next: correct the file"):
        assert said in message


def test_a_dag_says_where_its_values_come_from_and_no_secret(parse: Parse) -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    bag = parse(
        "A->B.topics = orders|payments\n"
        "B.security.protocol = SASL_PLAINTEXT\nB.sasl.mechanism = PLAIN\n"
        'B.sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required username="me" '
        'password="hunter2";\n'
    )
    assert bag.import_errors == {}
    assert "| `topics` | `orders\\|payments` | mm2.properties:5 |" in bag.dags["A-to-B.copy"].doc_md
    for dag in bag.dags.values():
        assert "hunter2" not in json.dumps(DagSerialization.to_dict(dag))


def test_the_start_of_a_task_builds_only_its_dag(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow.sdk import get_parsing_context

    monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "B-to-A.copy")
    assert get_parsing_context().dag_id == "B-to-A.copy"
    assert list(parse(flows=("A->B", "B->A")).dags) == ["B-to-A.copy"]


def test_no_provider_is_asked_when_dags_are_made(parse: Parse) -> None:
    # Every option that may be an expression is one that nobody could answer.
    themselves = {opt.CLUSTERS.name, *placeholders.READ_RAW, *placeholders.MAKES_DAGS}
    asking = [option.name for option in opt.USED if option.name not in themselves]
    clients = [f"{alias}.{name}" for alias in "AB" for name in ("sasl.jaas.config", "ssl.keystore.password")]
    bag = parse("".join(f"{name} = ${{env:AIRMIRROR_NOWHERE}}\n" for name in (*asking, *clients)))
    assert bag.import_errors == {}
    assert len(bag.dags) == len(SUFFIXES) + 1  # and the other direction's heartbeats
    assert "${env:AIRMIRROR_NOWHERE}" in bag.dags["A-to-B.topics"].doc_md


MEASURE = """
import runpy, sys, time
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import DAG, Asset, AssetOrTimeSchedule, BaseHook, BaseOperator, Context, DeltaTriggerTimetable
from airflow.sdk import ExceptionRetryPolicy, Param, get_parsing_context, task
with DAG("any", schedule="* * * * *", params={"any": Param(None, type=["null", "string"])}):
    # Airflow imports itself bit by bit: this makes it do so before the clock starts.
    task(task_id="one")(lambda: 1)() >> SparkSubmitOperator(task_id="two", outlets=[Asset("any")])
start = time.process_time()
built = runpy.run_path(sys.argv[1])
seconds = time.process_time() - start
dags = {value.dag_id for value in built.values() if isinstance(value, DAG)}
heavy = {name.partition(".")[0] for name in sys.modules} & {"pyspark", "confluent_kafka", "pandas"}
print("MEASURED", len(dags), seconds, *sorted(heavy))
"""


def measured(dag_file: str, config: Path) -> tuple[int, float, list[str]]:
    """How many Dags the file makes of this configuration, in how many seconds, and which heavy packages it loads."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(DAGS / dag_file)],
        env={**os.environ, "AIRMIRROR_CONFIG": str(config)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("MEASURED"))
    _, count, seconds, *heavy = line.split()
    return int(count), float(seconds), heavy


def test_a_hundred_flows_are_built_in_under_a_second_without_spark_or_kafka(tmp_path: Path) -> None:
    aliases = [f"c{number}" for number in range(11)]
    flows = tuple(f"{a}->{b}" for a in aliases for b in aliases if a != b)[:100]
    file = write_file(tmp_path, clusters={alias: f"{alias}:9092" for alias in aliases}, flows=flows)
    best = float("inf")
    # Processor time, so that a busy machine does not fail it; the best of many, since caches are shared with it.
    for _ in range(20):
        count, seconds, heavy = measured("flows.py", file)
        assert (count, heavy) == (610, [])
        best = min(best, seconds)
        if best < 1:
            break
    assert best < 1
