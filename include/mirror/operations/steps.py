"""An operation as named steps: what is done is on record on the target, and whoever comes next goes on from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.claim import ClaimPolicy, take_claim
from mirror.copy.control import Control, ControlState
from mirror.copy.driver import new_run_id
from mirror.copy.links import links_of
from mirror.copy.points import reached
from mirror.kafka.cluster import Cluster
from mirror.topics import ensure_internal
from mirror.wire.flow_state import FlowState, Operation, OperationKind
from mirror.wire.json_document import to_json

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: done again, it does what is missing. What it finds out is kept for later ones."""

    name: str
    title: str
    act: Callable[[], Facts]


class Journal:
    """The operation's record in the control topic, and the flow's state beside it."""

    def __init__(self, flow: Flow, target: Cluster) -> None:
        self._flow = flow
        self._links = links_of(flow)
        self.control = Control(self._links, target)
        self.record: Operation | None = None
        self.direction: FlowState | None = None

    @property
    def operation(self) -> Operation:
        if self.record is None:
            raise RuntimeError("no operation was begun")
        return self.record

    @property
    def facts(self) -> Facts:
        return self.operation.facts

    def open(self, what: OperationKind) -> Operation | None:
        """The newest operation of this kind, finished or not."""
        return self.adopt(what, self.control.read())

    def adopt(self, what: OperationKind, state: ControlState) -> Operation | None:
        """The same from what was read already."""
        self.direction = state.direction
        self.record = state.operations.get(what)
        return self.record

    @property
    def is_under_way(self) -> bool:
        """Whether the newest operation turned the flow and is not finished: it is taken up, whoever began it."""
        known, now = self.record, self.direction
        return (
            known is not None
            and not known.is_finished
            and now is not None
            and not now.is_forward
            and now.operation == known.operation
        )

    def begin(self, what: OperationKind, request: Mapping[str, Any]) -> Operation:
        """Take up the operation that is under way with what is asked for now, or begin a new one."""
        known = self.record
        if known is not None and self.is_under_way:
            self.record = replace(known, request=dict(request))
        else:
            self.record = Operation(
                flow=self._links.state_key,
                what=what,
                operation=f"{what}-{new_run_id()}",
                started_ms=int(time.time() * 1000),
                request=dict(request),
            )
        self.control.write(self.record)
        return self.record

    def note(self, done: str, facts: Facts) -> None:
        """Write down that a step is done; it counts as done only once this is acknowledged."""
        known = self.operation
        self.record = replace(known, done=(*known.done, done), facts={**known.facts, **facts})
        self.control.write(self.record)

    def finish(self, facts: Facts) -> None:
        """Write down the end, and what remains to be known."""
        self.record = replace(self.operation, facts=dict(facts), is_finished=True)
        self.control.write(self.record)

    def carry_out(self, steps: Sequence[Step], say: Callable[[str], None]) -> None:
        """The steps that are not done yet, in their order."""
        what = self.operation.what
        for step in steps:
            if step.name in self.operation.done:
                say(f"{step.title}: done before")
                continue
            say(step.title)
            facts = step.act()
            reached(f"{what}-{step.name}-acted")
            self.note(step.name, facts)
            reached(f"{what}-{step.name}-noted")


def fitting(rows: Sequence[Facts], at_most_bytes: int = 250_000) -> tuple[list[Facts], int]:
    """As many rows as a record has room for, and how many are left out."""
    kept: list[Facts] = []
    size = 0
    for row in rows:
        size += len(to_json(row))
        if size > at_most_bytes:
            break
        kept.append(row)
    return kept, len(rows) - len(kept)


@contextmanager
def alone(flow: Flow, target: Cluster, say: Callable[[str], None]) -> Iterator[None]:
    """One operation of a flow at a time: another command waits until this one ends, or dies."""
    ensure_internal(flow, target)
    links = links_of(flow, operation=True)
    policy = ClaimPolicy(on_held="wait", renew_s=flow[opt.CLAIM_RENEW_SECONDS])
    claim = take_claim(links, Control(links, target), new_run_id(), 0, policy, say)
    try:
        yield
    finally:
        claim.release()
