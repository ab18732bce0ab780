"""docker-compose.yaml and Dockerfile, checked without Docker: the schema, the versions, the paths, the commands."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from mirror.config import load
from world import jars, project

ROOT = project.root()
COMPOSE = ROOT / "docker-compose.yaml"
DOCKERFILE = (ROOT / "Dockerfile").read_text()
DOCUMENT: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
SERVICES: dict[str, dict[str, Any]] = DOCUMENT["services"]
OURS = sorted(name for name, service in SERVICES.items() if "build" in service)
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def default(text: str) -> str:
    """The text as Compose reads it where no variable is set."""
    return VARIABLE.sub(lambda found: found[2] or "", text)


def pinned(package: str) -> str:
    found = re.search(rf"^{package}==(\S+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert found, f"{package} is not in requirements.txt"
    return found[1]


def test_the_file_follows_the_compose_specification() -> None:
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(checker, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_kafka_is_the_one_that_the_tests_run() -> None:
    images = {service["image"] for name, service in SERVICES.items() if name.startswith("kafka-")}
    assert images == {f"apache/kafka:{jars.KAFKA_VERSION}"}


def test_airflow_and_spark_are_the_pinned_packages_in_our_own_image() -> None:
    assert sorted(name for name in SERVICES if name.startswith(("airflow-", "spark-"))) == OURS
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert {SERVICES[name]["image"] for name in OURS} == {f"airmirror:{version}"}
    assert "--require-hashes -r requirements.txt -r requirements-docker.txt" in DOCKERFILE
    assert pinned("pyspark") == pinned("pyspark-client")


def test_python_and_java_are_those_that_the_packages_are_locked_for() -> None:
    python = re.search(r"^FROM python:(\d+\.\d+)-slim", DOCKERFILE, re.MULTILINE)
    lowest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert python
    assert lowest == f">={python[1]}"
    assert f"--python-version {python[1]}" in (ROOT / "Makefile").read_text()
    assert "openjdk-17-jre-headless" in DOCKERFILE


def test_the_images_extra_packages_do_not_move_the_pinned_ones() -> None:
    lines = (ROOT / "requirements-docker.txt").read_text().splitlines()
    extra = {line.split("==")[0] for line in lines if "==" in line and not line.startswith(" ")}
    assert {"asyncpg", "psycopg2-binary"} <= extra
    for package in extra:
        assert not re.search(rf"^{package}==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)


def copied() -> list[str]:
    lines = re.findall(r"^COPY (.+)$", DOCKERFILE, re.MULTILINE)
    return [source for line in lines for source in line.split()[:-1]]


@pytest.mark.parametrize("source", copied())
def test_what_the_image_copies_is_in_the_repository_and_reaches_the_builder(source: str) -> None:
    assert (ROOT / source).exists()
    tracked = subprocess.run(["git", "ls-files", source], cwd=ROOT, capture_output=True, text=True, check=True)
    assert tracked.stdout or not (ROOT / ".git").exists()
    assert f"!{source.rstrip('/')}" in (ROOT / ".dockerignore").read_text().splitlines()


def test_what_is_mounted_exists() -> None:
    for name, service in SERVICES.items():
        for volume in service.get("volumes", ()):
            source = default(volume).split(":")[0]
            if source.startswith("."):
                assert (ROOT / source).is_file(), f"{name} mounts {source}"
            else:
                assert source in DOCUMENT["volumes"], f"{name} mounts {source}"


def test_services_wait_for_services_that_exist_and_can_tell() -> None:
    for service in SERVICES.values():
        for other, wait in service.get("depends_on", {}).items():
            assert other in SERVICES
            if wait["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other]


def test_every_service_that_stays_says_how_it_is() -> None:
    staying = [name for name, service in SERVICES.items() if service.get("restart") != "no"]
    assert [name for name in staying if "healthcheck" not in SERVICES[name]] == []


def test_ports_are_open_to_this_machine_only() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_every_password_can_be_set_from_outside() -> None:
    for name, service in SERVICES.items():
        for key, value in service.get("environment", {}).items():
            if re.search(r"PASSWORD$|SECRET$|SQL_ALCHEMY_CONN$|FERNET_KEY$", key):
                assert VARIABLE.search(str(value)), f"{name}: {key} is fixed"


def test_the_clusters_are_two() -> None:
    east, west = (SERVICES[f"kafka-{name}"]["environment"] for name in ("east", "west"))
    assert east["CLUSTER_ID"] != west["CLUSTER_ID"]
    assert len(east["CLUSTER_ID"]) == len(west["CLUSTER_ID"]) == 22


def test_the_mounted_configuration_names_the_clusters_of_the_file() -> None:
    configuration = load(ROOT / "docker" / "mm2.properties")
    assert configuration.warnings == ()
    assert [flow.id for flow in configuration.enabled_flows] == ["east->west", "west->east"]
    for flow in configuration.enabled_flows:
        host, port = str(flow.admin_settings("source")["bootstrap.servers"]).split(":")
        assert f"://{host}:{port}" in SERVICES[host]["environment"]["KAFKA_ADVERTISED_LISTENERS"]


def airflow_commands() -> list[list[str]]:
    commands = [SERVICES[name]["command"] for name in OURS]
    checks = [SERVICES[name].get("healthcheck", {}).get("test", ["CMD"])[1:] for name in OURS]
    return [command for command in commands + checks if command and command[0] == "airflow"]


@pytest.mark.parametrize("command", airflow_commands(), ids=" ".join)
def test_airflow_knows_its_commands(command: list[str]) -> None:
    from airflow.cli.cli_parser import get_parser

    assert get_parser().parse_args(command[1:]).func


def test_spark_has_the_classes_that_are_started() -> None:
    import pyspark

    archive = next((Path(pyspark.__file__).parent / "jars").glob("spark-core_*.jar"))
    with zipfile.ZipFile(archive) as jar:
        files = set(jar.namelist())
    for name in ("spark-master", "spark-worker"):
        starter, main_class = SERVICES[name]["command"][:2]
        assert (Path(sys.executable).parent / starter).exists()
        assert f"{main_class.replace('.', '/')}.class" in files


def test_scripts_that_are_run_exist_and_may_be_run() -> None:
    scripts = [part for service in SERVICES.values() for part in service.get("command", ()) if "/docker/" in part]
    scripts += re.findall(r"/opt/airmirror/docker/[\w-]+", DOCKERFILE)
    assert len(scripts) == 2
    for script in scripts:
        path = ROOT / script.removeprefix("/opt/airmirror/")
        assert path.stat().st_mode & stat.S_IXUSR, script


def test_the_airflow_tasks_reach_sparks_master() -> None:
    connection = json.loads(SERVICES["airflow-scheduler"]["environment"]["AIRFLOW_CONN_SPARK_DEFAULT"])
    command = SERVICES["spark-master"]["command"]
    host, port = command[command.index("--host") + 1], command[command.index("--port") + 1]
    assert (connection["host"], str(connection["port"])) == (f"spark://{host}", port)
    assert SERVICES["spark-master"]["hostname"] == host
    assert SERVICES["spark-worker"]["command"][-1] == f"{connection['host']}:{connection['port']}"


def test_the_entrypoint_seals_sparks_connections_with_the_secret(tmp_path: Path) -> None:
    look = 'cat "$SPARK_CONF_DIR/spark-defaults.conf"; echo "left: ${SPARK_SECRET:-nothing}"'
    environment = {"PATH": "/usr/bin:/bin", "SPARK_CONF_DIR": str(tmp_path), "SPARK_SECRET": "not-to-be-seen"}
    done = subprocess.run(
        [str(ROOT / "docker" / "entrypoint"), "sh", "-c", look],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    settings = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith("spark."))
    assert settings["spark.authenticate"] == settings["spark.network.crypto.enabled"] == "true"
    assert settings["spark.authenticate.secret"] == "not-to-be-seen"
    assert "left: nothing" in done.stdout
    assert (tmp_path / "spark-defaults.conf").stat().st_mode & 0o077 == 0


def test_the_command_of_the_image_is_installed() -> None:
    assert 'CMD ["airmirror", "--help"]' in DOCKERFILE
    assert [point.value for point in entry_points(group="console_scripts", name="airmirror")]
