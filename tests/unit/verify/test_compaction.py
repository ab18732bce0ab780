"""Compacted topics: what a later record excuses, what nothing excuses, and keys beyond the room there is for them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from mirror.verify import suspects as keys
from mirror.verify.differences import Right
from mirror.verify.findings import Findings
from mirror.verify.suspects import Share
from unit.verify.walks import Record, compare, state_of, told

BOTH = {"upstream_is_compacted": True, "downstream_is_compacted": True}


def written(count: int, key_count: int, seed: int = 1) -> list[Record]:
    dice = random.Random(seed)
    return [Record(n, b"key-%d" % dice.randrange(key_count), b"%d" % n, (), 1_000 + n) for n in range(count)]


def cleaned(records: Sequence[Record], *, up_to: int, tombstones: bool = False) -> list[Record]:
    """What a cleaner leaves that came to this offset: before it, only the last record of each key."""
    last = {record.key: record.offset for record in records}
    kept = [r for r in records if r.offset >= up_to or last[r.key] == r.offset]
    return [r for r in kept if not (tombstones and r.value is None and r.offset < up_to)]


def test_each_side_may_be_cleaned_in_its_own_way() -> None:
    for seed in range(10):
        records = written(4_000, 300, seed)
        dice = random.Random(seed)
        here = cleaned(records, up_to=dice.randrange(4_000))
        there = cleaned(records, up_to=dice.randrange(4_000))
        findings = compare(here, there, batch=333, **BOTH)
        assert told(findings) == [], seed
        both = {r.offset for r in here} & {r.offset for r in there}
        either = {r.offset for r in here} | {r.offset for r in there}
        assert findings.record_count == len(both)
        assert findings.right[Right.COMPACTED] == len(either - both)


def test_a_thinned_map_is_enough_for_a_topic_that_was_cleaned() -> None:
    records = written(4_000, 300)
    there = cleaned(records, up_to=3_500)
    state = state_of([(r.offset, r.offset) for r in there], position=4_000, cap=16)
    findings = compare(records, there, state, downstream_is_compacted=True)
    assert told(findings) == []
    assert findings.right[Right.COMPACTED] == 4_000 - len(there)


def test_the_last_record_of_a_key_must_be_there() -> None:
    records = written(2_000, 100)
    lost = max(r.offset for r in records if r.key == b"key-7")
    earlier = [r.offset for r in records if r.key == b"key-7"]
    there = [r for r in cleaned(records, up_to=2_000) if r.offset != lost]
    findings = compare(records, there, downstream_is_compacted=True)
    assert dict(findings.kinds) == {"missing": len(earlier)}
    assert told(findings) == [("missing", earlier[0], None)]


def test_a_tombstone_may_be_gone_with_what_it_buried() -> None:
    records = [Record(0, b"k", b"v"), Record(1, b"other", b"o"), Record(2, b"k", None), Record(3, b"end", b"e")]
    gone = [records[1], records[3]]
    assert told(compare(records, gone, **BOTH)) == []
    assert told(compare(gone, records, **BOTH)) == []
    # Without the tombstone it was there for no reason.
    assert told(compare([records[0], *gone], gone, **BOTH)) == [("missing", 0, None)]


def test_a_topic_that_is_not_compacted_has_no_such_excuse() -> None:
    records = written(100, 5)
    findings = compare(records, cleaned(records, up_to=100))
    assert findings.kinds["missing"] == 95


def passes(records: Sequence[Record], there: Sequence[Record]) -> list[Findings]:
    """As a task does it: as many passes as the keys need."""
    waiting, done = [Share()], []
    while waiting:
        share = waiting.pop()
        done.append(compare(records, there, share=share, downstream_is_compacted=True))
        waiting += share.others(done[-1].suspects.share)
    return done


def test_more_keys_than_there_is_room_for_are_looked_at_in_further_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [Record(n, b"key-%d" % (n % 500), b"%d" % n, (), n) for n in range(1_000)]
    there = [r for r in records[500:] if r.key != b"key-123"]
    original = keys.Suspects

    def small(**arguments: object) -> keys.Suspects:
        return original(keys_max=50, **arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("mirror.verify.findings.Suspects", small)
    done = passes(records, there)
    assert len(done) > 5
    assert sum(f.right[Right.COMPACTED] for f in done) == 499
    assert sum(f.kinds["missing"] for f in done) == 2
    assert [told(f) for f in done if told(f)] == [[("missing", 123, None)]]


def test_shares_cover_every_key_once() -> None:
    whole = Share()
    narrowed = Share(0, 8)
    shares = [narrowed, *whole.others(narrowed)]
    assert all(sum(share.has(key) for share in shares) == 1 for key in range(-50, 50))
    assert list(Share(1, 2).others(Share(1, 8))) == [Share(3, 8), Share(5, 8), Share(7, 8)]
