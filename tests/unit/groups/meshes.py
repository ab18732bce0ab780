"""Random lives of one topic on several clusters that copy to each other under one name, each record marked.

What is left out and how the rest is marked is the real transformation of a real file; the states are those that the
real copy would have kept.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from mirror.config import Flow
from mirror.config.configuration import parse
from mirror.groups.ground import Ground
from mirror.groups.mixed import HubStates, mixing_of
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.records import LeftOut, Record, Transformation, transformation_of
from mirror.records.record import Headers
from mirror.records.routes import Place, routes_of
from mirror.wire.history import History
from mirror.wire.partition_state import PartitionState

PARTITION = TopicPartition("orders", 0)
TOPICS = {PARTITION.topic: TopicDescription(name=PARTITION.topic, id="", partition_count=1)}

PAIR = ("A->B", "B->A")
FULL = ("A->B", "B->A", "B->C", "C->B", "C->A", "A->C")
SHAPES: dict[str, tuple[str, ...]] = {
    "pair": PAIR,
    "full mesh": FULL,
    "spokes": ("A->H", "H->A", "H->B", "B->H", "H->C", "C->H"),
    "chain": ("A->B", "B->A", "B->C", "C->B"),
    "ring": ("A->B", "B->C", "C->A"),
    "diamond": ("A->B", "A->C", "B->D", "C->D", "D->A"),
    "pair and a reader": (*PAIR, "A->C", "B->C"),
}


def file_of(flows: Iterable[str], lines: str = "") -> str:
    """A file in which all these flows keep names and mark records."""
    names = list(flows)
    aliases = sorted({alias for flow in names for alias in flow.split("->")})
    return "\n".join(
        [
            f"clusters = {', '.join(aliases)}",
            *(f"{alias}.bootstrap.servers = {alias}:1" for alias in aliases),
            *(f"{flow}.enabled = true" for flow in names),
            "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
            "airmirror.provenance.headers = true",
            lines,
        ]
    )


def flows_of(text: str) -> dict[str, Flow]:
    loaded = parse(text.encode(), Path("mm2.properties"))
    return {flow.id: flow for flow in loaded.enabled_flows}


@dataclass
class Log:
    """One cluster's log: at each offset a record with its number and headers, or a marker."""

    records: dict[int, tuple[int, Headers]] = field(default_factory=dict)
    end: int = 0

    def append(self, number: int, headers: Headers) -> int:
        self.records[self.end] = (number, headers)
        self.end += 1
        return self.end - 1

    def numbers(self, start: int = 0, end: int | None = None) -> list[int]:
        stop = self.end if end is None else end
        return [number for offset, (number, _) in sorted(self.records.items()) if start <= offset < stop]


class Mesh:
    """Clusters, flows, and steps that write and copy."""

    def __init__(self, shape: str, seed: int) -> None:
        self.rng = random.Random(f"{shape}-{seed}")
        self.cap = self.rng.choice([4, 8, 64])
        self.flows = flows_of(file_of(SHAPES[shape]))
        self.logs = {alias: Log() for flow in self.flows.values() for alias in (flow.source, flow.target)}
        self.states: dict[str, PartitionState] = {}
        self.transformations = {name: self._transformation(flow) for name, flow in self.flows.items()}
        self.written: dict[int, str] = {}
        self.routes = routes_of(next(iter(self.flows.values())))

    @staticmethod
    def _transformation(flow: Flow) -> Transformation:
        found = transformation_of(flow)
        assert found is not None
        return found

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.write(self.rng.choice(sorted(self.logs)), self.rng.randint(0, 6))
            name = self.rng.choice(sorted(self.flows))
            state = self.states.get(name)
            position = state.position if state else 0
            self.copy(name, self.rng.randint(position, self.logs[self.flows[name].source].end))

    def write(self, alias: str, count: int) -> None:
        for _ in range(count):
            number = len(self.written)
            self.written[number] = alias
            self.logs[alias].append(number, ())
        if self.rng.random() < 0.3:
            self.logs[alias].end += 1  # a marker

    def copy(self, name: str, end: int) -> int:
        """Copy up to an offset of the source; how many records were written."""
        flow = self.flows[name]
        here, there = self.logs[flow.source], self.logs[flow.target]
        state = self.states.get(name) or _first_state(there.end)
        if end <= state.position:
            return 0
        copied: list[tuple[int, int]] = []
        for offset in range(state.position, end):
            if offset in here.records:
                number, headers = here.records[offset]
                record = Record(*PARTITION[:1], PARTITION.topic, 0, offset, b"", b"%d" % number, headers, 1)
                outcome = self.transformations[name].outcome(record)
                if not isinstance(outcome, LeftOut):
                    copied.append((offset, there.append(number, outcome.headers)))
        self.states[name] = replace(self._next_state(state, end, copied), remote_end=there.end)
        there.end += 1  # the commit's marker
        return len(copied)

    def _next_state(self, state: PartitionState, position: int, copied: list[tuple[int, int]]) -> PartitionState:
        history = state.history.builder(cap=self.cap)
        for up, down in copied:
            history.append_run(up, 1, down, 1)
        state = replace(state, position=position, record_count=state.record_count + len(copied))
        if not copied:
            return state
        up, down = copied[-1]
        return replace(state, upstream_offset=up, downstream_offset=down, has_record=True, history=history.freeze())

    def drain(self) -> int:
        """Every flow once, to the end; how many records were written."""
        return sum(self.copy(name, self.logs[flow.source].end) for name, flow in self.flows.items())

    def reaches(self, number: int, alias: str) -> bool:
        """Whether a record is to come to a cluster at all."""
        origin = self.written[number]
        return origin == alias or self.routes.step_to(alias, Place(origin, PARTITION.topic)) is not None

    def ground(self, name: str) -> Ground:
        flow = self.flows[name]
        mixing = mixing_of(flow, self.routes, PARTITION.topic)
        return Ground(
            target=flow.target,
            remotes={PARTITION: PARTITION},
            states=self._of(name),
            opposite_states=self._of(f"{flow.target}->{flow.source}"),
            mixing={PARTITION.topic: mixing},
            hub_states={
                hub: HubStates(to_source=self._of(f"{hub}->{flow.source}"), to_target=self._of(f"{hub}->{flow.target}"))
                for hub in mixing.hubs
            },
            source_topics=TOPICS,
            source_starts={PARTITION: 0},
            target_topics=TOPICS,
            target_starts={PARTITION: 0},
            target_ends={PARTITION: self.logs[flow.target].end},
            earlier_ends={PARTITION: self.logs[flow.target].end},
        )

    def _of(self, name: str) -> dict[TopicPartition, PartitionState]:
        return {PARTITION: self.states[name]} if name in self.states else {}


def _first_state(downstream_end: int) -> PartitionState:
    return PartitionState(
        topic=PARTITION.topic,
        partition=0,
        upstream_offset=0,
        downstream_offset=downstream_end,
        position=0,
        has_record=False,
        history=History(complete_from_start=True),
        run="r",
    )
