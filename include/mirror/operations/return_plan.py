"""What taking a flow back from MM2 makes of what MM2 did meanwhile; pure.

    handed over  0 . . . . . . . p            p: our position then, and still now
    MM2's        0 . . . . . . . p . . . m    m: behind the last record that MM2 says it copied
    taken back   position m                   from p to m are MM2's copies: neither ours to repeat nor to translate

Between handover and return no run of ours copies, so whatever differs from p is MM2's doing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mirror.copy.spec import FlowLinks
from mirror.copy.survey import Survey
from mirror.kafka.values import TopicPartition
from mirror.wire.control import FirstPosition
from mirror.wire.history import EMPTY
from mirror.wire.partition_state import PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnStep:
    """One partition that comes back: where we handed it over, where MM2 says it stands, and what is written."""

    partition: TopicPartition
    position: int
    then: int
    note: str = ""
    state: PartitionState | None = None
    first: FirstPosition | None = None

    def to_json(self) -> dict[str, Any]:
        place = {"topic": self.partition.topic, "partition": self.partition.partition}
        return {**place, "position": self.position, "position_then": self.then, "note": self.note}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnPart:
    """One part of the flow that comes back; partitions in which MM2 did nothing are counted."""

    links: FlowLinks
    steps: tuple[ReturnStep, ...]
    unchanged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnPlan:
    """What taking a flow back writes."""

    flow: str
    parts: tuple[ReturnPart, ...]

    @property
    def steps(self) -> tuple[ReturnStep, ...]:
        return tuple(step for part in self.parts for step in part.steps)

    @property
    def unchanged(self) -> int:
        return sum(part.unchanged for part in self.parts)

    @property
    def decision(self) -> tuple[tuple[TopicPartition, int], ...]:
        return tuple((step.partition, step.then) for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        steps = [step.to_json() for step in self.steps]
        return {"flow": self.flow, "to": "airmirror", "partitions": steps, "partitions_unchanged": self.unchanged}


def plan_return(links: FlowLinks, survey: Survey, *, run: str) -> ReturnPart:
    """Compare MM2's positions with ours: nothing of ours ran meanwhile, so every difference is MM2's."""
    steps = []
    for partition in survey.source.partitions:
        mm2 = survey.mm2_positions.get(partition)
        ours = _our_position(survey, partition)
        if mm2 is not None and mm2 != ours:
            steps.append(_returned(links, survey, partition, mm2, ours, run))
    return ReturnPart(links=links, steps=tuple(steps), unchanged=len(survey.source.partitions) - len(steps))


def _our_position(survey: Survey, partition: TopicPartition) -> int | None:
    state, first = survey.states.states.get(partition), survey.control.first_positions.get(partition)
    if state is not None:
        return state.position
    return first.position if first is not None else None


def _returned(
    links: FlowLinks, survey: Survey, partition: TopicPartition, mm2: int, ours: int | None, run: str
) -> ReturnStep:
    state = survey.states.states.get(partition)
    now, remote = survey.source.topics[partition.topic], survey.source.remote(partition)
    there = survey.target.topics.get(remote.topic)
    if state is not None and (
        _differ(state.source_topic_id, now.id) or there is None or _differ(state.target_topic_id, there.id)
    ):
        # Nothing says whether MM2's position is of the old topic or of the new one.
        note = f"made anew meanwhile: the copy will stop it, go on with airmirror resume '{links.flow}'"
        return ReturnStep(partition=partition, position=state.position, then=state.position, note=note)
    first = FirstPosition(
        flow=links.flow_key,
        topic=partition.topic,
        partition=partition.partition,
        position=mm2,
        source_topic_id=now.id,
        chosen_by="mm2",
    )
    followed = None if state is None else _behind_mm2(state, mm2, survey.target.ends.get(remote, 0), run)
    note = "MM2 went back, and copied from there again" if ours is not None and mm2 < ours else ""
    return ReturnStep(partition=partition, position=ours or 0, then=mm2, note=note, state=followed, first=first)


def _differ(before: str, now: str) -> bool:
    return bool(before and now and before != now)


def _behind_mm2(state: PartitionState, position: int, downstream_end: int, run: str) -> PartitionState:
    """The next record that we copy lands at the remote's end; what lies before is MM2's to translate."""
    return replace(state.standing_at(position, downstream_end, EMPTY), run=run)
