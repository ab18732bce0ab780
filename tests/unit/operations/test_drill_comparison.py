"""What is said of a group that read its first records on the target."""

from __future__ import annotations

from typing import Any

import pytest

from mirror.kafka.samples import Sample
from mirror.operations.drill.compare import Sides, compare


def here(text: str, start: int = 100) -> list[Sample]:
    return [Sample(start + n, letter.encode(), ord(letter)) for n, letter in enumerate(text)]


def there(text: str, start: int = 40) -> list[Sample]:
    return here(text, start)


def sides(upstream: str, downstream: str, **changed: Any) -> Sides:
    """A group at upstream offset 100 whose copy stands at 200; letters are records, equal ones equal to the byte."""
    facts: dict[str, Any] = {
        "here": here(upstream),
        "there": there(downstream),
        "is_whole_there": True,
        "upstream_offset": 100,
        "position": 200,
        "log_start": 0,
    }
    return Sides(**{**facts, **changed})


@pytest.mark.parametrize(
    ("case", "verdict", "compared", "read_again"),
    [
        pytest.param(sides("abc", "abc"), "same", 3, 0, id="the very records"),
        pytest.param(sides("abcde", "abc"), "same", 3, 0, id="the target is not as far yet"),
        pytest.param(sides("", ""), "at the end", 0, 0, id="nothing left on either side"),
        pytest.param(sides("abc", "xyabc", early_by=2), "early", 3, 2, id="two records again, within the bound"),
        pytest.param(sides("aab", "aaab", early_by=1), "early", 3, 1, id="among equal ones, told by what follows"),
        pytest.param(sides("", "xy", early_by=2), "early", 0, 2, id="at the end after two records again"),
        pytest.param(sides("abc", "", position=100), "not copied yet", 0, 0, id="its record is not copied yet"),
        pytest.param(sides("abc", "xy", position=100, early_by=2), "not copied yet", 0, 2, id="nor after some again"),
        pytest.param(sides("abc", "", position=101), "differs", 0, 0, id="its record is copied and does not come"),
        pytest.param(sides("abc", "bc"), "differs", 0, 0, id="late by one"),
        pytest.param(sides("abc", "xabc", early_by=0), "early", 3, 1, id="early beyond its bound is not late"),
        pytest.param(sides("abc", "acb"), "differs", 0, 0, id="two swapped behind the first"),
        pytest.param(sides("abc", "abx"), "differs", 0, 0, id="another record behind the first"),
        pytest.param(sides("", "x"), "differs", 0, 0, id="a record that the source has not"),
        pytest.param(sides("abc", "bc", log_start=101), "not compared", 0, 0, id="retention took its record"),
        pytest.param(sides("", "x", log_start=101), "not compared", 0, 0, id="retention took all"),
        pytest.param(sides("abc", "bc", is_compacted=True), "not compared", 0, 0, id="compacted, cleaned differently"),
        pytest.param(sides("abc", "ac", is_compacted=True), "same", 1, 0, id="compacted behind the first"),
        pytest.param(
            sides("abc", "xyz", early_by=9, is_whole_there=False), "not compared", 0, 0, id="not read far enough"
        ),
        pytest.param(sides("abc", "xyz", early_by=9), "differs", 0, 0, id="read to the end and not there"),
    ],
)
def test_verdicts(case: Sides, verdict: str, compared: int, read_again: int) -> None:
    found = compare(case)
    assert (found.verdict, found.compared, found.read_again) == (verdict, compared, read_again), found.reason
    assert bool(found.reason) == (verdict in ("differs", "not compared"))


def test_another_timestamp_alone_differs_and_is_named() -> None:
    copy = [Sample(40, b"a", 1)]
    found = compare(sides("a", "", there=copy))
    assert found.verdict == "differs"
    assert found.reason == "what the group reads at offset 40 has another timestamp than the source's record at 100"


def test_where_brokers_set_the_time_only_contents_are_compared() -> None:
    assert compare(sides("a", "", there=[Sample(40, b"a", 1)], compares_time=False)).verdict == "same"


def test_a_timestamp_that_cannot_be_written_is_not_held_against_the_copy() -> None:
    assert compare(sides("", "", here=[Sample(100, b"a", 0)], there=[Sample(40, b"a", 77)])).verdict == "same"
