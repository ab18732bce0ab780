"""Which settings are written to an existing copy: MM2's rule, and nothing that is already so."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.kafka.values import ConfigEntry
from mirror.selection import Selector
from mirror.topics.settings_sync import SettingsPlan, plan_settings, settings_switch

TOPIC, DYNAMIC_BROKER = "DYNAMIC_TOPIC_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG"
STATIC, DEFAULT = "STATIC_BROKER_CONFIG", "DEFAULT_CONFIG"
LIMIT = 1_048_588

Entries = dict[str, tuple[str, str]]  # name: (value, source), as MM2's recorded runs write them


def entries(given: Entries) -> dict[str, ConfigEntry]:
    return {
        name: ConfigEntry(name=name, value=value, source=source, is_read_only=False, is_sensitive=False)
        for name, (value, source) in given.items()
    }


def plan_of(tmp_path: Path, here: Entries, there: Entries, lines: str = "", limit: int = LIMIT) -> SettingsPlan:
    flow = flow_from(tmp_path, lines)
    decision = Selector(flow).decide("t")
    return plan_settings(
        flow, [decision], {"t": entries(here)}, {"A.t": entries(there)}, target_max_message_bytes=limit
    )


def changes(plan: SettingsPlan) -> dict[str, str | None]:
    """Each changed name with its new value, None for one that is deleted."""
    return {d.change.name: d.change.value if d.change.operation == "set" else None for d in plan.differences}


SET = {"retention.ms": "1000"}
DELETED = {"retention.ms": None}
SOURCE_DEFAULTS = "A->B.use.defaults.from = source"


@pytest.mark.parametrize(
    ("lines", "here", "there", "expected"),
    [
        # The source topic sets it.
        ("", ("1000", TOPIC), ("604800000", DEFAULT), SET),
        ("", ("1000", TOPIC), ("5", TOPIC), SET),
        ("", ("1000", TOPIC), ("1000", TOPIC), {}),
        # The same value by inheritance is not the same: MM2 makes it the topic's own, so that it stays.
        ("", ("1000", TOPIC), ("1000", STATIC), SET),
        ("", ("1000", TOPIC), ("1000", DEFAULT), SET),
        # The source's brokers set it dynamically: for MM2 as good as the topic's.
        ("", ("1000", DYNAMIC_BROKER), ("604800000", DEFAULT), SET),
        # Nobody sets it at the source.
        ("", ("604800000", DEFAULT), ("5", TOPIC), DELETED),
        ("", ("604800000", DEFAULT), ("604800000", TOPIC), DELETED),
        ("", ("604800000", DEFAULT), ("604800000", DEFAULT), {}),
        ("", ("604800000", DEFAULT), ("5", STATIC), {}),
        ("", ("604800000", DEFAULT), ("5", DYNAMIC_BROKER), {}),
        (SOURCE_DEFAULTS, ("1000", DEFAULT), ("5", TOPIC), SET),
        (SOURCE_DEFAULTS, ("1000", DEFAULT), ("1000", DEFAULT), SET),
        (SOURCE_DEFAULTS, ("1000", DEFAULT), ("1000", TOPIC), {}),
        # A value of the source's server.properties: neither copied nor removed.
        ("", ("1000", STATIC), ("5", TOPIC), {}),
        (SOURCE_DEFAULTS, ("1000", STATIC), ("5", TOPIC), {}),
        # Excluded: the target's own business.
        ("config.properties.exclude = retention.*", ("1000", TOPIC), ("5", TOPIC), {}),
        ("config.properties.exclude = retention.*", ("604800000", DEFAULT), ("5", TOPIC), {}),
        ("config.properties.exclude =", ("1000", TOPIC), ("5", TOPIC), SET),
    ],
)
def test_a_setting_is_written_exactly_when_mm2_would_change_something_by_it(
    tmp_path: Path, lines: str, here: tuple[str, str], there: tuple[str, str], expected: dict[str, str | None]
) -> None:
    assert changes(plan_of(tmp_path, {"retention.ms": here}, {"retention.ms": there}, lines)) == expected


@pytest.mark.parametrize("flag", ["is_read_only", "is_sensitive"])
def test_what_cannot_be_read_or_written_is_left_alone(tmp_path: Path, flag: str) -> None:
    flow = flow_from(tmp_path)
    shown = {"is_read_only": False, "is_sensitive": False, flag: True}
    here = {"retention.ms": ConfigEntry(name="retention.ms", value="1", source=TOPIC, **shown)}
    there = entries({"retention.ms": ("5", TOPIC)})
    plan = plan_settings(
        flow, [Selector(flow).decide("t")], {"t": here}, {"A.t": there}, target_max_message_bytes=LIMIT
    )
    assert plan.differences == ()


# As recorded from MM2 4.3.1: a source topic, its copy as an operator left it, and the copy as MM2 then made it.
G_CONF: Entries = {
    "compression.type": ("lz4", TOPIC),
    "min.insync.replicas": ("2", TOPIC),
    "cleanup.policy": ("compact,delete", TOPIC),
    "segment.bytes": ("1048576", TOPIC),
    "retention.ms": ("-1", TOPIC),
    "max.message.bytes": ("2000000", TOPIC),
    "message.timestamp.type": ("LogAppendTime", TOPIC),
    "unclean.leader.election.enable": ("true", TOPIC),
    "message.timestamp.before.max.ms": ("7200000", TOPIC),
    "segment.ms": ("604800000", DEFAULT),
}
G_CONF_COPY: Entries = {
    "compression.type": ("producer", DEFAULT),
    "min.insync.replicas": ("1", DYNAMIC_BROKER),
    "cleanup.policy": ("delete", DEFAULT),
    "segment.bytes": ("1048576", TOPIC),
    "retention.ms": ("500000000", TOPIC),
    "max.message.bytes": ("1048588", DEFAULT),
    "message.timestamp.type": ("CreateTime", DEFAULT),
    "unclean.leader.election.enable": ("false", DEFAULT),
    "message.timestamp.before.max.ms": ("9223372036854775807", STATIC),
    "segment.ms": ("86400000", TOPIC),
}


def test_mm2s_recorded_topic_becomes_what_mm2_made_of_it_and_then_stays(tmp_path: Path) -> None:
    found = changes(plan_of(tmp_path, G_CONF, G_CONF_COPY))
    assert found == {
        "compression.type": "lz4",
        "cleanup.policy": "compact,delete",
        "retention.ms": "-1",
        "max.message.bytes": "2000000",
        "message.timestamp.before.max.ms": "7200000",
        "segment.ms": None,
    }
    after = dict(G_CONF_COPY)
    for name, value in found.items():
        after[name] = (value, TOPIC) if value is not None else G_CONF[name]
    assert plan_of(tmp_path, G_CONF, after).differences == ()


def test_every_difference_tells_what_was_there_and_why_it_goes(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        {"retention.ms": ("1000", TOPIC), "segment.ms": ("7", DEFAULT)},
        {"retention.ms": ("9", DEFAULT), "segment.ms": ("5", TOPIC)},
    )
    assert [str(difference) for difference in plan.differences] == [
        "set retention.ms=1000 (not set): the source topic has it",
        "delete segment.ms (was 5): the source topic does not set it",
    ]


@pytest.mark.parametrize(
    ("here", "there", "limit", "expected"),
    [
        # The source's brokers take more than the target's: room is made as at creation, and not taken away again.
        (("5000000", STATIC), ("1048588", DEFAULT), LIMIT, "5000000"),
        (("5000000", STATIC), ("5000000", TOPIC), LIMIT, "same"),
        (("5000000", STATIC), ("6000000", TOPIC), LIMIT, "same"),
        (("5000000", STATIC), ("6000000", STATIC), 6_000_000, "same"),
        ((str(LIMIT), DEFAULT), (str(LIMIT), TOPIC), 500_000, "same"),
        ((str(LIMIT), DEFAULT), ("500000", STATIC), 500_000, str(LIMIT)),
        ((str(LIMIT), DEFAULT), ("2000000", TOPIC), 500_000, str(LIMIT)),
        ((str(LIMIT), DEFAULT), ("2000000", TOPIC), LIMIT, None),
        # What the source topic itself says is copied, smaller or larger.
        (("1000", TOPIC), ("1048588", DEFAULT), LIMIT, "1000"),
    ],
)
def test_a_copy_takes_records_as_large_as_its_source(
    tmp_path: Path, here: tuple[str, str], there: tuple[str, str], limit: int, expected: str | None
) -> None:
    found = changes(plan_of(tmp_path, {"max.message.bytes": here}, {"max.message.bytes": there}, limit=limit))
    assert found == ({} if expected == "same" else {"max.message.bytes": expected})


def test_an_excluded_size_is_left_alone(tmp_path: Path) -> None:
    lines = "config.properties.exclude = max.message.bytes"
    here, there = {"max.message.bytes": ("5000000", STATIC)}, {"max.message.bytes": ("1048588", DEFAULT)}
    assert plan_of(tmp_path, here, there, lines).differences == ()


def test_a_setting_that_the_target_does_not_know_is_told_and_does_not_hold_up_the_others(tmp_path: Path) -> None:
    here: Entries = {"retention.ms": ("1000", TOPIC), "new.fangled": ("1", TOPIC), "new.default": ("1", DEFAULT)}
    plan = plan_of(tmp_path, here, {"retention.ms": ("5", TOPIC)}, SOURCE_DEFAULTS)
    assert changes(plan) == SET
    assert plan.notices == ("A.t: new.fangled=1 is not copied, because the target's brokers do not know it",)


def test_a_timestamp_bound_is_copied_with_a_word_on_its_harm(tmp_path: Path) -> None:
    name = "message.timestamp.before.max.ms"
    plan = plan_of(tmp_path, {name: ("7200000", TOPIC)}, {name: ("9", DEFAULT)})
    assert changes(plan) == {name: "7200000"}
    assert "add it to config.properties.exclude" in plan.notices[0]
    assert not plan_of(tmp_path, {name: ("7200000", TOPIC)}, {name: ("7200000", TOPIC)}).notices


def test_topics_that_one_side_lacks_are_passed_over(tmp_path: Path) -> None:
    flow = flow_from(tmp_path)
    decisions = [Selector(flow).decide(name) for name in ("gone", "new")]
    here = {"new": entries({"retention.ms": ("1", TOPIC)})}
    there = {"A.gone": entries({"retention.ms": ("5", TOPIC)})}
    plan = plan_settings(flow, decisions, here, there, target_max_message_bytes=LIMIT)
    assert (plan.differences, plan.topic_count) == ((), 0)


def test_the_switch_is_named_with_the_line_that_set_it(tmp_path: Path) -> None:
    assert settings_switch(flow_from(tmp_path)) == ""
    off = settings_switch(flow_from(tmp_path, "sync.topic.configs.enabled = false"))
    assert off.startswith("sync.topic.configs.enabled = false (")
    assert "mm2.properties" in off
