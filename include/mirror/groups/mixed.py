"""Topics that have the same name on both sides and several writers: where a group that left one goes on in the other.

The two logs hold the same records in different orders, as flows brought them:

    A    a0 a1 a2 b0 b1        a group that stands at a2 has seen neither b0 nor b1
    B    b0 b1 a0 a1 a2        so it goes on at b0, although a2 lies at 4

Each flow that mixes in is asked for the first of its records that the group has not seen; the earliest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mirror.config import Flow
from mirror.kafka.values import TopicPartition
from mirror.records.routes import Place, Routes
from mirror.wire.history import Early, Exact, Translation, Unknown, Upstream
from mirror.wire.partition_state import PartitionState

States = Mapping[TopicPartition, PartitionState]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixing:
    """By which flows others' records come into one topic of the source, and into the same of the target."""

    # The opposite flow: the target's own records, and what reached the target from elsewhere first.
    from_target: bool = False
    # Clusters from which one flow leads to the source and one to the target.
    hubs: frozenset[str] = frozenset()
    # Why some others cannot be placed by what the two clusters know.
    unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubStates:
    """What the flows from one hub copied into the source, and into the target."""

    to_source: States = field(default_factory=dict)
    to_target: States = field(default_factory=dict)


def mixing_of(flow: Flow, routes: Routes, topic: str) -> Mixing:
    """Where the records of every other cluster come from last, on either side."""
    from_target, hubs, unknown = False, set(), ""
    for origin in flow.aliases:
        here = None if origin == flow.source else routes.step_to(flow.source, Place(origin, topic))
        if here is None or here[1].topic != topic:
            continue  # the group never saw any of them
        there = None if origin == flow.target else routes.step_to(flow.target, Place(origin, topic))
        if origin != flow.target and (there is None or there[1].topic != topic):
            continue  # they are not on the target
        last_here, last_there = here[0].cluster, there[0].cluster if there else None
        if last_here == flow.target:
            from_target = True
        elif last_there == flow.source:
            continue  # they are copied by the flow itself
        elif last_here == last_there:
            hubs.add(last_here)
        else:
            unknown = (
                f"records of {origin} come to {flow.source} from {last_here}, and neither {flow.source} nor "
                f"{flow.target} knows where those lie on {flow.target}"
            )
    return Mixing(from_target=from_target, hubs=frozenset(hubs), unknown=unknown)


def earliest(answers: Iterable[Translation]) -> Translation:
    """One answer for several flows: skips none of their records, early by what lies up to the last of them."""
    known: list[Exact | Early] = []
    for answer in answers:
        if isinstance(answer, Unknown):
            return answer
        known.append(answer)
    low = min(answer.downstream for answer in known)
    high = max(_latest(answer) for answer in known)
    return Early(low, high - low) if high > low else Exact(low)


def _latest(answer: Exact | Early) -> int:
    return answer.downstream + (answer.at_most if isinstance(answer, Early) else 0)


def back_through(state: PartitionState, offset: int) -> Upstream | Unknown:
    """The first record of the flow's source that a group at this offset of its target has not seen."""
    found = state.translate_back(offset)
    if isinstance(found, Upstream) or not state.holds_all_copies:
        return found
    # Nothing before the history was copied, so nothing of it was to be seen.
    segments = state.history.segments
    return Upstream(segments[0].upstream_start if segments else state.position, 0)


def by_way_of(hub: HubStates, partition: TopicPartition, offset: int) -> Translation | None:
    """Where the hub's first record that the group has not seen lies on the target; None if none of them is there."""
    to_source, to_target = hub.to_source.get(partition), hub.to_target.get(partition)
    if to_target is None:
        return None
    unseen = Upstream(0, 0) if to_source is None else back_through(to_source, offset)
    if isinstance(unseen, Unknown):
        return unseen
    return earliest(_forth_through(to_target, at) for at in (unseen.offset, unseen.offset + unseen.at_most))


def _forth_through(state: PartitionState, offset: int) -> Translation:
    found = state.translate(offset)
    if not isinstance(found, Unknown) or not state.holds_all_copies:
        return found
    segments = state.history.segments
    return Exact(segments[0].downstream_start if segments else state.downstream_end)
