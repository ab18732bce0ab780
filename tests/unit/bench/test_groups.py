"""How the bench judges where a group landed."""

from __future__ import annotations

import pytest

from bench.groups.judge import Carried, Landed, judge, row
from bench.groups.reading import Read

# Upstream a marker at 2 and an aborted record at 5; downstream other markers, at 1 and 4.
HERE = [Read(offset, b"%d" % n) for n, offset in enumerate((0, 1, 3, 4, 6))]
THERE = [Read(offset, b"%d" % n) for n, offset in enumerate((0, 2, 3, 5, 6))]


@pytest.mark.parametrize(
    ("upstream", "downstream", "landed"),
    [
        pytest.param(3, 3, Landed(), id="the very record"),
        pytest.param(2, 3, Landed(), id="at a marker: the next record"),
        pytest.param(4, 4, Landed(), id="at the target's marker before it"),
        pytest.param(7, 7, Landed(), id="both at the end"),
        pytest.param(7, 99, Landed(), id="beyond the end"),
        pytest.param(6, 2, Landed(early=3), id="records between, not offsets"),
        pytest.param(7, 0, Landed(early=5), id="from the beginning again"),
        pytest.param(3, 5, Landed(late=1), id="one record skipped"),
        pytest.param(0, 7, Landed(late=5), id="all skipped"),
        pytest.param(3, None, Landed(is_missing=True), id="not carried over"),
    ],
)
def test_what_a_group_reads_next_on_both_sides_is_compared(
    upstream: int, downstream: int | None, landed: Landed
) -> None:
    assert judge(HERE, THERE, upstream, downstream) == landed


def test_a_program_is_told_in_one_row() -> None:
    landed = (Landed(), Landed(), Landed(early=3), Landed(early=1000), Landed(late=2), Landed(is_missing=True))
    carried = Carried(program="MM2", landed=landed)
    assert row(carried) == ("MM2", "6", "2", "1", "2", "502", "1,000", "1")
    assert row(Carried(program="airmirror", landed=(Landed(),))) == ("airmirror", "1", "1", "0", "0", "", "", "0")
