"""A broken file is refused whole: every mistake, each with its line, its key and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirror.config import load
from mirror.config.configuration import parse
from mirror.config.secrets import MASK
from mirror.errors import ConfigurationRefused

HEAD = "clusters = A, B\nA.bootstrap.servers = a:1\nB.bootstrap.servers = b:1\nA->B.enabled = true\n"
BROKEN = Path(__file__).parent / "data" / "broken.properties"


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigurationRefused) as caught:
        parse(text.encode(), Path("mm2.properties"))
    found: list[str] = caught.value.about["problems"]
    return found


def warnings_of(text: str) -> list[str]:
    return [str(warning) for warning in parse((HEAD + text).encode(), Path("mm2.properties")).warnings]


def test_ten_and_more_mistakes_are_told_at_once_each_on_one_line() -> None:
    with pytest.raises(ConfigurationRefused) as caught:
        load(BROKEN)
    lines = caught.value.about["problems"]
    assert [line.partition("broken.properties:")[2].partition(":")[0] for line in lines] == [
        "1", "2", "4", "5", "7", "8", "9", "10", "11", "12", "13", "14", "15",
    ]  # fmt: skip
    assert all("\n" not in line for line in lines)
    assert all(line in str(caught.value) for line in lines)
    assert "  next: " in str(caught.value)


def test_a_problem_names_file_line_key_what_was_expected_and_what_stands_there() -> None:
    assert problems_of(HEAD + "A->B.tasks.max = many\n") == [
        'mm2.properties:5: A->B.tasks.max: expected a whole number of at least 1, got "many"'
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("refresh.topics.interval.seconds = 0", "write refresh.topics.enabled = false"),
        ("emit.checkpoints.interval.seconds = -1", "at least 1"),
        ("A->B.offset-syncs.topic.location = Source", "expected one of source, target"),
        ("A.security.protocol = TLS", "SASL_SSL"),
        ("security.protocol = nothing", "SASL_SSL"),
        ("A.sasl.mechanism = MAGIC", "SCRAM-SHA-512"),
        ("A->B.topics = [a", '"[a"'),
        ("groups.exclude = a(", '"a("'),
        ("replication.policy.class = com.example.Own", "Java classes cannot run"),
        ("topic.filter.class = com.example.Own", "mirror.filters.TopicFilter"),
        ("group.filter.class = DefaultTopicFilter", "did you mean DefaultGroupFilter?"),
        ("forwarding.admin.class = org.example.Admin", "no module org.example beside this file"),
        ("replication.policy.separator = /", "topic names"),
        ("airmirror.on.gap = ignore", "continue, fail"),
        ("airmirror.start = soon", "2025"),
        ("A.consumer.auto.offset.reset = none", "earliest, latest"),
        ("A->B.source.consumer.max.partition.fetch.bytes = big", "whole number"),
        ("emit.offset-syncs.enabled = false\noffset-syncs.topic.replication.factor = 1", "line 5"),
        ("A->B.exactly.once.support = required\nA.consumer.isolation.level = read_uncommitted", "read_committed"),
        (
            "B->A.enabled = true\nA->B.offset-syncs.topic.location = source\nB->A.offset-syncs.topic.location = target",
            "A->B and B->A would both write mm2-offset-syncs.B.internal on A",
        ),
        (
            "B->A.enabled = true\nreplication.policy.class = IdentityReplicationPolicy\n"
            "A->B.airmirror.acls.prune = true",
            "A->B would remove what B->A or B itself granted",
        ),
        ("A->B.emit.heartbeats.enabled = ${env:BEAT}", "which flows exist"),
        ("airmirror.copy.schedule = ${env:WHEN}", "Dags are made from it"),
    ],
)
def test_a_mistake_is_a_problem_that_says_what_to_write(lines: str, said: str) -> None:
    (line,) = problems_of(HEAD + lines + "\n")
    assert said in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cluster = A, B\n", "did you mean cluster?"),
        ("clusters =\n", "at least one"),
        ("clusters = A\nA.bootstrap.servers = a:1\n", "at least two clusters"),
        ("clusters = A, B\nA.bootstrap.servers = a:1\n", "B.bootstrap.servers: expected the brokers of cluster B"),
        (
            "clusters = a b, c\nbootstrap.servers = a:1\n",
            "expected aliases of letters",
        ),
        (
            "clusters = A, B\nbootstrap.servers = a:1\nemit.heartbeats.enabled = false\n",
            "no flow is enabled and heartbeats are off",
        ),
    ],
)
def test_a_file_without_a_whole_flow_is_refused(text: str, said: str) -> None:
    assert said in "\n".join(problems_of(text))


def test_two_flows_whose_dags_would_have_one_name_are_refused() -> None:
    text = "clusters = a, b-to-c, a-to-b, c\nbootstrap.servers = x:1\n"
    assert any("would share the Dags a-to-b-to-c" in line for line in problems_of(text))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("refresh.topic.enabled = true", "did you mean refresh.topics.enabled?"),
        ("A->B.task.maxx = 4", "did you mean A->B.tasks.max?"),
        ("A->B.topcis = a", "did you mean A->B.topics?"),
        ("A.bootstrap.server = a:2", "did you mean A.bootstrap.servers?"),
        ("A.consumer.fetch.min.byte = 1", "did you mean A.consumer.fetch.min.bytes?"),
        ("airmirror.copy.windw.seconds = 3", "did you mean airmirror.copy.window.seconds?"),
        ("replication.policy.seperator = _", "did you mean replication.policy.separator?"),
        ("A->C.topics = a", "A->C is no flow between the clusters of this file; ignored; did you mean A->B?"),
        ("A->A.topics = a", "source and target are the same"),
        ("C.bootstrap.servers = c:1", "C is not one of the clusters"),
        ("A.topics = a", "A->B.topics"),
        ("A.fetch.min.bytes = 4", "A.consumer.fetch.min.bytes"),
        ("consumer.fetch.min.bytes = 4", "write ALIAS.consumer.fetch.min.bytes"),
        ("readahead.queue.capacity = 5", "no MM2 ever had this option"),
        ("heartbeats.topic.retention.ms = 5", "no MM2 ever had this option"),
        ("use.incremental.alter.configs = requested", "removed from MM2"),
        ("exactly.once.support = required", "write A->B.exactly.once.support"),
        ("enabled = true", "enables every flow"),
        ("errors.tolerance = all", "never skips"),
        (
            "B->A.enabled = true\nreplication.policy.class = IdentityReplicationPolicy",
            "both keep names: a topic that both copy would send its records round for ever",
        ),
        ("emit.checkpoints.enabled = false", "runs without them too"),
        ("B->A.enabled = true ", "understood as true"),
        ('A->B.topics = "a"', "quotes"),
        ("tasks.max = 4 # four", "comment"),
        ("A.ssl.truststore.location = /a # b", "part of the value"),
        ("A.ssl.truststore.password = 'x'", "part of the value"),
        ("tasks.max = 1\ntasks.max = 2", "also set in line 5"),
        ("topics.blacklist = a", "understood as topics.exclude"),
        ("topics.blacklist = a\ntopics.exclude = b", "which is set too (line 6) and wins"),
    ],
)
def test_what_mm2_would_ignore_or_misread_is_one_warning(line: str, said: str) -> None:
    (warning,) = warnings_of(line + "\n")
    assert said in warning


@pytest.mark.parametrize(
    "line",
    [
        "offset.storage.topic = x",
        "B.offset.flush.interval.ms = 5",
        "B.exactly.once.source.support = enabled",
        "listeners = http://:1",
        "dedicated.mode.enable.internal.rest = true",
        "config.providers = env",
        "config.providers.env.class = org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        "config.providers.env.param.allowlist.pattern = KAFKA_.*",
        "A->B.replication.policy.own.option = x",
        "replication.policy.own.option = x",
        "key.converter = org.apache.kafka.connect.converters.ByteArrayConverter",
        "A->B.topics = ${env:TOPICS}",
        "A.ssl.truststore.password = ${file:/x:y}",
    ],
)
def test_what_is_right_in_mm2_is_no_warning_here(line: str) -> None:
    assert warnings_of(line + "\n") == []


def test_a_secret_is_in_no_message() -> None:
    text = (
        HEAD + "A.ssl.keystore.password = hunter2 # old\nA.sasl.jaas.config = <hunter2>\nA.ssl.key.pasword = hunter2\n"
    )
    assert "hunter2" not in "\n".join(warnings_of(text[len(HEAD) :]))
    assert "hunter2" not in repr(parse(text.encode(), Path("x")).flows[0].raw)
    assert MASK in repr(parse(text.encode(), Path("x")).flows[0].raw)


def test_a_file_that_cannot_be_read_says_how_to_name_another(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationRefused, match="AIRMIRROR_CONFIG"):
        load(tmp_path / "none.properties")
