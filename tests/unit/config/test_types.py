"""Values: what is read from their text, and what is said where it cannot be."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mirror.config import types as t
from mirror.config.starts import StartOffsets, StartTimestamp
from mirror.config.types import ValueMistake, ValueType


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (t.BOOL, " TRUE ", True),
        (t.BOOL, "False", False),
        (t.whole(least=1), " 4 ", 4),
        (t.whole(), "-4", -4),
        (t.LIST, "", ()),
        (t.LIST, " a , b ", ("a", "b")),
        (t.LIST, '"a", "b"', ("a", "b")),
        (t.LIST, "a,b,a", ("a", "b")),
        (t.REGEX_LIST, r"a.*, b\.c", ("a.*", r"b\.c")),
        (t.REGEX_LIST, "*.internal,__.*", (".*.internal", "__.*")),
        (t.OPTIONAL_WHOLE, "", None),
        (t.OPTIONAL_WHOLE, "3", 3),
        (t.replication_factor("short"), "-1", -1),
        (t.one_of("source", "target"), "source", "source"),
        (t.one_of("PLAINTEXT", "SSL", any_case=True), "ssl", "SSL"),
        (t.CLASS, "class org.apache.X", "org.apache.X"),
        (t.CLASS, "package.module:Policy", "package.module:Policy"),
        (t.BOOTSTRAP, "a:1, PLAINTEXT://b:2, [::1]:3", ("a:1", "PLAINTEXT://b:2", "[::1]:3")),
        (t.SCHEDULE, "*/5 1-3 * jan,dec mon-fri", "*/5 1-3 * jan,dec mon-fri"),
        (t.SCHEDULE, "@hourly", "@hourly"),
        (t.SCHEDULE, "30", timedelta(seconds=30)),
        (t.SCHEDULE, "none", None),
        (t.START, "", None),
        (t.START, "1970-01-01T00:00:01Z", StartTimestamp(timestamp_ms=1000)),
        (t.START, "1970-01-01T01:00:00+01:00", StartTimestamp(timestamp_ms=0)),
        (t.START, "1970-01-02", StartTimestamp(timestamp_ms=86_400_000)),
        (t.START, "a.b:0:5, c:1:7", StartOffsets(offsets=(("a.b", 0, 5), ("c", 1, 7)))),
    ],
)
def test_text_is_read_as_its_type(type_: ValueType[Any], text: str, value: object) -> None:
    assert type_.parse(text) == value


@pytest.mark.parametrize(
    ("type_", "text", "said"),
    [
        (t.BOOL, "yes", "true or false"),
        (t.whole(least=1), "many", "at least 1"),
        (t.whole(least=1), "0", "at least 1"),
        (t.whole(), "1.5", "whole number"),
        (t.whole(), "99999999999", "at most"),
        (t.interval("x.enabled"), "-1", "x.enabled = false"),
        (t.LIST, "a,,b", "empty elements"),
        (t.NON_EMPTY_LIST, "", "at least one"),
        (t.REGEX_LIST, "ok, (broken", "(broken"),
        (t.REGEX_LIST, "a{1,3}", "a{1"),  # a comma splits a regex, in MM2 too
        (t.replication_factor("int"), "0", "-1 for the brokers' default"),
        (t.one_of("source", "target"), "Source", "source, target"),
        (t.CLASS, "not a class", "name of a class"),
        (t.BOOTSTRAP, "localhost", "host:port"),
        (t.BOOTSTRAP, "a:99999", "host:port"),
        (t.SEPARATOR, "/", "letters"),
        (t.SEPARATOR, "", "letters"),
        (t.SCHEDULE, "61 * * * *", "minute"),
        (t.SCHEDULE, "* * * *", "five cron fields"),
        (t.SCHEDULE, "0", "at least 1"),
        (t.START, "yesterday", "2025"),
        (t.START, "a:0:1,a:0:2", "one offset per partition"),
        (t.FLOW_ID, "a b", "letters"),
    ],
)
def test_text_of_another_type_is_told_what_was_expected(type_: ValueType[Any], text: str, said: str) -> None:
    with pytest.raises(ValueMistake, match=r".") as caught:
        type_.parse(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("type_", "text", "said"),
    [
        (t.LIST, "a,a", "more than once"),
        (t.LIST, '"a","b"', "quotes"),
        (t.REGEX_LIST, "*.x", "understood as .*.x"),
    ],
)
def test_what_had_to_be_understood_is_warned_of(type_: ValueType[Any], text: str, said: str) -> None:
    warnings: list[str] = []
    type_.parse(text, warnings.append)
    assert [said in warning for warning in warnings] == [True]
