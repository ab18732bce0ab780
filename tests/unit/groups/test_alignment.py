"""Finding a record's copy: by what it holds, by what follows it, and never behind it."""

from __future__ import annotations

import pytest

from mirror.groups.alignment import Bracket, Placed, place
from mirror.kafka.samples import Sample


def samples(text: str, start: int = 0, stamp: int = 5) -> list[Sample]:
    """One record per letter, at consecutive offsets; a dot is an offset without a record."""
    return [Sample(start + n, letter.encode(), stamp) for n, letter in enumerate(text) if letter != "."]


def placed(here: str, there: str, brackets: tuple[int, int] = (0, 20), **more: object) -> Placed | None:
    records = samples(here, 100)
    return place(records, [Bracket(*brackets)] * len(records), samples(there), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        pytest.param("bcd", "abcd", Placed(1), id="the only one"),
        pytest.param("b", "a.b", Placed(2), id="nothing follows"),
        pytest.param("aab", "aaab", Placed(1), id="equal neighbours, counted back from the next that is not"),
        pytest.param("aaab", "aaab", Placed(0), id="all of them"),
        pytest.param("ab", "aa.a.b", Placed(3), id="markers between"),
        pytest.param("ab", "aaFb", Placed(1), id="a foreign record between"),
        pytest.param("aaaa", "aaaaaa", Placed(0, 5), id="nothing but equals: the first of them"),
        pytest.param("xb", "ab", None, id="its copy is gone"),
        pytest.param("ab", "ba", None, id="its copy is gone, and what equals it lies behind what follows it"),
    ],
)
def test_copy_is_found_and_never_passed(here: str, there: str, expected: Placed | None) -> None:
    assert placed(here, there) == expected


def test_end_of_what_was_copied_is_an_anchor_too() -> None:
    assert placed("aa", "aaaa", end=4) == Placed(2)
    assert placed("aa", "aaaaFF", end=4) == Placed(2)


def test_nothing_outside_the_bracket_counts() -> None:
    assert placed("b", "bab", (1, 2)) == Placed(2)
    assert placed("b", "bab", (1, 1)) is None


def test_where_records_vanish_from_the_middle_only_a_single_equal_is_believed() -> None:
    assert placed("ab", "aab", can_count=False) is None
    assert placed("ab", "ab", can_count=False) == Placed(0)


@pytest.mark.parametrize(
    ("stamp", "other", "expected"),
    [
        pytest.param(5, 5, Placed(1), id="the same timestamp"),
        pytest.param(0, 7, Placed(1), id="0 cannot be written: the copy got another"),
        pytest.param(5, 7, Placed(1), id="the target writes its own: contents alone decide"),
    ],
)
def test_timestamps_are_compared_where_they_were_copied(stamp: int, other: int, expected: Placed) -> None:
    here = samples("b", 100, stamp)
    assert place(here, [Bracket(0, 9)], samples("ab", 0, other)) == expected


def test_timestamp_tells_two_records_apart() -> None:
    there = [Sample(0, b"a", 5), Sample(1, b"a", 6)]
    assert place([Sample(100, b"a", 6)], [Bracket(0, 9)], there) == Placed(1)
