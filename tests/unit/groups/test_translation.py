"""Where a group goes on: never behind a record it has not seen, and at the very record wherever that is said."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from mirror.groups.exact import look_at_records
from mirror.groups.translation import is_looked_at, stored_answer
from mirror.groups.values import Answer
from mirror.wire.history import Early, Exact, Unknown
from unit.groups.copied_partitions import PARTITION, REMOTE, CopiedPartition, Record

# Enough to meet every event many times, at a few seconds.
LIFE_COUNT = 160
STEP_COUNT = 20


def _content(record: Record) -> tuple[int, int]:
    return record.content, record.timestamp_ms


def _check(life: CopiedPartition, offset: int, answer: Answer) -> None:
    """Judged by contents, as an application would: what is read from the answer on holds all that is unread."""
    if isinstance(answer.translation, Unknown):
        assert answer.reason
        return
    downstream = answer.translation.downstream
    assert life.target.start <= downstream <= life.target.end
    read = life.target.visible(downstream)
    unread = life.unread(offset)
    rest = iter(_content(record) for _, record in read)
    for at, record in unread:
        assert _content(record) in rest, f"from {downstream} on, {offset} misses the record at {at}: {answer}"
    copies = [(at, record) for at, record in read if record.upstream >= 0]
    if isinstance(answer.translation, Exact) and unread:
        assert _content(copies[0][1]) == _content(unread[0][1]), f"{offset} is not exact: {answer}"
    if isinstance(answer.translation, Early) and unread and life.state and offset < life.state.position:
        again = [at for at, _ in read if at < unread[0][0]]
        assert len(again) <= answer.translation.at_most, f"{offset} is earlier than it says: {answer}"


def _offsets(life: CopiedPartition) -> list[int]:
    rng = random.Random(life.source.end)
    ends = [0, life.source.start, life.source.end, life.state.position if life.state else 0]
    return sorted({*ends, *(rng.randint(0, life.source.end) for _ in range(12))})


def _look_at_all(life: CopiedPartition, stored: dict[int, Answer]) -> dict[int, Answer]:
    ground = life.ground
    places = [(PARTITION, o) for o, answer in stored.items() if is_looked_at(ground, PARTITION, o, answer)]
    compacted = {PARTITION.topic} if life.is_compacted else set()
    found = look_at_records(ground, life.source, life.target, places, compacted)
    return {offset: answer for (_, offset), answer in found.items()}


def _looked(life: CopiedPartition, offset: int, answer: Answer) -> Answer | None:
    ground = life.ground
    if not is_looked_at(ground, PARTITION, offset, answer):
        return None
    compacted = {PARTITION.topic} if life.is_compacted else set()
    return look_at_records(ground, life.source, life.target, [(PARTITION, offset)], compacted).get((PARTITION, offset))


@pytest.mark.parametrize("block", range(8))
def test_no_record_is_skipped_and_exact_is_exact_in_any_life_of_a_partition(block: int) -> None:
    for seed in range(block, LIFE_COUNT, 8):
        life = CopiedPartition(seed)
        life.steps(STEP_COUNT)
        stored = {offset: stored_answer(life.ground, PARTITION, offset) for offset in _offsets(life)}
        looked = _look_at_all(life, stored)
        for offset, answer in stored.items():
            _check(life, offset, answer)
            if offset in looked:
                _check(life, offset, looked[offset])
                assert (looked[offset].downstream or 0) >= (answer.downstream or 0)
            assert looked.get(offset) == _looked(life, offset, answer), "neighbours change nothing"


@pytest.mark.parametrize("block", range(4))
def test_the_way_back_skips_no_record_in_any_life_of_a_partition(block: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(block, LIFE_COUNT, 4):
        life = CopiedPartition(seed)
        life.steps(STEP_COUNT)
        ground, rng = life.ground_back, random.Random(seed)
        for downstream in {0, life.target.start, life.target.end, *(rng.randint(0, life.target.end) for _ in range(8))}:
            answer = stored_answer(ground, REMOTE, downstream)
            answers = [answer]
            if is_looked_at(ground, REMOTE, downstream, answer):
                compacted = {REMOTE.topic} if life.is_compacted else set()
                found = look_at_records(ground, life.target, life.source, [(REMOTE, downstream)], compacted)
                answers += found.values()
                met["looked"] += 1
            for given in answers:
                met[type(given.translation).__name__] += 1
                _check_back(life, downstream, given)
    assert met["Exact"] > 40
    assert met["looked"] > 5


def _check_back(life: CopiedPartition, downstream: int, answer: Answer) -> None:
    if answer.downstream is None:
        return
    unread = [r.upstream for _, r in life.target.visible(downstream) if r.upstream >= 0]
    left = [offset for offset in unread if offset in life.source.records]
    assert not left or answer.downstream <= min(left), f"{downstream} misses {min(left)}: {answer}"
    if answer.is_exact and left and life.alphabet > 1000:  # so many contents that no two records are equal
        again = {r.upstream for _, r in life.target.visible(life.again_at, downstream)}
        read = [offset for offset, _ in life.source.visible(answer.downstream, min(left))]
        assert again.isdisjoint(read), f"{downstream} is not exact: {answer}"


def test_looking_at_the_records_settles_what_the_history_leaves_open() -> None:
    """Where nothing was compacted, skipped or written by others, nothing may stay early but equal neighbours."""
    outcome: Counter[str] = Counter()
    for seed in range(LIFE_COUNT):
        life = CopiedPartition(seed)
        if life.is_compacted or life.has_foreign_writer or life.has_filter or life.alphabet < 50:
            continue
        life.skip = lambda: None  # type: ignore[method-assign]
        life.steps(STEP_COUNT)
        for offset in _offsets(life):
            stored = stored_answer(life.ground, PARTITION, offset)
            if is_looked_at(life.ground, PARTITION, offset, stored):
                looked = _looked(life, offset, stored)
                outcome["exact" if looked is not None and looked.is_exact else "early"] += 1
    print(outcome)
    assert outcome["exact"] > 20
    assert outcome["early"] <= outcome["exact"] / 10


def test_random_lives_meet_what_they_are_meant_to_meet() -> None:
    met: Counter[str] = Counter()
    for seed in range(0, LIFE_COUNT, 2):
        life = CopiedPartition(seed)
        life.steps(STEP_COUNT)
        answers = [stored_answer(life.ground, PARTITION, offset) for offset in _offsets(life)]
        met.update(type(answer.translation).__name__ for answer in answers)
        met["looked at"] += sum(
            is_looked_at(life.ground, PARTITION, o, a) for o, a in zip(_offsets(life), answers, strict=True)
        )
        met["remote anew"] += life.target_id > 1
        met["remote head gone"] += life.target.start > 0
        met["source head gone"] += life.source.start > 40
        met["compacted"] += life.is_compacted
        met["foreign"] += life.has_foreign_writer
        met["filtered"] += life.has_filter
    assert min(met[name] for name in ("Exact", "Early", "Unknown", "looked at")) > 5, met
    events = ("remote anew", "remote head gone", "source head gone", "compacted", "foreign", "filtered")
    assert min(met[name] for name in events) > 5, met
