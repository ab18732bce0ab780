"""The seam between what moves records and what decides and remembers.

An engine gets ranges and gives back what it moved; it knows nothing of flows, claims, policies or state formats.
Between `move` and `commit` the transaction is open: the slot looks once more whether it may stand, and hands over
the state that is to be committed with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from mirror.errors import MirrorError
from mirror.kafka.values import TopicPartition
from mirror.wire.stretches import Stretches

# The code of a refusal that comes from the user's record function, not from a cluster.
FUNCTION_FAILED = "RECORD_FUNCTION_FAILED"
# No end is known: go on with what arrives until told to stop.
OPEN_END = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Upstream offsets to be copied, `start` included, `end` excluded, and where their records go."""

    partition: TopicPartition
    remote: TopicPartition
    start: int
    end: int = OPEN_END
    # Offsets that the opposite flow wrote: passed over.
    skips: Stretches = ()
    # Whether every record's place is asked for, so that no run has a hole.
    is_exact: bool = False


class Run(NamedTuple):
    """Records with consecutive upstream offsets and where the first and the last of them landed."""

    upstream_start: int
    length: int
    downstream_start: int
    downstream_end: int  # excluded

    @property
    def downstream_length(self) -> int:
        return self.downstream_end - self.downstream_start


@dataclass(slots=True, kw_only=True)
class Move:
    """What one transaction brings for one partition."""

    position: int
    runs: list[Run] = field(default_factory=list)
    record_count: int = 0
    byte_count: int = 0
    leader_epoch: int | None = None
    # Records that the client cannot write unchanged: a timestamp of 0 means "now" to it.
    altered: list[int] = field(default_factory=list)
    # Records that the flow's transformation leaves out; the newest one's offset where nothing was read behind it.
    dropped_count: int = 0
    there_already_count: int = 0
    left_out_offset: int | None = None


class Limits(NamedTuple):
    """When a transaction is large or old enough to be committed."""

    byte_count: int
    seconds: float


@dataclass(slots=True, kw_only=True)
class Moved:
    """What stands in the open transaction, and what was met at the source besides records."""

    moves: dict[TopicPartition, Move]
    met: dict[TopicPartition, MirrorError | None] = field(default_factory=dict)  # None: the position is out of range
    is_done: bool = False


class Refusal(Exception):
    """A record among `[start, end)` of a partition can never be taken; exact when the stretch is one offset long."""

    def __init__(self, partition: TopicPartition, start: int, end: int, code: str, reason: str) -> None:
        super().__init__(f"{partition} [{start}, {end}): {code}: {reason}")
        self.partition = partition
        self.start = start
        self.end = end
        self.code = code
        self.reason = reason

    @property
    def is_exact(self) -> bool:
        return self.end - self.start == 1


class StateRecord(NamedTuple):
    """A record that must stand if, and only if, the records beside it stand."""

    partition: TopicPartition
    key: bytes
    value: bytes


class Engine(Protocol):
    """Moves ranges of records from the source to the target in transactions."""

    def open(self) -> None:
        """Own the slot's transactional id; whoever owned it before is locked out."""

    def assign(self, ranges: Sequence[Range], suspects: Mapping[TopicPartition, range], *, careful: bool) -> None:
        """Start over at these ranges; careful: small steps, each confirmed, one by one among the suspects."""

    def move(self, limits: Limits) -> Moved:
        """Move records until a limit is reached, all ranges are done, or nothing comes; all of it acknowledged.

        Raises Refusal or Abortable: then the caller aborts and assigns anew."""

    def commit(self, state: Sequence[StateRecord]) -> None:
        """Make what was moved and the state beside it visible, both or neither."""

    def abort(self) -> None:
        """Give up what was moved since the last commit."""

    def close(self) -> None:
        """Let go of all connections; an open transaction is left to the next owner of the id."""
