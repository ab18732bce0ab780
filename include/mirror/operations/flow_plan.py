"""What the next run of every task of a flow would change, as values that can be read, compared and printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mirror.errors import MirrorError
from mirror.groups.checkpoints import Known
from mirror.groups.summaries import GroupOutcome, Move
from mirror.kafka.values import TopicPartition
from mirror.topics import AclPlan, Creation, SettingsPlan, Switched, TopicPlan
from mirror.wire.gaps import Gap

NOT_ENABLED = Switched("the flow is not enabled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Upstream offsets `[start, end)` of one partition that a slot would copy; a gap before them is put on record."""

    partition: TopicPartition
    remote: TopicPartition
    start: int
    end: int
    slot: int
    gap: Gap | None = None

    def to_json(self) -> dict[str, Any]:
        gap = None if self.gap is None else {"from": self.gap.start, "to": self.gap.end}
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "remote_topic": self.remote.topic,
            "from": self.start,
            "to": self.end,
            "slot": self.slot,
            "gap": gap,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsPlan:
    """The records that a copy would bring over, and the partitions that it would leave out."""

    stretches: tuple[Stretch, ...] = ()
    stopped: Mapping[TopicPartition, MirrorError] = field(default_factory=dict)
    waiting: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def offset_count(self) -> int:
        """An upper bound of the records: markers and aborted records among them are stepped over."""
        return sum(stretch.end - stretch.start for stretch in self.stretches)

    def to_json(self) -> dict[str, Any]:
        return {
            "offsets": self.offset_count,
            "slots": len({stretch.slot for stretch in self.stretches}),
            "partitions": [stretch.to_json() for stretch in self.stretches],
            "stopped": [error.to_json() for error in self.stopped.values()],
            "waiting": dict(self.waiting),
            "notices": list(self.notices),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsPlan:
    """Checkpoints to be told and groups to be moved, as of what is copied now."""

    checkpoints: tuple[Known, ...] = ()
    outcomes: tuple[GroupOutcome, ...] = ()
    failures: Mapping[str, MirrorError] = field(default_factory=dict)
    not_done: tuple[str, ...] = ()
    # Groups that stand in records which the copy would bring: where they go on is known when it has.
    after_copy: tuple[str, ...] = ()

    @property
    def moves(self) -> tuple[tuple[str, Move], ...]:
        return tuple((outcome.group, move) for outcome in self.outcomes for move in outcome.moves)

    @property
    def errors(self) -> tuple[MirrorError, ...]:
        found = dict(self.failures) | {o.group: o.error for o in self.outcomes if o.error is not None}
        return tuple(found.values())

    def to_json(self) -> dict[str, Any]:
        return {
            "checkpoints": [
                {
                    "group": known.checkpoint.group,
                    "remote_topic": known.checkpoint.topic,
                    "partition": known.checkpoint.partition,
                    "upstream_offset": known.checkpoint.upstream_offset,
                    "downstream_offset": known.checkpoint.downstream_offset,
                }
                for known in self.checkpoints
            ],
            "offsets": [outcome.to_json() for outcome in self.outcomes if outcome.word != "in place"],
            "failed": [error.to_json() for error in self.errors],
            "not_done": list(self.not_done),
            "after_copy": list(self.after_copy),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatsPlan:
    """The heartbeat that every run writes, and those of the source that it would copy."""

    topic: str
    off: str = ""
    records: RecordsPlan = RecordsPlan()

    def to_json(self) -> dict[str, Any]:
        return {"write": None if self.off else self.topic, "off": self.off, "copy": self.records.to_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPlan:
    """All of it. A part that could not be planned is its error; one that the file switches off says by which line."""

    flow: str
    source: str
    target: str
    heartbeats: HeartbeatsPlan
    # None of the others where the flow is not enabled.
    topics: TopicPlan | None = None
    # Topics that other tasks make: for checkpoints and heartbeats.
    further_topics: tuple[Creation, ...] = ()
    settings: SettingsPlan | Switched | MirrorError = NOT_ENABLED
    acls: AclPlan | Switched | MirrorError = NOT_ENABLED
    records: RecordsPlan = RecordsPlan()
    groups: GroupsPlan | MirrorError = GroupsPlan()
    notices: tuple[str, ...] = ()

    @property
    def creations(self) -> tuple[Creation, ...]:
        return (*(self.topics.creations if self.topics else ()), *self.further_topics)

    @property
    def errors(self) -> tuple[MirrorError, ...]:
        """What the next run would fail with, in part or whole."""
        parts = [part for part in (self.settings, self.acls, self.groups) if isinstance(part, MirrorError)]
        stopped = [*self.records.stopped.values(), *self.heartbeats.records.stopped.values()]
        groups = () if isinstance(self.groups, MirrorError) else self.groups.errors
        return (*parts, *stopped, *groups)

    @property
    def change_count(self) -> int:
        """Changes apart from heartbeats, which every run writes."""
        growths = self.topics.growths if self.topics else ()
        settings = self.settings.differences if isinstance(self.settings, SettingsPlan) else ()
        acls = (*self.acls.grants, *self.acls.revocations) if isinstance(self.acls, AclPlan) else ()
        groups = (*self.groups.checkpoints, *self.groups.moves) if isinstance(self.groups, GroupsPlan) else ()
        return sum(len(part) for part in (self.creations, growths, settings, acls, self.records.stretches, groups))

    def to_json(self) -> dict[str, Any]:
        topics = self.topics
        return {
            "flow": self.flow,
            "changes": self.change_count,
            "topics": {
                "create": [asdict(creation) for creation in self.creations],
                "grow": [asdict(growth) for growth in topics.growths] if topics else [],
                "refused": [asdict(decision) for decision in topics.refused] if topics else [],
                "notices": list(topics.notices) if topics else [],
            },
            "settings": self.settings.to_json(),
            "acls": self.acls.to_json(),
            "records": self.records.to_json(),
            "groups": self.groups.to_json(),
            "heartbeats": self.heartbeats.to_json(),
            "notices": list(self.notices),
        }
