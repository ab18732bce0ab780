"""`${provider:path:key}`: answered when a value is used, never before; what has no answer names its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mirror.config import Flow, connections, providers
from mirror.config.configuration import parse
from mirror.config.providers import NoAnswer
from mirror.errors import ConfigurationRefused

HEAD = "clusters = A, B\nbootstrap.servers = a:1\nA->B.enabled = true\n"
CLASSES = "org.apache.kafka.common.config.provider"
LOGIN = 'A.sasl.jaas.config = m required username="mirror" password="%s";'


def flow(*lines: str) -> Flow:
    return parse((HEAD + "\n".join(lines)).encode(), Path("mm2.properties")).flow("A->B")


def password(expression: str, *lines: str) -> object:
    """What becomes of an expression inside a login."""
    scram = ("A.security.protocol = SASL_SSL", "A.sasl.mechanism = SCRAM-SHA-512", LOGIN % expression)
    return flow(*lines, *scram).admin_settings("source")["sasl.password"]


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    (tmp_path / "secrets.properties").write_text("# ours\nkafka.password = h\\u00fcnter2\nother=x y\n", "utf-8")
    (tmp_path / "mounted").mkdir()
    (tmp_path / "mounted" / "password").write_text("from a file\n")
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """An Airflow with one Connection, and what it was asked for."""
    questions: list[tuple[str, str]] = []
    known = {
        "login": "mirror",
        "password": "pw",
        "host": "h",
        "port": 9092,
        "extra": json.dumps({"scope": "s", "n": 1}),
    }

    def look_up(connection: str, name: str) -> str:
        questions.append((connection, name))
        if connection != "kafka_a":
            raise NoAnswer(f"Airflow has no Connection {connection}", "airflow connections add it")
        return connections.field_of(known, connection, name)

    monkeypatch.setattr(providers, "_connections", look_up)
    return questions


def test_a_key_of_a_properties_file(secrets: Path) -> None:
    assert password(f"${{file:{secrets}/secrets.properties:kafka.password}}") == "hünter2"


def test_a_file_of_a_directory_without_its_last_line_end(secrets: Path) -> None:
    assert password(f"${{dir:{secrets}/mounted:password}}") == "from a file"


def test_a_variable_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_PASSWORD", "from outside")
    assert password("${env:MIRROR_PASSWORD}") == "from outside"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("${airflow:kafka_a}", "pw"),
        ("${airflow:kafka_a:password}", "pw"),
        ("${airflow:kafka_a:login}", "mirror"),
        ("${airflow:kafka_a:port}", "9092"),
        ("${airflow:kafka_a:scope}", "s"),
        ("${airflow:kafka_a:n}", "1"),
    ],
)
def test_a_connection_of_airflows(asked: list[tuple[str, str]], expression: str, expected: str) -> None:
    assert password(expression) == expected


def test_several_in_one_value_and_text_around_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE", "1")
    monkeypatch.setenv("TWO", "${env:ONE}")  # an answer is not asked again
    assert password("a${env:ONE}b${env:TWO}c") == "a1b${env:ONE}c"


def test_the_names_that_mm2s_lines_give_to_providers_count(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_PASSWORD", "from outside")
    lines = (
        "config.providers = safe, outside, file",
        f"config.providers.safe.class = {CLASSES}.FileConfigProvider",
        f"config.providers.outside.class = {CLASSES}.EnvVarConfigProvider",
        f"config.providers.file.class = {CLASSES}.DirectoryConfigProvider",  # whatever it is called
    )
    assert password(f"${{safe:{secrets}/secrets.properties:other}}", *lines) == "x y"
    assert password("${outside:MIRROR_PASSWORD}", *lines) == "from outside"
    assert password(f"${{file:{secrets}/mounted:password}}", *lines) == "from a file"


def test_what_a_provider_may_read_can_be_narrowed_as_in_kafka(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_PASSWORD", "x")
    narrow = (
        f"config.providers.file.class = {CLASSES}.FileConfigProvider",
        f"config.providers.file.param.allowed.paths = {secrets}/mounted",
        f"config.providers.env.class = {CLASSES}.EnvVarConfigProvider",
        "config.providers.env.param.allowlist.pattern = KAFKA_.*",
    )
    with pytest.raises(ConfigurationRefused, match=r"allowed\.paths"):
        password(f"${{file:{secrets}/mounted/../secrets.properties:other}}", *narrow)
    with pytest.raises(ConfigurationRefused, match=r"allowlist\.pattern"):
        password("${env:MIRROR_PASSWORD}", *narrow)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("${file:/none/secrets:k}", "cannot read /none/secrets: No such file"),
        ("${dir:/none:k}", "cannot read /none/k: No such file"),
        ("${dir:/etc:../passwd}", "expected the name of a file"),
        ("${env:MIRROR_NOWHERE}", "there is no environment variable MIRROR_NOWHERE"),
        ("${fiel:/none:k}", "there is no provider fiel; did you mean file"),
        ("${vault:secret/a:k}", "provider vault is the Java class com.example.Vault, which cannot run here"),
        ("${airflow:kafka_z:login}", "Airflow has no Connection kafka_z"),
        ("${airflow:kafka_a:schema}", "Airflow's Connection kafka_a has no schema"),
    ],
)
def test_what_has_no_answer_names_the_option_its_line_and_a_next_step(
    asked: list[tuple[str, str]], expression: str, words: str
) -> None:
    with pytest.raises(ConfigurationRefused) as caught:
        password(expression, "config.providers = vault", "config.providers.vault.class = com.example.Vault")
    assert f"mm2.properties:8: A.sasl.jaas.config: {expression}: {words}" in caught.value.message
    assert caught.value.next_step


def test_a_missing_key_names_the_nearest(secrets: Path) -> None:
    with pytest.raises(ConfigurationRefused, match=r"has no key kafka.pasword; did you mean kafka.password\?"):
        password(f"${{file:{secrets}/secrets.properties:kafka.pasword}}")


def test_loading_asks_nobody_and_a_client_asks_only_for_what_it_uses(asked: list[tuple[str, str]]) -> None:
    found = flow(
        "A.security.protocol = SSL",
        "A.ssl.truststore.certificates = ${airflow:kafka_a:host}",
        "A.sasl.jaas.config = ${airflow:kafka_z}",
        "B.ssl.keystore.password = ${airflow:kafka_z}",
        "A->B.topics = ${airflow:kafka_a:login}",
        "A.consumer.isolation.level = ${airflow:kafka_z}",
        "A->B.exactly.once.support = required",
        "airmirror.acls.prune = ${airflow:kafka_z}",
    )
    assert asked == []
    assert found.admin_settings("target")["security.protocol"] == "plaintext"
    assert asked == []
    with pytest.raises(ConfigurationRefused, match="no certificate"):
        found.admin_settings("source")
    assert asked == [("kafka_a", "host")]


def test_an_option_of_the_flow_is_answered_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from mirror.config import options as opt

    monkeypatch.setenv("MIRROR_TASKS", "7")
    found = flow("A->B.tasks.max = ${env:MIRROR_TASKS}")
    assert found.text(opt.TASKS_MAX) == "${env:MIRROR_TASKS}"
    assert found[opt.TASKS_MAX] == 7


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"conn_type": "generic", "login": "u", "password": "p w", "host": "h", "extra": {"scope": "s"}}),
        "generic://u:p%20w@h/?scope=s",
    ],
)
def test_a_connection_in_the_environment_needs_no_airflow(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_Q", text)
    found = connections.from_environment("kafka_q")
    assert found is not None
    assert [connections.field_of(found, "kafka_q", name) for name in ("login", "password", "host", "scope")] == [
        "u", "p w", "h", "s",
    ]  # fmt: skip
    assert connections.from_environment("kafka_r") is None


def test_every_connection_that_a_file_names_is_known_before_it_is_asked_for() -> None:
    found = flow(
        'A.sasl.jaas.config = m required username="${airflow:one:login}" password="${airflow:one}";',
        "B.ssl.key.password = ${airflow:two:extra}${env:X}",
    )
    assert providers.connections_in(found.settings) == {("one", "login"), ("one", "password"), ("two", "extra")}
