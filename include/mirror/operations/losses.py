"""What the target lacks when the source is gone: from positions, and the source's ends as last seen; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mirror.copy.control import ControlState
from mirror.kafka.values import TopicPartition
from mirror.wire.partition_state import PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One partition on the day of a failover: where its copy stands, and where the source was last seen to end."""

    partition: TopicPartition
    remote: TopicPartition
    position: int
    # The source's end, and the moment at which it was seen.
    source_end: int
    seen_ms: int
    # Where the target goes on behind the newest copied record.
    downstream_end: int
    newest_record_ms: int | None = None
    gap_count: int = 0

    @property
    def missing(self) -> int:
        """Offsets that were on the source and are not on the target: at least so many, as of `seen_ms`."""
        return max(self.source_end - self.position, 0)

    @property
    def recovery_point_ms(self) -> int | None:
        """The source's state up to this moment is on the target; None where the newest copied record tells no time."""
        return self.newest_record_ms if self.missing else self.seen_ms

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.partition.topic,
            "partition": self.partition.partition,
            "remote_topic": self.remote.topic,
            "position": self.position,
            "source_end": self.source_end,
            "seen_ms": self.seen_ms,
            "missing_at_least": self.missing,
            "downstream_end": self.downstream_end,
            "newest_record_ms": self.newest_record_ms,
            "gaps": self.gap_count,
        }


def standings(
    control: ControlState,
    states: Mapping[TopicPartition, PartitionState],
    remote_names: Mapping[str, str],
    target_ends: Mapping[TopicPartition, int],
) -> tuple[Standing, ...]:
    """Every partition that the source was last seen to have, and that the flow copies under one of these names."""
    found: list[Standing] = []
    for topic, seen in sorted(control.source_ends.items()):
        for number, end in sorted(seen.ends.items()):
            partition = TopicPartition(topic, number)
            if topic not in remote_names:
                continue
            remote = TopicPartition(remote_names[topic], number)
            state, first = states.get(partition), control.first_positions.get(partition)
            downstream_end = state.downstream_end if state else target_ends.get(remote, 0)
            found.append(
                Standing(
                    partition=partition,
                    remote=remote,
                    position=state.position if state else (first.position if first else 0),
                    source_end=end,
                    seen_ms=seen.at_ms,
                    downstream_end=downstream_end,
                    gap_count=len(state.gaps) if state else 0,
                )
            )
    return tuple(found)


def newest_records(
    found: tuple[Standing, ...], states: Mapping[TopicPartition, PartitionState]
) -> dict[TopicPartition, int]:
    """Where the newest copied record of each remote partition lies, to be asked for its time."""
    return {
        each.remote: states[each.partition].downstream_offset
        for each in found
        if each.partition in states and states[each.partition].has_record
    }
