"""Java's properties syntax, with cases whose results java.util.Properties gave."""

from __future__ import annotations

import pytest

from mirror.config.properties import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a=b", {"a": "b"}),
        (b"a = b", {"a": "b"}),
        (b"clusters: a, b", {"clusters": "a, b"}),
        (b"a b", {"a": "b"}),
        (b"a\tb", {"a": "b"}),
        (b"A -> B.enabled = true", {"A": "-> B.enabled = true"}),
        (b"a", {"a": ""}),
        (b"a==b", {"a": "=b"}),
        (b"a = b  ", {"a": "b  "}),
        (b"  a = b", {"a": "b"}),
        (b"# c\n! d\n  # e\na = b # no comment", {"a": "b # no comment"}),
        (b'a = "b"', {"a": '"b"'}),
        (rb"topics = a\.b", {"topics": "a.b"}),
        (rb"topics = a\\.b", {"topics": r"a\.b"}),
        (b"a = b,\\\n   c", {"a": "b,c"}),
        (b"a = b,\\\r\n\t c", {"a": "b,c"}),
        (b"a = b\\\\\nc = d", {"a": "b\\", "c": "d"}),
        (b"a = b\\\n# not a comment", {"a": "b# not a comment"}),
        (b"\\\n# a comment\na = b", {"a": "b"}),
        (rb"a\ b = c", {"a b": "c"}),
        (rb"a\=b = c", {"a=b": "c"}),
        (rb"a = \t\n\r\f\q", {"a": "\t\n\r\fq"}),
        (rb"a = caf\u00e9 \ud83d\ude00", {"a": "café 😀"}),
        (b"a = caf\xe9", {"a": "café"}),
        (b"a = caf\xc3\xa9", {"a": "cafÃ©"}),  # Java reads ISO-8859-1, whatever the editor wrote
        (b"a = 1\ra = 2", {"a": "2"}),
        (b"", {}),
    ],
)
def test_a_file_is_read_as_java_reads_it(text: bytes, expected: dict[str, str]) -> None:
    assert {entry.key: entry.value for entry in parse(text)} == expected


def test_every_key_knows_the_line_it_starts_on() -> None:
    entries = parse(b"# head\n\na = b,\\\n  c\n\nd = e\r\nf = g\n")
    assert [(entry.key, entry.line) for entry in entries] == [("a", 3), ("d", 6), ("f", 7)]


def test_duplicates_are_kept_in_order_for_the_warning() -> None:
    assert [(entry.value, entry.line) for entry in parse(b"a=1\na=2")] == [("1", 1), ("2", 2)]


def test_a_malformed_unicode_escape_is_named() -> None:
    (entry,) = parse(rb"a = \u12x")
    assert r"\u12x" in entry.mistake
