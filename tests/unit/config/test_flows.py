"""Flows as the rest of the house meets them: found by either name, pickled, cheap by the hundred."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from mirror.config import Configuration, load
from mirror.config import options as opt
from mirror.config.configuration import parse
from mirror.errors import ConfigurationRefused, UnknownFlow

HEAD = "clusters = A, B\nA.bootstrap.servers = a:1\nB.bootstrap.servers = b:1\nA->B.enabled = true\n"


def configuration(lines: str = "") -> Configuration:
    return parse((HEAD + lines).encode(), Path("mm2.properties"))


@pytest.mark.parametrize("name", ["A->B", "A-to-B"])
def test_a_flow_is_found_by_its_id_and_by_its_slug(name: str) -> None:
    flow = configuration().flow(name)
    assert (flow.source, flow.target, flow.id, flow.slug) == ("A", "B", "A->B", "A-to-B")
    assert flow.aliases == ("A", "B")


def test_an_unknown_flow_names_the_known_ones() -> None:
    with pytest.raises(UnknownFlow, match="known: A->B, B->A"):
        configuration().flow("A->C")


def test_a_flow_survives_pickling_with_its_values_and_secrets() -> None:
    secret = "A.security.protocol = SASL_SSL\nA.sasl.mechanism = PLAIN\n"
    secret += 'A.sasl.jaas.config = x required username="u" password="p";\n'
    flow = configuration("tasks.max = 7\n" + secret).flow("A->B")
    again = pickle.loads(pickle.dumps(flow))
    assert again == flow
    assert again[opt.TASKS_MAX] == 7
    assert again.consumer_settings("source").plain() == flow.consumer_settings("source").plain()
    assert again.consumer_settings("source")["sasl.password"] == "p"


def test_the_source_is_read_committed_from_the_earliest_unless_the_file_says_otherwise() -> None:
    plain = configuration().flow("A->B")
    assert (plain.isolation_level, plain.auto_offset_reset) == ("read_committed", "earliest")
    other = configuration(
        "A.consumer.isolation.level = read_uncommitted\nA->B.consumer.auto.offset.reset = latest\n"
    ).flow("A->B")
    assert (other.isolation_level, other.auto_offset_reset) == ("read_uncommitted", "latest")
    assert other.consumer_settings("source")["isolation.level"] == "read_uncommitted"


def test_an_expression_is_left_until_its_value_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKS", "many")
    flow = configuration("A->B.tasks.max = ${env:TASKS}\n").flow("A->B")
    assert "${env:TASKS}" in repr(flow.raw)
    assert flow.raw["tasks.max"] == "many"
    with pytest.raises(ConfigurationRefused, match=r"mm2.properties:5: A->B.tasks.max: expected a whole number"):
        flow[opt.TASKS_MAX]


def test_the_file_is_named_by_argument_then_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first.properties", tmp_path / "second.properties"
    first.write_text(HEAD)
    second.write_text(HEAD)
    monkeypatch.setenv("AIRMIRROR_CONFIG", str(second))
    assert load(first).path == first
    assert load().path == second
    monkeypatch.delenv("AIRMIRROR_CONFIG")
    assert load().path.name == "mm2.properties"


def test_loading_imports_nothing_heavy() -> None:
    heavy = ("pyspark", "confluent_kafka", "airflow", "rich", "mirror.config.clients")
    code = (
        "import sys; from mirror.config import load, options; load().flows[0][options.TOPICS]; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_hundred_flows_cost_a_bounded_number_of_calls() -> None:
    """Calls, not seconds: a busy machine must not fail it. 110 flows load in about 35 ms here."""
    aliases = [f"c{number}" for number in range(11)]
    lines = [f"clusters = {', '.join(aliases)}"]
    lines += [f"{alias}.bootstrap.servers = {alias}:9092" for alias in aliases]
    for source in aliases:
        lines += [
            f"{source}->{target}.{setting}"
            for target in aliases
            if target != source
            for setting in ("enabled = true", "topics = a.*, b.*", "tasks.max = 4")
        ]
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    data = "\n".join(lines).encode()
    sys.setprofile(count)
    try:
        configured = parse(data, Path("many.properties"))
    finally:
        sys.setprofile(None)
    assert len(configured.enabled_flows) == 110
    assert calls < 60_000
