"""Which settings a copy is created with."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.kafka.values import ConfigEntry
from mirror.topics.settings import KAFKA_MAX_MESSAGE_BYTES, NewSettings, settings_at_creation, settings_rule

TOPIC, DYNAMIC_BROKER = "DYNAMIC_TOPIC_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG"
STATIC, DEFAULT = "STATIC_BROKER_CONFIG", "DEFAULT_CONFIG"


def entry(
    name: str, value: str | None, source: str = TOPIC, *, is_read_only: bool = False, is_sensitive: bool = False
) -> ConfigEntry:
    return ConfigEntry(name=name, value=value, source=source, is_read_only=is_read_only, is_sensitive=is_sensitive)


def settings_of(tmp_path: Path, *entries: ConfigEntry, lines: str = "", target_max: int = 1_048_588) -> NewSettings:
    rule = settings_rule(flow_from(tmp_path, lines))
    return settings_at_creation({e.name: e for e in entries}, rule, target_max_message_bytes=target_max)


@pytest.mark.parametrize(
    ("lines", "given", "is_copied"),
    [
        ("", entry("retention.ms", "1000"), True),
        ("", entry("retention.ms", "1000", DYNAMIC_BROKER), True),
        ("", entry("retention.ms", "1000", STATIC), False),
        ("", entry("retention.ms", "1000", DEFAULT), False),
        ("A->B.use.defaults.from = source", entry("retention.ms", "1000", DEFAULT), True),
        ("A->B.use.defaults.from = source", entry("retention.ms", "1000", STATIC), False),
        ("", entry("retention.ms", "1000", is_read_only=True), False),
        ("", entry("retention.ms", "1000", is_sensitive=True), False),
        ("", entry("min.insync.replicas", "2"), False),
        ("", entry("min.insync.replicas", "2", DYNAMIC_BROKER), False),
        ("", entry("message.timestamp.type", "LogAppendTime"), False),
        ("", entry("unclean.leader.election.enable", "true"), False),
        ("", entry("leader.replication.throttled.replicas", "*"), False),
        ("", entry("follower.replication.throttled.replicas", "*"), False),
        ("", entry("message.timestamp.before.max.ms", "1000"), True),
        ("config.properties.exclude = retention.*", entry("retention.ms", "1000"), False),
        ("config.properties.exclude = retention.*", entry("min.insync.replicas", "2"), True),
        ("config.properties.exclude =", entry("min.insync.replicas", "2"), True),
    ],
)
def test_a_setting_is_copied_exactly_when_mm2_would(
    tmp_path: Path, lines: str, given: ConfigEntry, is_copied: bool
) -> None:
    assert settings_of(tmp_path, given, lines=lines).settings == ({given.name: given.value} if is_copied else {})


def test_an_empty_value_is_a_value(tmp_path: Path) -> None:
    assert settings_of(tmp_path, entry("cleanup.policy", "")).settings == {"cleanup.policy": ""}


@pytest.mark.parametrize(
    ("source", "value", "target_max", "expected"),
    [
        (TOPIC, 5_000_000, KAFKA_MAX_MESSAGE_BYTES, "5000000"),
        (STATIC, 5_000_000, KAFKA_MAX_MESSAGE_BYTES, "5000000"),
        (STATIC, 5_000_000, 6_000_000, None),
        (DEFAULT, KAFKA_MAX_MESSAGE_BYTES, KAFKA_MAX_MESSAGE_BYTES, None),
        (DEFAULT, KAFKA_MAX_MESSAGE_BYTES, 500_000, str(KAFKA_MAX_MESSAGE_BYTES)),
        (TOPIC, 1000, 500_000, "1000"),
    ],
)
def test_the_copy_has_room_for_the_sources_largest_record(
    tmp_path: Path, source: str, value: int, target_max: int, expected: str | None
) -> None:
    new = settings_of(tmp_path, entry("max.message.bytes", str(value), source), target_max=target_max)
    assert new.settings.get("max.message.bytes") == expected
    # A setting that MM2 would not make is explained; one that it would is not worth a word.
    assert len(new.notices) == (1 if expected and source != TOPIC else 0)


def test_an_excluded_size_is_left_alone_with_a_word_on_what_will_happen(tmp_path: Path) -> None:
    lines = "config.properties.exclude = max.message.bytes"
    new = settings_of(tmp_path, entry("max.message.bytes", "5000000"), lines=lines)
    assert new.settings == {}
    assert "will stop their partition" in new.notices[0]


@pytest.mark.parametrize("name", ["message.timestamp.before.max.ms", "message.timestamp.after.max.ms"])
def test_a_timestamp_bound_is_copied_with_a_word_on_its_harm(tmp_path: Path, name: str) -> None:
    new = settings_of(tmp_path, entry(name, "1000"))
    assert new.settings == {name: "1000"}
    assert "config.properties.exclude" in new.notices[0]
    assert not settings_of(tmp_path, entry(name, "9", DEFAULT), lines="A->B.use.defaults.from = source").notices
