"""Looks at the records of both sides where the stored history leaves a stretch open, and takes the very record.

So while the source lives, a group far behind is as exact as one at the head. The reading is bounded: a stretch that is
too long, or a run out of time, leaves the stored answer, which is early and never late.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from mirror.config import Flow
from mirror.copy.spec import FlowLinks
from mirror.groups.alignment import Bracket, Placed, place
from mirror.groups.ground import Ground
from mirror.groups.translation import is_looked_at, stored_answer
from mirror.groups.values import Answer
from mirror.kafka.cluster import Cluster
from mirror.kafka.samples import Sample, SampleReader, Samples, Stretch
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap
from mirror.wire.history import Early, Exact, Unknown

log = logging.getLogger(__name__)

# Records read behind the group's offset: more neighbours that are equal to the byte than this stay ambiguous.
CONTEXT_COUNT = 48
CONTEXT_BYTES = 1024 * 1024
# Target offsets that one look reads at most; a longer stretch would cost more than reading some records again.
STRETCH_MAX = 20_000
STRETCH_BYTES = 64 * 1024 * 1024
# Seconds that all looks of one run may take together: groups are due every minute.
TIME_MAX_S = 30.0

FOUND = "the record itself was found on both sides"

Place = tuple[TopicPartition, int]


class Reads(Protocol):
    """Gives the records of short stretches; a SampleReader on a cluster."""

    def read(self, stretches: Mapping[TopicPartition, Stretch]) -> dict[TopicPartition, Samples]: ...


@dataclass(frozen=True, slots=True)
class _Look:
    """One offset to settle: what is read here, where its copies end on either side."""

    partition: TopicPartition
    remote: TopicPartition
    offset: int
    copied_end: int
    remote_end: int
    is_compacted: bool
    gaps: tuple[Gap, ...]


def answer_all(
    flow: Flow, links: FlowLinks, source: Cluster, ground: Ground, places: Iterable[Place]
) -> dict[Place, Answer]:
    """The best answer for each (partition, offset): what is stored, and the very record where that is open."""
    answers = {place: stored_answer(ground, *place) for place in places}
    open_places = [place for place, answer in answers.items() if is_looked_at(ground, *place, answer)]
    if not open_places:
        return answers
    compacted = _compacted_topics(source, {partition.topic for partition, _ in open_places})
    here = SampleReader(links.source, links.source_consumer, isolation_level=flow.isolation_level)
    there = SampleReader(links.target, links.target_consumer, isolation_level="read_committed")
    try:
        found = look_at_records(ground, here, there, open_places, compacted)
    finally:
        here.close()
        there.close()
    log.info("looked flow=%s offsets=%d found=%d", flow.id, len(open_places), len(found))
    return answers | found


def look_at_records(
    ground: Ground, here: Reads, there: Reads, places: Iterable[Place], compacted: Collection[str]
) -> dict[Place, Answer]:
    """Answers for the places whose record was found; one offset of each partition at a time, all partitions at once."""
    waiting: dict[TopicPartition, list[_Look]] = defaultdict(list)
    for partition, offset in places:
        waiting[partition].append(_look(ground, partition, offset, partition.topic in compacted))
    found: dict[Place, Placed] = {}
    give_up = time.monotonic() + TIME_MAX_S
    while waiting and time.monotonic() < give_up:
        turn = [queue.pop() for queue in waiting.values()]
        waiting = defaultdict(list, {p: queue for p, queue in waiting.items() if queue})
        found.update(_take_turn(ground, here, there, turn))
    if waiting:
        left = sum(len(queue) for queue in waiting.values())
        log.warning("looked for %.0f s; %d offsets stay early by their stored bound", TIME_MAX_S, left)
    return {place: _answer(placed) for place, placed in found.items()}


def _compacted_topics(source: Cluster, topics: set[str]) -> set[str]:
    configs = source.configs(topics)
    return {
        topic
        for topic in topics
        if topic not in configs
        or (policy := configs[topic].get("cleanup.policy")) is None
        or "compact" in (policy.value or "")
    }


def _look(ground: Ground, partition: TopicPartition, offset: int, is_compacted: bool) -> _Look:
    remote = ground.remotes[partition]
    if partition.topic in ground.returning:
        state = ground.opposite_states[remote]
        return _Look(partition, remote, offset, state.downstream_end, state.position, is_compacted, ())
    state = ground.states[partition]
    return _Look(partition, remote, offset, state.position, state.downstream_end, is_compacted, state.gaps)


def _take_turn(ground: Ground, here: Reads, there: Reads, turn: list[_Look]) -> dict[Place, Placed]:
    read = here.read(
        {
            look.partition: Stretch(look.offset, look.copied_end, record_count=CONTEXT_COUNT, byte_count=CONTEXT_BYTES)
            for look in turn
        }
    )
    found: dict[Place, Placed] = {}
    asked: dict[TopicPartition, tuple[_Look, list[Bracket]]] = {}
    for look in turn:
        samples = read[look.partition]
        if _meets_gap(look, samples):
            continue
        if not samples.records and _is_gap(look, samples):
            found[look.partition, look.offset] = Placed(look.remote_end)
        elif samples.records and (samples.records[0].offset == look.offset or _is_gap(look, samples)):
            brackets = _brackets(ground, look, samples.records)
            if brackets:
                asked[look.remote] = look, brackets
    for remote, others in there.read({r: _stretch(look, brackets) for r, (look, brackets) in asked.items()}).items():
        look, brackets = asked[remote]
        samples = read[look.partition]
        has_all = samples.is_whole and len(brackets) == len(samples.records)
        if others.is_whole:
            end = look.remote_end if has_all else None
            records, can_count = samples.records[: len(brackets)], not look.is_compacted
            placed = place(records, brackets, others.records, end=end, can_count=can_count)
            if placed is not None:
                found[look.partition, look.offset] = placed
    return found


def _stretch(look: _Look, brackets: list[Bracket]) -> Stretch:
    end = min(max(bracket.latest for bracket in brackets) + 1, look.remote_end)
    return Stretch(brackets[0].earliest, end, record_count=STRETCH_MAX * 2, byte_count=STRETCH_BYTES)


def _meets_gap(look: _Look, samples: Samples) -> bool:
    """Whether some of the records lie where a gap was noted: skipped by a person, they have no copy."""
    last = samples.records[-1].offset if samples.records else look.copied_end
    return any(gap.start <= last and gap.end > look.offset for gap in look.gaps)


def _is_gap(look: _Look, samples: Samples) -> bool:
    """Whether no record lies at the offset itself, and none ever did: a marker, or an aborted record.

    In a compacted topic there may have been one, copied before it was cleaned away: its copy must not be skipped.
    """
    if look.is_compacted:
        return False
    return samples.is_whole if not samples.records else samples.records[0].offset > look.offset


def _brackets(ground: Ground, look: _Look, records: list[Sample]) -> list[Bracket]:
    """Where each record's copy lies by what is stored: as many as one stretch may cover, perhaps none."""
    brackets: list[Bracket] = []
    for sample in records:
        stored = stored_answer(ground, look.partition, sample.offset).translation
        if isinstance(stored, Unknown):
            break
        at_most = stored.at_most if isinstance(stored, Early) else 0
        bracket = Bracket(stored.downstream, stored.downstream + at_most)
        if bracket.latest - (brackets[0] if brackets else bracket).earliest > STRETCH_MAX:
            break
        brackets.append(bracket)
    return brackets


def _answer(placed: Placed) -> Answer:
    if placed.at_most:
        return Answer(Early(placed.offset, placed.at_most), "among records that are equal to the byte")
    return Answer(Exact(placed.offset), FOUND)
