"""The bench's command line."""

from __future__ import annotations

import pytest

from bench.arguments import RECORD_COUNT, parse


def test_without_arguments_everything_is_measured() -> None:
    arguments = parse([])
    assert arguments.record_count == RECORD_COUNT == 2_000_000
    assert arguments.shapes == ("128k", "16k-lz4", "2k-lz4")
    assert arguments.contenders == ("mm2", "mm2-eos", "airmirror")
    assert not arguments.json
    assert (arguments.speed, arguments.groups) == (True, True)


@pytest.mark.parametrize(("argv", "tables"), [(["--groups"], (False, True)), (["--no-groups"], (True, False))])
def test_one_table_alone(argv: list[str], tables: tuple[bool, bool]) -> None:
    arguments = parse(argv)
    assert (arguments.speed, arguments.groups) == tables


@pytest.mark.parametrize("text", ["200000", "200_000", "200,000"])
def test_record_counts_may_be_grouped(text: str) -> None:
    assert parse(["--records", text]).record_count == 200_000


def test_names_come_in_the_order_of_the_bench_however_they_are_written() -> None:
    arguments = parse(["--shapes", "2k-lz4, 128k", "--contenders", "airmirror,mm2"])
    assert arguments.shapes == ("128k", "2k-lz4")
    assert arguments.contenders == ("mm2", "airmirror")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--records", "many"], "'many' is no whole number"),
        (["--records", "100"], "too few to measure"),
        (["--rounds", "0"], "at least 1"),
        (["--shapes", "16k-lz4,4k"], "4k is not among 128k, 16k-lz4, 2k-lz4"),
        (["--shapes", ","], "nothing is not among"),
        (["--groups", "--no-groups"], "not allowed with argument"),
        (["--contenders", "mm1"], "mm1 is not among mm2, mm2-eos, airmirror"),
    ],
)
def test_a_wrong_argument_is_named(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(argv)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
