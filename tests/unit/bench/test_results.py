"""Ratios against MM2, the table's lines, and the verdict."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench.results import HEADINGS, Measured, document, is_promise_kept, medians, ratios, rows, verdict

MM2 = Measured(
    shape="16k-lz4",
    contender="mm2",
    record_count=2_000_000,
    copied_count=2_000_000,
    start_up_s=8.0,
    seconds=25.0,
    cpu_s=50.0,
    copying_cpu_s=40.0,
    broker_cpu_s=20.0,
)
AIRMIRROR = replace(MM2, contender="airmirror", seconds=12.5, cpu_s=25.0, copying_cpu_s=10.0)


def test_ratios_are_multiples_of_mm2_on_the_same_shape() -> None:
    elsewhere = replace(MM2, shape="128k", seconds=1.0)
    against = ratios(AIRMIRROR, [elsewhere, MM2, AIRMIRROR])
    assert against is not None
    assert (against.rate, against.cpu, against.copying_cpu) == (2.0, 0.5, 0.25)


def test_rounds_are_told_as_medians_and_one_wrong_count_is_not_hidden() -> None:
    rounds = [replace(AIRMIRROR, seconds=seconds, cpu_s=cpu_s) for seconds, cpu_s in ((9.0, 30.0), (14.0, 20.0))]
    wrong = replace(AIRMIRROR, copied_count=1_999_999)
    assert medians([MM2, rounds[0], MM2, wrong, MM2, rounds[1]]) == [MM2, wrong]
    assert medians([AIRMIRROR, *rounds]) == [AIRMIRROR]


@pytest.mark.parametrize(
    "base", [None, replace(MM2, copied_count=1_999_999), replace(MM2, shape="128k"), replace(MM2, seconds=0.0)]
)
def test_without_a_right_mm2_there_is_nothing_to_compare_with(base: Measured | None) -> None:
    results = [AIRMIRROR] if base is None else [base, AIRMIRROR]
    assert ratios(AIRMIRROR, results) is None
    assert is_promise_kept(results) is None
    assert verdict(results) == ""


@pytest.mark.parametrize(
    ("ours", "kept"),
    [
        (AIRMIRROR, True),
        (replace(AIRMIRROR, seconds=12.6), False),
        (replace(AIRMIRROR, cpu_s=25.1), False),
        (replace(AIRMIRROR, copied_count=2_000_001), False),
    ],
)
def test_the_promise_is_twice_the_rate_at_half_the_cpu_with_the_right_count(ours: Measured, kept: bool) -> None:
    assert is_promise_kept([MM2, ours]) is kept
    assert verdict([MM2, ours]).endswith("half its CPU seconds: " + ("yes" if kept else "no"))


def test_a_line_of_the_table_has_the_ratios_and_a_wrong_count_shouts() -> None:
    base, ours = rows([MM2, replace(AIRMIRROR, copied_count=1_900_000)])
    assert dict(zip(HEADINGS, base, strict=True)) == {
        "shape": "16 KiB lz4",
        "program": "MM2",
        "records/s": "80,000",
        "MB/s": "40.0",
        "CPU s": "50.0",
        "copying": "40.0",
        "brokers": "20.0",
        "start-up s": "8.0",
        "rate / MM2": "",
        "CPU / MM2": "",
        "copying / MM2": "",
        "count": "right",
    }
    assert ours[-4:] == ("2.00", "0.50", "0.25", "WRONG: 1,900,000 of 2,000,000")


def test_the_document_is_json_with_rates_and_ratios() -> None:
    told = json.loads(json.dumps(document([MM2, AIRMIRROR])))
    assert told["promise_kept"] is True
    assert [one["records_per_s"] for one in told["results"]] == [80_000.0, 160_000.0]
    assert told["results"][1]["against_mm2"] == {"rate": 2.0, "cpu": 0.5, "copying_cpu": 0.25}
