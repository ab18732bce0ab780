"""Names what is different between two windows of which it is known which records are the same."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mirror.verify.alignment import Pair
from mirror.verify.entries import NOTHING, Content
from mirror.verify.findings import Findings
from mirror.verify.offset_map import OffsetMap

_Weight = Callable[[int, int], int]

# Pairs that are weighed to find the changed records of one stretch; in a longer one they are taken in order.
WEIGHED_MAX = 10_000


class Window(NamedTuple):
    """Some records of one side."""

    offsets: Sequence[int]
    contents: Sequence[Content]


class Stretch(NamedTuple):
    """Records of both sides without a pair, and how many pairs follow them in a row."""

    left: range
    right: range
    run: int


def settle(findings: Findings, pairs: Sequence[Pair], here: Window, there: Window) -> None:
    """Enter two windows into the books, in order."""
    stretches = list(_stretches(pairs, len(here.offsets), len(there.offsets)))
    moved = _moved(stretches, here.contents, there.contents)
    arrived = set(moved.values())
    beside = {here.contents[i] for i, _ in pairs}
    for left, right, run in stretches:
        for i in left:
            if i in moved:
                findings.out_of_order(here.offsets[i], there.offsets[moved[i]])
        alone = [i for i in left if i not in moved]
        alone_there = [j for j in right if j not in arrived]
        changed = dict(_changed(findings.rules.map, alone, alone_there, here, there))
        for i in alone:
            if i in changed:
                j = changed[i]
                findings.changed(here.offsets[i], here.contents[i], there.offsets[j], there.contents[j])
            else:
                findings.missing(here.offsets[i], here.contents[i])
        paired = set(changed.values())
        for j in alone_there:
            if j not in paired:
                findings.extra(there.offsets[j], there.contents[j], beside)
        i, j = left.stop, right.stop
        equal = here.offsets[i : i + run], there.offsets[j : j + run], here.contents[i : i + run]
        findings.equal(*equal, checks_map=not moved)


def _stretches(pairs: Sequence[Pair], left_count: int, right_count: int) -> Iterator[Stretch]:
    i = j = 0
    at = 0
    while at < len(pairs):
        next_i, next_j = pairs[at]
        run = 1
        while at + run < len(pairs) and pairs[at + run] == (next_i + run, next_j + run):
            run += 1
        yield Stretch(range(i, next_i), range(j, next_j), run)
        i, j = next_i + run, next_j + run
        at += run
    yield Stretch(range(i, left_count), range(j, right_count), 0)


def _moved(stretches: Sequence[Stretch], left: Sequence[Content], right: Sequence[Content]) -> dict[int, int]:
    """Records that are on both sides, but not in the same order."""
    places: dict[Content, deque[int]] = defaultdict(deque)
    for stretch in stretches:
        for j in stretch.right:
            places[right[j]].append(j)
    found: dict[int, int] = {}
    for stretch in stretches:
        for i in stretch.left:
            if places.get(left[i]):
                found[i] = places[left[i]].popleft()
    return found


def _changed(
    offset_map: OffsetMap, left: Sequence[int], right: Sequence[int], here: Window, there: Window
) -> Iterator[Pair]:
    """Records of a stretch that are each other's original and copy, though not the same: in order, the likeliest."""
    if not left or not right:
        return

    def weight(i: int, j: int) -> int:
        likeness = _likeness(here.contents[i], there.contents[j])
        return likeness + 2 * offset_map.places(here.offsets[i], there.offsets[j])

    if len(left) * len(right) > WEIGHED_MAX:
        yield from ((i, j) for i, j in zip(left, right, strict=False) if weight(i, j))
        return
    yield from _heaviest(left, right, weight)


def _likeness(here: Content, there: Content) -> int:
    key = here[0] == there[0] != NOTHING
    value = here[1] == there[1] != NOTHING
    headers = here[2] == there[2] != 0
    return 2 * key + 2 * value + headers + (here[3] == there[3])


def _heaviest(left: Sequence[int], right: Sequence[int], weight: _Weight) -> Iterator[Pair]:
    """The pairs, both rising, whose weights have the largest sum."""
    rows, columns = len(left), len(right)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            here = weight(left[row], right[column])
            best[row][column] = max(
                best[row + 1][column], best[row][column + 1], here + best[row + 1][column + 1] if here else 0
            )
    row = column = 0
    while row < rows and column < columns:
        here = weight(left[row], right[column])
        if here and best[row][column] == here + best[row + 1][column + 1]:
            yield left[row], right[column]
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
