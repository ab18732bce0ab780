"""The records of the control topic: who copies, from where, what was seen and what a person decided.

Key and value are JSON with sorted members. A key says its kind and flow, and what else tells records of a kind
apart, so that compaction keeps one of each; a value says the rest. Members unknown here are passed over and unknown
kinds become `Unrecognised`, so that an older airmirror can read what a newer one wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_args

from mirror.wire.flow_state import FlowState, Operation, ReturnPoints, SourceRights, TargetTopics
from mirror.wire.json_document import Document, parse_object, record_key, record_value
from mirror.wire.mm2_positions import Mm2Positions
from mirror.wire.primitives import unreadable

# Results kept per flow; older ones are overwritten in turn.
RESULTS_KEPT = 32

ChosenBy = Literal["earliest", "latest", "start", "mm2", "resume", "failback"]
LifeState = Literal["alive", "ended"]


def flow_key(flow: str, flow_id: str = "") -> str:
    """What tells one deployment's records apart: the flow, and `airmirror.flow.id` where it is set."""
    return f"{flow}#{flow_id}" if flow_id else flow


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The run that may copy now, written once per run; slots were used up to `highest_slot` ever."""

    KIND: ClassVar[str] = "claim"

    flow: str
    run: str
    slots: int
    highest_slot: int
    run_number: int
    host: str
    pid: int
    holder: str

    def encode_key(self) -> bytes:
        return record_key(self)

    def encode_value(self) -> bytes:
        return record_value(self, "run", "slots", "highest_slot", "run_number", "host", "pid", "holder")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            run=doc.text("run"),
            slots=doc.number("slots"),
            highest_slot=doc.number("highest_slot"),
            run_number=doc.number("run_number"),
            host=doc.text("host"),
            pid=doc.number("pid"),
            holder=doc.text("holder"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A run's sign of life, under a key of its own: a run that thaws must not take the claim back with it."""

    KIND: ClassVar[str] = "life"

    flow: str
    run: str
    state: LifeState
    signs: int

    def encode_key(self) -> bytes:
        return record_key(self, "run")

    def encode_value(self) -> bytes:
        return record_value(self, "state", "signs")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            run=doc.text("run"),
            state=doc.one_of("state", LifeState),
            signs=doc.number("signs"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Written only to learn the broker's time from its acknowledgement."""

    KIND: ClassVar[str] = "clock"

    flow: str

    def encode_key(self) -> bytes:
        return record_key(self)

    def encode_value(self) -> bytes:
        return record_value(self)

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(flow=doc.text("flow"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The flow has its first positions: partitions that appear from now on begin at their beginning."""

    KIND: ClassVar[str] = "started"

    flow: str
    at_ms: int
    run: str

    def encode_key(self) -> bytes:
        return record_key(self)

    def encode_value(self) -> bytes:
        return record_value(self, "at_ms", "run")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(flow=doc.text("flow"), at_ms=doc.number("at_ms"), run=doc.text("run"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPosition:
    """Where a partition's copy begins: decided once, because `latest` decided anew would lose records."""

    KIND: ClassVar[str] = "first-position"

    flow: str
    topic: str
    partition: int
    position: int
    source_topic_id: str
    chosen_by: ChosenBy

    def encode_key(self) -> bytes:
        return record_key(self, "topic", "partition")

    def encode_value(self) -> bytes:
        return record_value(self, "position", "source_topic_id", "chosen_by")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            topic=doc.text("topic"),
            partition=doc.number("partition"),
            position=doc.number("position"),
            source_topic_id=doc.text("source_topic_id"),
            chosen_by=doc.one_of("chosen_by", ChosenBy),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEnds:
    """A source topic's ends per partition when last seen: high watermarks and stable offsets.

    They are what is left of the source when it is gone: how much was not copied is told from them.
    """

    KIND: ClassVar[str] = "source-ends"

    flow: str
    topic: str
    at_ms: int
    ends: Mapping[int, int]
    stable: Mapping[int, int]

    def encode_key(self) -> bytes:
        return record_key(self, "topic")

    def encode_value(self) -> bytes:
        return record_value(self, "at_ms", "ends", "stable")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            topic=doc.text("topic"),
            at_ms=doc.number("at_ms"),
            ends=doc.offsets("ends"),
            stable=doc.offsets("stable"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What one of the last runs did; the key counts in a ring, so that old results make room."""

    KIND: ClassVar[str] = "run-result"

    flow: str
    run_number: int
    run: str
    document: Mapping[str, Any]

    @property
    def place(self) -> int:
        return self.run_number % RESULTS_KEPT

    def encode_key(self) -> bytes:
        return record_key(self, "place")

    def encode_value(self) -> bytes:
        return record_value(self, "run_number", "run", "document")

    @classmethod
    def _from(cls, doc: Document) -> Self:
        return cls(
            flow=doc.text("flow"),
            run_number=doc.number("run_number"),
            run=doc.text("run"),
            document=doc.mapping("document"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A tombstone: what was under this key is no longer so."""

    kind: str
    flow: str
    key: bytes = b""

    @classmethod
    def of(cls, record: KnownRecord) -> Self:
        """What removes this record."""
        return cls(kind=record.KIND, flow=record.flow, key=record.encode_key())

    def encode_key(self) -> bytes:
        return self.key

    def encode_value(self) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrecognised:
    """A record of a kind that this airmirror does not know; readers pass over it."""

    kind: str


KnownRecord = (
    Claim
    | Life
    | Clock
    | Started
    | FirstPosition
    | SourceEnds
    | RunResult
    | FlowState
    | Operation
    | SourceRights
    | TargetTopics
    | ReturnPoints
    | Mm2Positions
)
WritableRecord = KnownRecord | Removed
ControlRecord = WritableRecord | Unrecognised

_KINDS: dict[str, type[KnownRecord]] = {kind.KIND: kind for kind in get_args(KnownRecord)}


def decode(key: bytes, value: bytes | None) -> ControlRecord:
    """Read a record of the control topic; one of a known kind that is damaged raises, because it would mislead."""
    identity = parse_object(key)
    kind = identity.get("kind") if identity else None
    if identity is None or not isinstance(kind, str) or kind not in _KINDS:
        return Unrecognised(kind=kind if isinstance(kind, str) else "")
    if value is None:
        return Removed(kind=kind, flow=Document(kind, identity).text("flow"), key=key)
    facts = parse_object(value)
    if facts is None:
        raise unreadable(f"the {kind} record's value is not a JSON object")
    return _KINDS[kind]._from(Document(kind, {**facts, **identity}))
