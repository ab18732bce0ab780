"""The copies of a failback: survivors to the target, the target's own records home, and the forward flow past both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from mirror.config import Flow
from mirror.copy.control import Control
from mirror.copy.detour import Detour
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import Executor
from mirror.copy.links import links_of
from mirror.copy.progress import Progress
from mirror.errors import AttemptsExhausted, StillWritten
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.operations.failback_ground import return_links
from mirror.operations.failback_plan import BothSides
from mirror.operations.failback_points import Points
from mirror.operations.failback_preparation import write_states
from mirror.operations.silence import grown, growth, told
from mirror.topics import apply, discover
from mirror.wire.control import FirstPosition
from mirror.wire.gaps import Gap, GapReason
from mirror.wire.history import History
from mirror.wire.partition_state import PartitionState
from mirror.wire.stretches import Stretches

# Copies before a target that grows is given up.
PASSES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnCopies:
    """What moves records during a failback; each can be done again."""

    flow: Flow
    home: Flow
    source: Cluster
    target: Cluster
    operation: str
    points: Points
    progress: Progress
    executor: Callable[[], Executor]

    def bring_survivors(self, sides: BothSides) -> int:
        """Copy what survived on the source to the target, up to where the source ended when all was decided."""
        self._make_remote_topics()
        ends = {p: point.survivors_end for p, point in self.points.items()}
        return self._copy(self.flow, Detour(skips=self._returned_stretches(sides), ends=ends))

    def pass_over_survivors(self, sides: BothSides) -> int:
        """Let the forward flow begin behind the survivors; on record as gaps that a person wanted."""
        passed: list[PartitionState] = []
        now_ms = int(time.time() * 1000)
        for partition, point in self.points.items():
            state = sides.states.get(partition)
            if state is not None and state.position < point.survivors_end:
                gap = Gap(start=state.position, end=point.survivors_end, reason=GapReason.SKIPPED, at_ms=now_ms)
                passed.append(replace(state, position=point.survivors_end, run=self.operation).with_gap(gap))
        write_states(self.flow, links_of(self.flow), self.target, passed, self.operation)
        links = links_of(self.flow)
        fresh = [
            _first_position(links.flow_key, partition, point.survivors_end, sides.source_topics[partition.topic].id)
            for partition, point in self.points.items()
            if partition not in sides.states and partition.topic in sides.source_topics
        ]
        Control(links, self.target).write(*fresh)
        return sum(gap.gaps[-1].end - gap.gaps[-1].start for gap in passed)

    def bring_home(self, survey: Callable[[], BothSides], *, silence_s: float, may_grow: bool) -> int:
        """Copy what was written on the target behind the boundary, until the target is silent."""
        sides = survey()
        self._set_out(sides)
        # A topic made on the target this very moment is not on the source yet: it shows as growth below.
        names = {
            remote: topic
            for topic, remote in sides.names.items()
            if remote in sides.target_topics and topic in sides.source_topics
        }
        stretches = {sides.remote(p): state.stretches for p, state in sides.states.items() if state.stretches}
        detour = Detour(route=names, skips=stretches)
        found: dict[TopicPartition, int] = {}
        for _ in range(1 if may_grow else PASSES):
            self._copy(self.home, detour)
            sides = survey()
            positions = {p: state.position for p, state in sides.return_states.items()}
            positions |= {
                point.remote: point.boundary for point in self.points.values() if point.remote not in positions
            }
            found = grown(positions, sides.target_ends)
            if not may_grow:
                found |= growth(partial(self.target.high_watermarks, list(sides.target_ends)), silence_s)
            if not found:
                break
        if found and not may_grow:
            raise self._still_written(found)
        return sum(
            sides.return_states[point.remote].record_count - point.returned_before
            for point in self.points.values()
            if point.remote in sides.return_states
        )

    def _set_out(self, sides: BothSides) -> None:
        """Where the return begins: at the boundary, or where an earlier try of it came to."""
        links = return_links(self.home, sides.names)
        behind = [
            replace(state, position=point.boundary, run=self.operation)
            for point in self.points.values()
            if (state := sides.return_states.get(point.remote)) is not None and state.position < point.boundary
        ]
        write_states(self.home, links, self.source, behind, self.operation)
        Control(links, self.source).write(
            *(
                _first_position(links.flow_key, point.remote, point.boundary, topic.id)
                for point in self.points.values()
                if (topic := sides.target_topics.get(point.remote.topic)) is not None
                and point.remote not in sides.return_states
            )
        )

    def go_forward(self, survey: Callable[[], BothSides]) -> int:
        """Let the forward flow pass all that: it copies strays, and skips and remembers what came back."""
        self._make_remote_topics()
        sides = survey()
        detour = Detour(
            skips=self._returned_stretches(sides),
            returned={
                p: History(state.history.segments, complete_from_start=True)
                for p in sides.partitions
                if (state := sides.returned_to(p)) is not None and state.has_record
            },
        )
        count = self._copy(self.flow, detour)
        now = survey()
        late = [
            p
            for p, stretches in detour.skips.items()
            if stretches and (p not in now.states or now.states[p].position < stretches[-1].end)
        ]
        if late:
            raise AttemptsExhausted(
                f"the forward flow did not pass what came back in {late[0]}", next_step="run this again"
            )
        return count

    def _returned_stretches(self, sides: BothSides) -> dict[TopicPartition, Stretches]:
        return {p: state.stretches for p in sides.partitions if (state := sides.returned_to(p)) is not None}

    def _copy(self, flow: Flow, detour: Detour) -> int:
        request = CopyRequest(operation=self.operation, on_held="take-over", detour=detour)
        result = run_copy(flow, request, self.executor, self.progress)
        result.raise_if_incomplete()
        return result.record_count

    def _make_remote_topics(self) -> None:
        summary = apply(discover(self.flow, self.source, self.target), self.source, self.target)
        if (failure := summary.failure()) is not None:
            raise failure

    def _still_written(self, found: dict[TopicPartition, int]) -> StillWritten:
        return StillWritten(
            f"cluster {self.flow.target} still gets records, or has open transactions: {told(found)}; what was there "
            "has returned, and the flow stays shut",
            next_step=f"stop its producers, then run this again: airmirror failback '{self.flow.id}'; or "
            "--producers-still-write, which leaves on it what they write from now on",
            cluster=self.flow.target,
            flow=self.flow.id,
        )


def _first_position(flow_key: str, partition: TopicPartition, position: int, topic_id: str) -> FirstPosition:
    return FirstPosition(
        flow=flow_key,
        topic=partition.topic,
        partition=partition.partition,
        position=position,
        source_topic_id=topic_id,
        chosen_by="failback",
    )
