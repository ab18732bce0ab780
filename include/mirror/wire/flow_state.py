"""Records of the control topic that outlive runs: which way a flow goes, and how far an operation on it came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from mirror.wire.json_document import Document, record_key, record_value

# Forward: copied as the file says. Failed over: the target is where applications work, nothing is written on it.
# Returning: an operation brings what was written there back; only its own runs may write. Handed over: MM2 copies it.
Direction = Literal["forward", "failed-over", "returning", "handed-over"]
OperationKind = Literal["failover", "failback"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowState:
    """Which way the flow goes, and the operation that said so; no record means forward."""

    KIND: ClassVar[str] = "flow-state"

    flow: str
    state: Direction
    operation: str
    at_ms: int
    by: str

    @property
    def is_forward(self) -> bool:
        return self.state == "forward"

    def encode_key(self) -> bytes:
        return record_key(self)

    def encode_value(self) -> bytes:
        return record_value(self, "state", "operation", "at_ms", "by")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            state=doc.one_of("state", Direction),
            operation=doc.text("operation"),
            at_ms=doc.number("at_ms"),
            by=doc.text("by"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRights:
    """What applications may do on the source, as last seen; in parts, because a record has its limit.

    A row is a binding's resource, name, pattern, principal, host, operation and permission.
    """

    KIND: ClassVar[str] = "source-rights"

    flow: str
    part: int
    parts: int
    at_ms: int
    rows: tuple[tuple[str, ...], ...]

    def encode_key(self) -> bytes:
        return record_key(self, "part")

    def encode_value(self) -> bytes:
        return record_value(self, "parts", "at_ms", "rows")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            part=doc.number("part"),
            parts=doc.number("parts"),
            at_ms=doc.number("at_ms"),
            rows=tuple(tuple(row) for row in doc.rows("rows")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetTopics:
    """The target's own topics when the flow failed over: those that are not among them were made since. In parts."""

    KIND: ClassVar[str] = "target-topics"

    flow: str
    part: int
    parts: int
    operation: str
    topics: tuple[str, ...]

    def encode_key(self) -> bytes:
        return record_key(self, "part")

    def encode_value(self) -> bytes:
        return record_value(self, "parts", "operation", "topics")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            part=doc.number("part"),
            parts=doc.number("parts"),
            operation=doc.text("operation"),
            topics=tuple(doc.texts("topics")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnPoints:
    """What a failback decided about a topic before anything moved; partition to its numbers, told in operations."""

    KIND: ClassVar[str] = "return-points"

    flow: str
    topic: str
    operation: str
    remote_topic: str
    points: Mapping[str, Sequence[int]]

    def encode_key(self) -> bytes:
        return record_key(self, "topic")

    def encode_value(self) -> bytes:
        return record_value(self, "operation", "remote_topic", "points")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            topic=doc.text("topic"),
            operation=doc.text("operation"),
            remote_topic=doc.text("remote_topic"),
            points=doc.mapping("points"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """How far the newest operation of a kind came: a run that is killed is taken up where this says."""

    KIND: ClassVar[str] = "operation"

    flow: str
    what: OperationKind
    operation: str
    started_ms: int
    # What it was asked for, and the steps that are done, by their names.
    request: Mapping[str, Any]
    done: tuple[str, ...] = ()
    # What a step found out and a later one, perhaps of another process, needs; and at the end the report.
    facts: Mapping[str, Any] = field(default_factory=dict)
    is_finished: bool = False

    def encode_key(self) -> bytes:
        return record_key(self, "what")

    def encode_value(self) -> bytes:
        return record_value(self, "operation", "started_ms", "request", "done", "facts", "is_finished")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            what=doc.one_of("what", OperationKind),
            operation=doc.text("operation"),
            started_ms=doc.number("started_ms"),
            request=doc.mapping("request"),
            done=tuple(doc.texts("done")),
            facts=doc.mapping("facts"),
            is_finished=doc.flag("is_finished"),
        )
