"""Looks at the records of both sides where the stored history leaves a stretch open, and takes the very record.

So while the source lives, a group far behind is as exact as one at the head. The reading is bounded: a stretch that is
too long, or a run out of time, leaves the stored answer, which is early and never late.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
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
CONTEXT_BYTES = 4 * 1024 * 1024
# Target offsets that one look reads at most; a longer stretch would cost more than reading some records again.
STRETCH_MAX = 20_000
STRETCH_BYTES = 64 * 1024 * 1024
# Offsets of one partition that lie within so many are read in one go: a thousand groups often stand close together.
SHARED_MAX = 4_000
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
    """Answers for the places whose record was found; neighbours together, all partitions at once."""
    waiting: dict[TopicPartition, list[_Look]] = defaultdict(list)
    for partition, offset in sorted(places, reverse=True):
        waiting[partition].append(_look(ground, partition, offset, partition.topic in compacted))
    found: dict[Place, Placed] = {}
    give_up = time.monotonic() + TIME_MAX_S
    while waiting and time.monotonic() < give_up:
        turn = [_neighbours(queue) for queue in waiting.values()]
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


def _neighbours(queue: list[_Look]) -> list[_Look]:
    """Take the lowest offset off the queue, and those near it; the queue is sorted, highest first."""
    taken = [queue.pop()]
    while queue and queue[-1].offset - taken[0].offset <= SHARED_MAX:
        taken.append(queue.pop())
    return taken


def _take_turn(ground: Ground, here: Reads, there: Reads, turn: list[list[_Look]]) -> dict[Place, Placed]:
    read = here.read({looks[0].partition: _stretch_here(looks) for looks in turn})
    found: dict[Place, Placed] = {}
    open_looks: dict[TopicPartition, list[_Open]] = defaultdict(list)
    for look in (look for looks in turn for look in looks):
        samples = _behind(read[look.partition], look.offset)
        if _meets_gap(look, samples):
            continue
        if not samples.records and _is_gap(look, samples):
            found[look.partition, look.offset] = Placed(look.remote_end)
        elif samples.records and (samples.records[0].offset == look.offset or _is_gap(look, samples)):
            brackets = _brackets(ground, look, samples.records)
            if brackets:
                open_looks[look.remote].append(_Open(look, samples, brackets))
    others = there.read({remote: _stretch_there(looks) for remote, looks in open_looks.items()})
    for remote, looks in open_looks.items():
        for question in looks if others[remote].is_whole else ():
            placed = _place(question, others[remote].records)
            if placed is not None:
                found[question.look.partition, question.look.offset] = placed
    return found


@dataclass(frozen=True, slots=True)
class _Open:
    """A look whose record was read here, and where its copy and those of the next ones lie by what is stored."""

    look: _Look
    samples: Samples
    brackets: list[Bracket]

    @property
    def first(self) -> int:
        return self.brackets[0].earliest

    @property
    def last(self) -> int:
        return min(max(bracket.latest for bracket in self.brackets), self.look.remote_end - 1)


def _stretch_here(looks: list[_Look]) -> Stretch:
    start, span = looks[0].offset, looks[-1].offset - looks[0].offset
    return Stretch(start, looks[0].copied_end, record_count=span + CONTEXT_COUNT, byte_count=CONTEXT_BYTES)


def _stretch_there(looks: list[_Open]) -> Stretch:
    start, end = min(look.first for look in looks), max(look.last for look in looks) + 1
    # Each look is bounded, and they are neighbours; so is the whole.
    count = 2 * STRETCH_MAX + SHARED_MAX
    return Stretch(start, end, record_count=count, byte_count=STRETCH_BYTES)


def _behind(samples: Samples, offset: int) -> Samples:
    """The samples from the offset on, as many as one look wants."""
    records = samples.records[bisect_left(samples.records, offset, key=attrgetter("offset")) :]
    is_whole = samples.is_whole and len(records) <= CONTEXT_COUNT
    return Samples(records=records[:CONTEXT_COUNT], is_whole=is_whole)


def _place(question: _Open, there: list[Sample]) -> Placed | None:
    look, samples, brackets = question.look, question.samples, question.brackets
    within = there[bisect_left(there, question.first, key=attrgetter("offset")) :]
    within = within[: bisect_right(within, question.last, key=attrgetter("offset"))]
    has_all = samples.is_whole and len(brackets) == len(samples.records)
    end = look.remote_end if has_all else None
    return place(samples.records[: len(brackets)], brackets, within, end=end, can_count=not look.is_compacted)


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
