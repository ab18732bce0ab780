"""The flow's control topic on the target: read to its end, written with the broker's acknowledgement."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from mirror.copy.spec import FlowLinks
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import Appender, read_log
from mirror.kafka.values import TopicPartition
from mirror.wire import control as wire
from mirror.wire.flow_state import FlowState, Operation, ReturnPoints, SourceRights, TargetTopics
from mirror.wire.mm2_positions import Mm2Positions

_APPENDERS: WeakKeyDictionary[Cluster, dict[str, Appender]] = WeakKeyDictionary()


@dataclass(slots=True, kw_only=True)
class ControlState:
    """What the control topic says now; times are the target brokers'."""

    claim: wire.Claim | None = None
    claim_at_ms: int = 0
    lives: dict[str, tuple[wire.Life, int]] = field(default_factory=dict)
    started: wire.Started | None = None
    first_positions: dict[TopicPartition, wire.FirstPosition] = field(default_factory=dict)
    source_ends: dict[str, wire.SourceEnds] = field(default_factory=dict)
    results: dict[int, wire.RunResult] = field(default_factory=dict)
    # Positions in MM2's offsets topic that a handover wrote there.
    given_to_mm2: dict[TopicPartition, int] = field(default_factory=dict)
    direction: FlowState | None = None
    operations: dict[str, Operation] = field(default_factory=dict)
    rights: dict[int, SourceRights] = field(default_factory=dict)
    topics_there: dict[int, TargetTopics] = field(default_factory=dict)
    return_points: dict[str, ReturnPoints] = field(default_factory=dict)
    read_to: int = 0

    def result_of(self, run: str) -> dict[str, Any] | None:
        """The document of a run, if it is still among those kept."""
        return next((dict(r.document) for r in self.results.values() if r.run == run), None)

    @property
    def source_rights(self) -> SourceRights | None:
        """What the source's applications may do there, when that was last seen; None if it never was."""
        first = self.rights.get(0)
        if first is None:
            return None
        parts = [self.rights[number] for number in range(first.parts) if number in self.rights]
        return replace(first, rows=tuple(row for part in parts for row in part.rows))

    def target_topics(self, operation: str) -> frozenset[str] | None:
        """The target's own topics as this failover found them; None if it did not put them on record, or not all."""
        parts = [part for part in self.topics_there.values() if part.operation == operation]
        if not parts or len(parts) < parts[0].parts:
            return None
        return frozenset(topic for part in parts for topic in part.topics)

    @property
    def newest_result(self) -> dict[str, Any] | None:
        newest = max(self.results.values(), key=lambda r: r.run_number, default=None)
        return None if newest is None else dict(newest.document)

    def _take(self, record: wire.ControlRecord, at_ms: int) -> None:
        match record:
            case wire.Claim():
                self.claim, self.claim_at_ms = record, at_ms
            case wire.Life():
                self.lives[record.run] = (record, at_ms)
            case wire.Started():
                self.started = record
            case wire.FirstPosition():
                self.first_positions[TopicPartition(record.topic, record.partition)] = record
            case wire.SourceEnds():
                self.source_ends[record.topic] = record
            case wire.RunResult():
                self.results[record.place] = record
            case Mm2Positions():
                self.given_to_mm2 |= {TopicPartition(record.topic, n): at for n, at in record.positions.items()}
            case _:
                self._take_of_flow(record)

    def _take_of_flow(self, record: wire.ControlRecord) -> None:
        """What is said of the whole flow, and outlives its runs."""
        match record:
            case FlowState():
                self.direction = record
            case Operation():
                self.operations[record.what] = record
            case SourceRights():
                self.rights[record.part] = record
            case TargetTopics():
                self.topics_there[record.part] = record
            case ReturnPoints():
                self.return_points[record.topic] = record
            case _:
                pass  # another version's, or removed


class Control:
    """One flow's view of the control topic; records of other deployments in it are passed over."""

    def __init__(self, links: FlowLinks, target: Cluster) -> None:
        self._links = links
        self._target = target
        self._appender: Appender | None = None

    def read(self, start: int | None = None) -> ControlState:
        """Everything from `start` (None: the beginning) to the high watermark; claims are never transactional."""
        partition = self._links.control
        log_start, end = self._target.bounds(partition)
        start = log_start if start is None else start
        state = ControlState(read_to=end)
        for log in read_log(
            self._links.target_consumer, self._links.target, {partition: (start, end)}, committed=False
        ):
            if log.key is None:
                continue
            record = wire.decode(log.key, log.value)
            if self._concerns(record):
                state._take(record, log.timestamp_ms)
        return state

    def _concerns(self, record: wire.ControlRecord) -> bool:
        """A state and an operation are of the whole flow, all else of the part that is copied apart."""
        whole = isinstance(record, FlowState | Operation | SourceRights | TargetTopics | ReturnPoints)
        return getattr(record, "flow", None) == (self._links.state_key if whole else self._links.flow_key)

    def write(self, *records: wire.WritableRecord) -> int:
        """Write records, all of them acknowledged; the broker's time of the last."""
        if self._appender is None:
            # A new client takes half a second to be known to the brokers; all parts of a flow share one per connection.
            shared = _APPENDERS.setdefault(self._target, {})
            key = str(self._links.target_producer.get("client.id"))
            if key not in shared:
                shared[key] = Appender(self._links.target, self._links.target_producer)
            self._appender = shared[key]
        stamps = self._appender.append((self._links.control, r.encode_key(), r.encode_value()) for r in records)
        return stamps[-1] if stamps else 0
