"""How old heartbeats are, and over which clusters they came."""

from __future__ import annotations

from mirror.heartbeats.ages import newest_of
from mirror.kafka.log import LogRecord
from mirror.kafka.values import TopicPartition
from mirror.naming import DefaultPolicy
from mirror.wire.heartbeat import Heartbeat

NOW_MS = 1_700_000_060_000
POLICY = DefaultPolicy(aliases=("A", "B", "us.west"))


def record(topic: str, source: str, target: str, at_ms: int) -> LogRecord:
    beat = Heartbeat(source=source, target=target, timestamp_ms=at_ms)
    return raw(topic, beat.encode_key(), beat.encode_value())


def raw(topic: str, key: bytes | None, value: bytes | None) -> LogRecord:
    return LogRecord(partition=TopicPartition(topic, 0), offset=0, key=key, value=value, timestamp_ms=0)


def test_the_newest_of_each_pair_counts_and_names_tell_the_way() -> None:
    found = newest_of(
        [
            record("A.us.west.heartbeats", "B", "us.west", NOW_MS - 5_000),
            record("A.heartbeats", "B", "A", NOW_MS - 60_000),
            record("heartbeats", "A", "B", NOW_MS - 1_500),
            record("A.heartbeats", "C", "A", NOW_MS - 7_000),
            record("A.heartbeats", "B", "A", NOW_MS - 2_000),
            record("A.heartbeats", "B", "A", NOW_MS - 3_000),
        ],
        POLICY,
        now_ms=NOW_MS,
    )
    assert [(age.topic, age.hops, f"{age.source}->{age.target}", age.age_s) for age in found] == [
        ("heartbeats", (), "A->B", 1.5),
        ("A.heartbeats", ("A",), "B->A", 2.0),
        ("A.heartbeats", ("A",), "C->A", 7.0),
        ("A.us.west.heartbeats", ("A", "us.west"), "B->us.west", 5.0),
    ]


def test_a_clock_ahead_of_ours_makes_no_negative_age() -> None:
    (age,) = newest_of([record("heartbeats", "A", "B", NOW_MS + 9_000)], POLICY, now_ms=NOW_MS)
    assert age.age_s == 0


def test_a_users_own_topic_of_that_name_is_passed_over() -> None:
    strangers = [raw("Z.heartbeats", b"key", b"v"), raw("Z.heartbeats", None, b"v"), raw("Z.heartbeats", b"k", None)]
    assert newest_of(strangers, POLICY, now_ms=NOW_MS) == ()
