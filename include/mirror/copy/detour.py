"""What an operation asks of a copy beyond the ordinary: other topics, offsets to pass over, an end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from mirror.copy.spec import PartitionSpec
from mirror.kafka.values import TopicPartition
from mirror.wire.history import History
from mirror.wire.stretches import Stretches


@dataclass(frozen=True, slots=True, kw_only=True)
class Detour:
    """The partitions are those of the copy's source; each copied record's place is asked for."""

    # The topics to copy and what they are called on the target; None: those that the file selects.
    route: Mapping[str, str] | None = None
    # What the opposite flow wrote: not to be copied back.
    skips: Mapping[TopicPartition, Stretches] = field(default_factory=dict)
    # What came back, to be remembered beside what was brought.
    returned: Mapping[TopicPartition, History] = field(default_factory=dict)
    # Where to stop; None: at the source's end. Partitions that it does not name are left alone.
    ends: Mapping[TopicPartition, int] | None = None

    def applied_to(self, specs: Iterable[PartitionSpec]) -> tuple[PartitionSpec, ...]:
        """The plan's partitions as the operation wants them copied."""
        return tuple(self._applied(spec) for spec in specs)

    def _applied(self, spec: PartitionSpec) -> PartitionSpec:
        end = spec.end if self.ends is None else min(self.ends.get(spec.partition, spec.position), spec.end)
        return replace(
            spec,
            end=max(end, spec.position),
            skips=self.skips.get(spec.partition, ()),
            returned=self.returned.get(spec.partition),
            is_exact=True,
        )
