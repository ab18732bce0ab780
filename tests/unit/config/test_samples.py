"""Published files load, with a clear warning for each of their slips."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirror.config import Configuration, load
from mirror.config import options as opt
from mirror.config.configuration import DEFAULT_PATH

SAMPLES = Path(__file__).parent / "data" / "samples"


def sample(name: str) -> Configuration:
    return load(SAMPLES / f"{name}.properties")


def warned(configuration: Configuration) -> list[tuple[int, str]]:
    return [(warning.origin.line, warning.message) for warning in configuration.warnings]


OLD_QUOTED_GLOB = ["old name", "quotes", "understood as .*.internal"]

# The line and a telling word of every warning, in the order of the file.
EXPECTED = {
    "active-active": [],
    "amq-streams": [
        (1, "cluster-1 contains the separator"),
        (1, "cluster-2 contains the separator"),
        (2, "placeholder"),
        (4, "placeholder"),
        (5, "placeholder"),
        (5, "ends in _"),
        (6, "placeholder"),
        (7, "placeholder"),
        (7, "ends in _"),
        (8, "placeholder"),
        (10, "placeholder"),
        (11, "placeholder"),
        (11, "ends in _"),
        (12, "placeholder"),
        (13, "placeholder"),
        (13, "ends in _"),
        (17, "did you mean cluster-2->cluster-1?"),
    ],
    "blog": [(6, "more than once"), (7, "more than once"), *((14, word) for word in OLD_QUOTED_GLOB)],
    "hdinsight": [*((16, word) for word in OLD_QUOTED_GLOB)],
    "hdinsight-ssl": [
        *((16, word) for word in OLD_QUOTED_GLOB),
        (29, "placeholder"),
        (32, "blank"),
        (32, "placeholder"),
        (34, "Kerberos"),
    ],
    "apache": [
        (34, "comment"),
        (35, "comment"),
        (36, "comment"),
        (37, "the option is emit.heartbeats.enabled"),
        (38, "the option is enabled"),
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_published_sample_loads_with_one_warning_per_slip(name: str) -> None:
    found = warned(sample(name))
    assert [line for line, _ in found] == [line for line, _ in EXPECTED[name]]
    assert [word for (_, text), (_, word) in zip(found, EXPECTED[name], strict=True) if word not in text] == []


def test_all_published_samples_are_looked_at() -> None:
    assert {path.stem for path in SAMPLES.glob("*.properties")} == EXPECTED.keys()


def test_the_slips_are_understood_as_they_were_meant() -> None:
    assert sample("blog").flow("source->destination")[opt.TOPICS_EXCLUDE] == (".*.internal", "__.*")
    apache = sample("apache").flow("A->B")
    assert apache[opt.TASKS_MAX] == 2
    assert apache[opt.REFRESH_TOPICS_INTERVAL] == 300
    assert apache[opt.GROUPS] == ("foo.*", "bar.*")
    assert apache[opt.EMIT_HEARTBEATS_ENABLED] is True


def test_a_mistyped_flow_changes_nothing_for_the_flow_it_resembles() -> None:
    flow = sample("amq-streams").flow("cluster-2->cluster-1")
    assert flow.enabled
    assert not flow.is_set(opt.TOPICS)


def test_connects_options_are_notices_and_no_warnings() -> None:
    configuration = sample("hdinsight")
    assert [notice.origin.key for notice in configuration.notices] == [
        "offset.storage.replication.factor",
        "status.storage.replication.factor",
        "config.storage.replication.factor",
    ]


def test_the_default_configuration_has_nothing_to_warn_of() -> None:
    configuration = load(DEFAULT_PATH)
    assert configuration.warnings == ()
    assert configuration.notices == ()
    assert [flow.id for flow in configuration.enabled_flows] == ["east->west"]
