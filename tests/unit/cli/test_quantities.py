"""Numbers as people read them."""

from __future__ import annotations

import pytest

from mirror.cli.quantities import bytes_text, counted, duration_text, moment_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (99_949, "99.9 kB"),
        (99_950, "100 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (52_000_000, "52.0 MB"),
        (10**15, "1.0 PB"),
        (10**19, "10000 PB"),
    ],
)
def test_sizes_have_three_digits_and_a_unit(size: int, text: str) -> None:
    assert bytes_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (4.24, "4.2 s"),
        (42.4, "42 s"),
        (59.7, "1 min 0 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (190_000, "2 d 4 h"),
    ],
)
def test_durations_have_their_two_largest_units(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_one_is_not_many() -> None:
    assert (counted(1, "record"), counted(12_000, "record"), counted(2, "copy", "copies")) == (
        "1 record",
        "12,000 records",
        "2 copies",
    )


def test_moments_are_in_utc() -> None:
    assert moment_text(1_700_000_000_999) == "2023-11-14 22:13:20Z"
