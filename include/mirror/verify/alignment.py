"""Which records of two windows are the same ones: pairs of indexes, both rising; pure.

Contents that occur once on each side are anchors, and the longest rising sequence of them is kept (the patience
diff). Between anchors, equal neighbours are added from both ends, so that records equal to the byte are counted and
not guessed at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

Pair = tuple[int, int]

# Comparisons for one stretch between two anchors; a longer one without a single anchor is left unpaired.
STRETCH_MAX = 40_000
# Equal neighbours at the end of a window that make sure that both sides are in step again.
IN_STEP = 4


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """The pairs of equal records, as long a rising sequence as anchors and their neighbours give."""
    pairs: list[Pair] = []
    at = (0, 0)
    for anchor in (*_anchors(left, right), (len(left), len(right))):
        pairs += _between(left, right, at, anchor)
        if anchor[0] < len(left):
            pairs.append(anchor)
        at = (anchor[0] + 1, anchor[1] + 1)
    return pairs


def is_in_step(pairs: Sequence[Pair]) -> bool:
    """Whether the last pairs follow each other on both sides: what came before them is then decided."""
    if len(pairs) < IN_STEP:
        return False
    (i, j), (last_i, last_j) = pairs[-IN_STEP], pairs[-1]
    return last_i - i == IN_STEP - 1 == last_j - j


def _anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    here, there = Counter(left), Counter(right)
    places = {content: j for j, content in enumerate(right) if there[content] == 1}
    once = [(i, places[c]) for i, c in enumerate(left) if here[c] == 1 and c in places]
    return _longest_rising(once)


def _longest_rising(pairs: Sequence[Pair]) -> list[Pair]:
    """The longest sequence of pairs whose second numbers rise too; the first numbers do."""
    ends: list[int] = []  # the smallest second number that ends a sequence of each length
    holders: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(holders[length - 1] if length else -1)
        if length == len(ends):
            ends.append(j)
            holders.append(number)
        else:
            ends[length], holders[length] = j, number
    found: list[Pair] = []
    number = holders[-1] if holders else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _between(left: Sequence[Hashable], right: Sequence[Hashable], start: Pair, end: Pair) -> Iterator[Pair]:
    """Equal records of a stretch without anchors: from its beginning, from its end, and what difflib finds between."""
    i, j = start
    last_i, last_j = end
    while i < last_i and j < last_j and left[i] == right[j]:
        yield i, j
        i, j = i + 1, j + 1
    tail: list[Pair] = []
    while i < last_i and j < last_j and left[last_i - 1] == right[last_j - 1]:
        last_i, last_j = last_i - 1, last_j - 1
        tail.append((last_i, last_j))
    if 0 < (last_i - i) * (last_j - j) <= STRETCH_MAX:
        matcher = SequenceMatcher(None, left[i:last_i], right[j:last_j], autojunk=False)
        for block in matcher.get_matching_blocks():
            yield from ((i + block.a + n, j + block.b + n) for n in range(block.size))
    yield from reversed(tail)
