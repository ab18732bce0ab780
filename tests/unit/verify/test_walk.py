"""A walk along both sides names each difference, and only it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from mirror.verify import findings as books
from mirror.verify import walk as walking
from mirror.verify.differences import Right
from mirror.verify.entries import ANY_TIME
from mirror.wire.gaps import Gap, GapReason
from unit.verify.walks import Record, compare, moved_to, numbered, state_of, told

COUNT = 5_000
AT = 2_345


def mapped(here: Sequence[Record], there: Sequence[Record]) -> list[tuple[int, int]]:
    """Where the copies lie by their keys: the state of a copy that knew what it did."""
    places = {record.key: record.offset for record in reversed(there)}
    return [(record.offset, places[record.key]) for record in here if record.key in places]


def missing(records: list[Record]) -> list[Record]:
    return moved_to([*records[:AT], *records[AT + 1 :]])


def doubled(records: list[Record]) -> list[Record]:
    return moved_to([*records[: AT + 1], records[AT], *records[AT + 1 :]])


def swapped(records: list[Record]) -> list[Record]:
    return moved_to([*records[:AT], records[AT + 1], records[AT], *records[AT + 2 :]])


def extra(records: list[Record]) -> list[Record]:
    return moved_to([*records[:AT], Record(0, b"another", b"one", (), 7), *records[AT:]])


def changed(**fields: object) -> Callable[[list[Record]], list[Record]]:
    return lambda records: [*records[:AT], records[AT]._replace(**fields), *records[AT + 1 :]]


CASES: dict[str, tuple[Callable[[list[Record]], list[Record]], tuple[str, int | None, int | None]]] = {
    "one record missing": (missing, ("missing", AT, None)),
    "one record twice": (doubled, ("doubled", None, AT + 1)),
    "two swapped": (swapped, ("order", AT, AT + 1)),
    "an extra one": (extra, ("extra", None, AT)),
    "one byte changed": (changed(value=b"value-2346"), ("value", AT, AT)),
    "another key": (changed(key=b"key-x"), ("key", AT, AT)),
    "a header dropped": (changed(headers=()), ("headers", AT, AT)),
    "a timestamp changed": (changed(timestamp_ms=999), ("timestamp", AT, AT)),
}


@pytest.mark.parametrize("batch", [7, 1000, 10_000])
@pytest.mark.parametrize("case", CASES)
def test_each_difference_is_seen_and_exactly_it(case: str, batch: int) -> None:
    tamper, expected = CASES[case]
    here = numbered(COUNT)
    there = tamper(here)
    # The map of a copy that did what the target shows, so that nothing but the records themselves gives it away.
    pairs = [(n, n) for n in range(COUNT)] if case in ("two swapped", "another key") else mapped(here, there)
    findings = compare(here, there, state_of(pairs, position=COUNT), batch=batch)
    assert told(findings) == [expected]
    assert sum(findings.kinds.values()) == 1
    assert findings.record_count == (COUNT - 1 if case == "one record missing" else COUNT)


def test_equal_partitions_have_no_difference_wherever_batches_end() -> None:
    here = numbered(COUNT)
    for batch in (1, 999, 5000):
        findings = compare(here, here, batch=batch)
        assert (findings.record_count, told(findings), dict(findings.right)) == (COUNT, [], {})


@pytest.mark.parametrize("place", [0, 1, COUNT - 2, COUNT - 1])
def test_differences_at_both_ends_are_seen(place: int) -> None:
    here = numbered(COUNT)
    there = moved_to(here[:place] + here[place + 1 :])
    assert told(compare(here, there, state_of(mapped(here, there), position=COUNT))) == [("missing", place, None)]
    less, more = there, here
    assert told(compare(less, more, state_of(mapped(less, more), position=COUNT))) == [("extra", None, place)]


def test_many_differences_of_all_kinds_are_counted_each() -> None:
    """Random tampering, far enough apart to be told one by one, and compared with what was done."""
    for seed in range(4):
        rng = random.Random(seed)
        here = numbered(20_000)
        places = sorted(rng.sample(range(100, 19_900, 50), 60))
        there, done, expected = list(here), Counter[str](), []
        for place in reversed(places):
            kind = rng.choice(["missing", "doubled", "order", "extra", "value", "headers", "timestamp"])
            done[kind] += 1
            expected.append((kind, place))
            record = there[place]
            if kind == "missing":
                del there[place]
            elif kind == "doubled":
                there.insert(place + rng.randrange(1, 40), record)
            elif kind == "order":
                there[place : place + 2] = [there[place + 1], record]
            elif kind == "extra":
                there.insert(place, Record(0, b"x%d" % place, b"y", (), 5))
            elif kind == "value":
                there[place] = record._replace(value=b"changed")
            elif kind == "headers":
                there[place] = record._replace(headers=())
            else:
                there[place] = record._replace(timestamp_ms=5)
        there = moved_to(there)
        findings = compare(here, there, state_of(mapped(here, there), position=20_000, cap=10_000), batch=777)
        assert {k: n for k, n in findings.kinds.items() if k != "offset map"} == dict(done), seed


def test_a_record_that_moved_far_is_out_of_order_and_not_missing() -> None:
    here = numbered(COUNT)
    late = moved_to([*here[:10], *here[11:4000], here[10], *here[4000:]])
    early = moved_to([*here[:10], here[4000], *here[10:4000], *here[4001:]])
    for there, upstream in ((late, 10), (early, 4000)):
        pairs = sorted((u, d) for u, d in mapped(here, there) if u != upstream)
        findings = compare(here, there, state_of(pairs, position=COUNT))
        assert [(kind, at) for kind, at, _ in told(findings)] == [("order", upstream)]


def test_a_batch_written_twice_is_doubled_record_by_record() -> None:
    here = numbered(COUNT)
    there = moved_to([*here[:2000], *here[1000:2000], *here[2000:]])
    findings = compare(here, there, state_of(mapped(here, there), position=COUNT))
    assert dict(findings.kinds) == {"doubled": 1000}
    assert told(findings)[0] == ("doubled", None, 2000)


def test_a_doubled_one_beyond_the_memory_is_told_as_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "DOUBLED_WITHIN", 100)
    here = numbered(1000)
    there = moved_to([*here[:900], here[5], *here[900:]])
    assert told(compare(here, there, state_of(mapped(here, there), position=1000), batch=50)) == [("extra", None, 900)]


@pytest.mark.parametrize("count", [50, 70_000])
def test_a_long_hole_is_counted_though_no_window_spans_it(count: int) -> None:
    here = numbered(count + 2_000)
    there = moved_to([*here[:1000], *here[1000 + count :]])
    pairs = [(r.offset, d.offset) for r, d in zip([*here[:1000], *here[1000 + count :]], there, strict=True)]
    findings = compare(here, there, state_of(pairs, position=len(here)))
    assert dict(findings.kinds) == {"missing": count}
    assert told(findings)[0] == ("missing", 1000, None)
    assert findings.record_count == 2_000


def test_an_offset_map_that_is_wrong_about_equal_records_is_a_difference() -> None:
    here, there = numbered(100), moved_to(numbered(100), 10)
    right = state_of([(n, n + 10) for n in range(100)], position=100)
    assert told(compare(here, there, right)) == []
    late = state_of([(n, n + 10 + (n >= 60)) for n in range(100)], position=100)
    findings = compare(here, there, late)
    assert dict(findings.kinds) == {"offset map": 40}
    assert told(findings)[0] == ("offset map", 60, 70)


def test_a_thinned_map_is_right_as_long_as_its_bound_holds() -> None:
    here = [record._replace(offset=record.offset + record.offset // 7) for record in numbered(3_000)]
    there = moved_to(here)
    state = state_of(
        [(h.offset, t.offset) for h, t in zip(here, there, strict=True)], position=here[-1].offset + 1, cap=8
    )
    assert not state.history.is_exact
    assert told(compare(here, there, state)) == []


def test_every_timestamp_changed_is_counted_and_nothing_else() -> None:
    here = numbered(3_000)
    there = [record._replace(timestamp_ms=5) for record in here]
    assert dict(compare(here, there).kinds) == {"timestamp": 3_000}


def test_timestamps_that_cannot_be_compared_are_right_and_counted() -> None:
    here = [record._replace(timestamp_ms=0 if record.offset == 3 else record.timestamp_ms) for record in numbered(100)]
    there = [
        record._replace(timestamp_ms=ANY_TIME if record.offset in (3, 50) else record.timestamp_ms) for record in here
    ]
    findings = compare(here, there)
    assert told(findings) == []
    assert findings.right == {Right.TIME_OF_COPY: 2}


def test_records_equal_to_the_byte_are_counted() -> None:
    same = [Record(n, b"k", b"v") for n in range(1_000)]
    assert told(compare(same, same)) == []
    findings = compare(same, same[:-1], state_of([(n, n) for n in range(999)], position=1_000))
    assert dict(findings.kinds) == {"missing": 1}
    findings = compare(same[:-1], same, state_of([(n, n) for n in range(999)], position=999))
    assert dict(findings.kinds) == {"doubled": 1}


def test_what_lies_in_a_recorded_gap_is_no_difference() -> None:
    here = numbered(100)
    there = moved_to([*here[:40], *here[50:]])
    gap = Gap(start=40, end=50, reason=GapReason.SKIPPED, at_ms=0)
    findings = compare(here, there, state_of(mapped(here, there), position=100), gaps=(gap,))
    assert told(findings) == []
    assert findings.right == {Right.IN_GAP: 10}


def test_windows_stay_within_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "WINDOW", 512)
    seen: list[int] = []
    align = walking.align
    monkeypatch.setattr(walking, "align", lambda a, b: seen.append(max(len(a), len(b))) or align(a, b))
    here = numbered(20_000)
    there = [record._replace(value=b"changed") for record in here]
    assert dict(compare(here, there).kinds) == {"value": 20_000}
    assert max(seen) == 512
