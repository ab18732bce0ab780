"""Is the source's log still the one that was copied? A truncated and overwritten log looks whole from outside.

Kafka's logs have the property of Raft's: records at the same offset with the same leader epoch have the same past.
Each state keeps the epoch of the newest record read, copied or left out, so that record, seen again with its epoch, is
the witness for all before it. Offsets, with w the witness and e its epoch:

    ... w            e at w, or e at the first record behind it     the same log
    ... w            another epoch at w, an older one behind it     truncated, certainly
    ... . (w gone)   a newer epoch behind it                        look further back: a newer epoch below w is
                                                                    truncation; none is no evidence, and is said
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from mirror.copy.spec import FlowLinks, PartitionSpec
from mirror.kafka.epochs import read_epochs
from mirror.kafka.values import TopicPartition

# Offsets looked back when compaction or retention removed the witness itself.
LOOK_BACK = 2000


class Testimony(Enum):
    """What the epochs say of a log."""

    SAME = "the same log"
    TRUNCATED = "another log"
    SILENT = "no evidence either way"
    UNCLEAR = "the witness is gone; look further back"


def testify(epochs: list[tuple[int, int]], witness: int, epoch: int, *, last_word: bool) -> Testimony:
    """Judge from the epochs of records around the witness."""
    for offset, seen in epochs:
        if offset <= witness and seen > epoch:
            return Testimony.TRUNCATED
        if offset == witness and seen != epoch:
            return Testimony.TRUNCATED
        if offset >= witness and seen < epoch:
            return Testimony.TRUNCATED
        if offset >= witness and seen == epoch:
            return Testimony.SAME
    return Testimony.SILENT if last_word else Testimony.UNCLEAR


def truncated_partitions(
    links: FlowLinks, specs: Iterable[PartitionSpec], log_starts: dict[TopicPartition, int]
) -> tuple[dict[TopicPartition, str], list[TopicPartition]]:
    """Partitions whose log is another one, with the evidence; and those of which nothing can be said."""
    witnesses = {
        spec.partition: (witness, spec.state.leader_epoch)
        for spec in specs
        if spec.state is not None and spec.state.leader_epoch is not None
        if (witness := spec.state.witness) is not None and witness >= log_starts[spec.partition] and spec.gap is None
    }
    evidence: dict[TopicPartition, str] = {}
    unclear = dict(witnesses)
    for look_back in (0, LOOK_BACK):
        ranges = {p: (max(log_starts[p], at - look_back), at) for p, (at, _) in unclear.items()}
        epochs = read_epochs(links.source_consumer, links.source, ranges)
        for partition, seen in epochs.items():
            at, epoch = witnesses[partition]
            testimony = testify(seen, at, epoch or 0, last_word=look_back > 0)
            if testimony is not Testimony.UNCLEAR:
                del unclear[partition]
            if testimony is Testimony.TRUNCATED:
                now = ", ".join(f"{o}: {e}" for o, e in seen[-3:])
                evidence[partition] = f"offset {at} was read with leader epoch {epoch}, epochs there now: {now}"
            elif testimony is Testimony.SILENT:
                unclear[partition] = witnesses[partition]
        unclear = {p: w for p, w in unclear.items() if p not in evidence}
    return evidence, sorted(unclear)
