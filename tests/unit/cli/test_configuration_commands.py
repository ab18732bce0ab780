"""`airmirror flows` and `airmirror config`: tables for people, one JSON document for programs, secrets for nobody."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from mirror.cli import arguments, config, flows, main
from mirror.errors import ConfigurationRefused, UnknownFlow, UsageRefused

FILE = """clusters = A, B
bootstrap.servers = localhost:1
A->B.enabled = true
A->B.topics = "[a-c].*"
B.security.protocol = SASL_PLAINTEXT
B.sasl.mechanism = PLAIN
B.sasl.jaas.config = m required username="mirror" password="hunter2";
B.producer.linger.ms = 5
B.producer.max.block.ms = 5
offset.storage.topic = x
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mm2.properties"
    path.write_text(FILE)
    return path


def run(*argv: str) -> int:
    """As main does, with these two commands only."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    commands = parser.add_subparsers()
    for module in (flows, config):
        module.add_parser(commands)
    args = parser.parse_args(argv)
    code: int = args.run(args)
    return code


def test_flows_are_a_table_and_warnings_go_to_stderr_once(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--config", str(file), "flows", "--offline") == 0
    out, err = capsys.readouterr()
    row = next(line for line in out.splitlines() if "A->B" in line)
    assert [word in row for word in ("yes", "DefaultReplicationPolicy", "[a-c].*", "* * * * *")] == [True] * 4
    assert "heartbeats only" in next(line for line in out.splitlines() if "B->A" in line)
    assert err.count("airmirror: warning: ") == 1
    assert f"{file}:4: A->B.topics: quotes" in err


def test_flows_as_json_are_one_document(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--config", str(file), "flows", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [(flow["flow"], flow["enabled"]) for flow in document["flows"]] == [("A->B", True), ("B->A", False)]
    assert document["flows"][0]["topics"] == ["[a-c].*"]
    # Nobody is asked about a flow that is not enabled, and a cluster that is not there keeps nobody waiting for long.
    assert document["flows"][0]["state"]["state"] == "unknown"
    assert "does not answer" in document["flows"][0]["state"]["reason"]
    assert document["flows"][1]["state"] is None


def test_config_says_for_each_value_which_line_set_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--config", str(file), "config", "A-to-B") == 0
    lines = capsys.readouterr().out.splitlines()
    options = {line.split()[0]: line.split() for line in lines if line.split()}
    assert options["topics"] == ["topics", "[a-c].*", "mm2.properties:4"]
    assert options["tasks.max"] == ["tasks.max", "1", "default"]
    assert options["linger.ms"] == ["linger.ms", "5", "linger.ms", "mm2.properties:8"]
    assert options["sasl.username"] == ["sasl.username", "mirror", "sasl.jaas.config", "mm2.properties:7"]
    assert any("max.block.ms: no effect" in line for line in lines)
    assert any("offset.storage.topic: no effect in airmirror" in line for line in lines)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_config_shows_no_secret(file: Path, capsys: pytest.CaptureFixture[str], form: list[str]) -> None:
    assert run("--config", str(file), "config", *form) == 0
    out, err = capsys.readouterr()
    assert "hunter2" not in out + err
    assert "********" in out


def test_config_as_json_has_options_clients_and_notices(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--config", str(file), "config", "A->B", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    (flow,) = document["flows"]
    assert {"name": "topics", "value": "[a-c].*", "from": "mm2.properties:4"} in flow["options"]
    assert flow["clients"].keys() == {
        "source consumer", "source admin", "target producer", "target consumer", "target admin",
    }  # fmt: skip
    assert document["warnings"]
    assert document["notices"]


def test_an_unknown_flow_is_wrong_usage(file: Path) -> None:
    with pytest.raises(UnknownFlow):
        run("--config", str(file), "config", "A->C")


def test_a_refused_file_also_shows_its_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mm2.properties"
    path.write_text("clusters = A, B\nA.bootstrap.servers = a:1\nB.bootstrap.server = b:1\n")
    with pytest.raises(ConfigurationRefused):
        run("--config", str(path), "flows")
    assert "did you mean B.bootstrap.servers?" in capsys.readouterr().err


def test_without_an_enabled_flow_a_command_about_all_says_what_to_write(tmp_path: Path) -> None:
    path = tmp_path / "mm2.properties"
    path.write_text("clusters = A, B\nbootstrap.servers = a:1\n")
    args = argparse.Namespace(config=str(path), flow=None)
    with pytest.raises(UsageRefused, match="enables no flow"):
        arguments.chosen_flows(arguments.load_configuration(args), args)


def test_a_broken_file_prints_a_line_per_mistake_and_exits_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main, "COMMANDS", ("flows", "config"))
    broken = Path(__file__).parents[1] / "config" / "data" / "broken.properties"
    assert main.main(["--config", str(broken), "flows"]) == main.EXIT_USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert len([line for line in err.splitlines() if "broken.properties:" in line and ": expected" in line]) >= 10
    assert "has 13 problems" in err
