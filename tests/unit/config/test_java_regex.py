"""Java regexes in Python; what matches was asked of java.util.regex once, and written down here."""

from __future__ import annotations

import pytest

from mirror.config.java_regex import RegexRefused, compile_java, compile_names

CASES = [
    # pattern, names that match as a whole, names that do not
    ("foo", ["foo"], ["foobar", "FOO", ""]),
    (r"mm2.*\.internal", ["mm2-x.internal"], ["mm2-xinternal", "x.internal"]),
    (r".*[\-\.]internal", ["a-internal", "a.internal"], ["a_internal"]),
    ("^foo$", ["foo"], ["foo\n"]),
    ("foo|bar", ["foo", "bar"], ["foobar"]),
    ("a++b", ["aab"], ["b"]),
    ("a++a", [], ["aa", "aaa"]),
    (r"\Qa.b\E.*", ["a.b", "a.bc"], ["axb"]),
    (r"\Qa.b", ["a.b"], ["axb"]),
    ("(?i)foo", ["foo", "FOO"], ["bar"]),
    ("x(?i)y|z", ["xy", "xY", "z", "Z"], ["XY", "xz"]),
    ("(x(?i)y|z)w", ["xYw", "Zw"], ["xYW", "xzw"]),
    ("(?i:f)oo", ["Foo"], ["FOO"]),
    ("(?i)f(?-i)oo", ["Foo"], ["FOO"]),
    (r"\p{Alpha}+\p{Digit}", ["ab1"], ["1", "é1"]),
    (r"\P{Alpha}+", ["12-"], ["a"]),
    (r"\p{L}+", ["é", "ab"], ["1"]),
    (r"\p{Lu}.*", ["Éa", "A"], ["éa"]),
    (r"[\p{Alnum}_-]+", ["a_1-"], ["é"]),
    (r"\h+", [" \t"], ["\n", ""]),
    (r"\w+", ["a_1"], ["é"]),
    (r"foo\z", ["foo"], ["foo\n"]),
    (r"(?<n>a|b)\k<n>", ["aa", "bb"], ["ab"]),
    ("(?>a|ab)c", ["ac"], ["abc"]),
    ("[a-c[x-z]]+", ["ax", "cz"], ["d"]),
    ("[a-z&&[^aeiou]]+", ["xyz"], ["xyza"]),
    ("[^a-z&&b-d]", ["a", "-"], ["c"]),
    ("[a[^b]]", ["a", "x"], ["b"]),
    ("[a&b]+", ["a&b"], ["c"]),
    ("[+--]+", ["+,-"], ["a"]),
    (r"\x41B\u0043\0104", ["ABCD"], ["abcd"]),
    (r"[\w.-]+", ["a-b.c"], ["a b"]),
    (r"orders\.v\d{1,2}", ["orders.v12"], ["orders.v123"]),
]


@pytest.mark.parametrize(("pattern", "matching", "others"), CASES, ids=[case[0] for case in CASES])
def test_a_pattern_matches_whole_names_as_in_java(pattern: str, matching: list[str], others: list[str]) -> None:
    compiled = compile_java(pattern)
    assert [name for name in matching if not compiled.fullmatch(name)] == []
    assert [name for name in others if compiled.fullmatch(name)] == []


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("*.internal", "*"),
        ("(foo", "parenthesis"),
        ("foo)", "parenthesis"),
        ("[foo", "["),
        ("a{,3}", "{"),
        ("a|*b", "*"),
        ("foo\\", "backslash"),
        (r"\p{IsAlphabetic}", r"\p{IsAlphabetic}"),
        (r"\X", r"\X"),
        (r"\G", r"\G"),
        ("(?U)a", "flag U"),
        ("[a&&]", "&&"),
        (r"\y", r"\y"),
        ("a**", "repeat"),
    ],
)
def test_what_python_cannot_say_is_refused_by_name(pattern: str, named: str) -> None:
    with pytest.raises(RegexRefused) as caught:
        compile_java(pattern)
    assert named in str(caught.value)
    assert pattern in str(caught.value)


def test_a_list_is_one_pattern_so_that_flags_leak_as_in_mm2() -> None:
    compiled = compile_names(["a", "(?i)b", "c"])
    assert [name for name in ("a", "A", "b", "B", "c", "C") if compiled.fullmatch(name)] == ["a", "b", "B", "c", "C"]


def test_an_empty_list_matches_no_topic() -> None:
    assert not compile_names([]).fullmatch("orders")
