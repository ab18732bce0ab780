"""One writer of a flow: owns its transactional id, copies its partitions, commits records and state together.

The order is the promise; the numbers are those of the protocol (docs/protocol.md).
    8   read the claim: not this run's, go
    9   initialise the id, read the claim again: not this run's, go
   10   read what the syncs topic holds by now: an earlier attempt may have committed
   11   assign the source's partitions at their positions
   12   move records    13   step over what is no record
   14   topic ids unchanged? then the state of every touched partition, and commit
   15   an abortable error: abort, go back to the last committed positions, a limited number of times
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from mirror.config import known_as
from mirror.copy.bandwidth import Bandwidth
from mirror.copy.claim import holder_of
from mirror.copy.engine import Engine, Limits, Moved, Refusal
from mirror.copy.ledger import Ledger
from mirror.copy.points import reached
from mirror.copy.record_engine import RecordEngine
from mirror.copy.result import SlotResult
from mirror.copy.spec import SlotSpec
from mirror.copy.state import read_states
from mirror.copy.trouble import changed_topics, look_into
from mirror.errors import AttemptsExhausted, FencedByNewerRun
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import Appender
from mirror.kafka.reader import SourceReader
from mirror.kafka.values import TopicPartition
from mirror.kafka.writer import BATCH_BYTES, Abortable, TransactionalWriter

log = logging.getLogger(__name__)

# Aborts in a row without a commit between them before the task gives up and Spark starts it afresh.
ATTEMPTS = 6
# Seconds without any progress after which the source is asked whether the topics are still there.
STALL_S = 10.0
# Seconds without any progress after which the slot gives up.
PATIENCE_S = 180.0
# What the broker adds around a batch's records: a batch of just max.message.bytes would be refused.
BATCH_OVERHEAD_BYTES = 4096


def run_slot(spec: SlotSpec, is_told_to_stop: Callable[[], bool] = lambda: False) -> SlotResult:
    """Copy a slot's partitions; errors of single partitions are in the result, others are raised."""
    holder = holder_of(spec)
    if holder != spec.run:  # 8: spares the newer run a needless fencing
        return SlotResult(slot=spec.slot, superseded_by=holder)
    reached("claim-read")
    engine = _engine(spec)
    try:
        engine.open()
        reached("initialised")
        holder = holder_of(spec)
        if holder != spec.run:  # 9: this id was initialised behind the newer run's fence
            return SlotResult(slot=spec.slot, superseded_by=holder)
        return _Slot(spec, engine).copy(is_told_to_stop)
    except FencedByNewerRun:
        holder = holder_of(spec)
        if holder == spec.run:  # not a newer run: the transaction timed out, or another attempt of this task lives
            raise
        return SlotResult(slot=spec.slot, superseded_by=holder)
    finally:
        engine.close()


def _engine(spec: SlotSpec) -> Engine:
    links = spec.links
    largest = min((p.max_message_bytes for p in spec.partitions), default=BATCH_BYTES)
    writer = TransactionalWriter(
        links.target,
        known_as(links.target_producer, f"slot-{spec.slot}"),
        transactional_id=spec.transactional_id,
        timeout_ms=links.transaction_timeout_ms,
        batch_bytes=max(min(BATCH_BYTES, largest - BATCH_OVERHEAD_BYTES), 1024),
    )
    reader = SourceReader(
        links.source,
        known_as(links.source_consumer, f"slot-{spec.slot}"),
        isolation_level=spec.isolation_level,
    )
    return RecordEngine(reader, writer, Bandwidth(spec.bytes_per_second), spec.transformation)


class _Slot:
    def __init__(self, spec: SlotSpec, engine: Engine) -> None:
        self._spec = spec
        self._engine = engine
        links = spec.links
        self._source = Cluster(links.source, links.source_admin)
        self._target = Cluster(links.target, links.target_admin)
        self._ledger = Ledger(spec)
        self._publisher = (
            Appender(links.source, links.source_producer) if links.published_location == "source" else None
        )
        self._aborts_in_a_row = 0
        self._progress_at = self._asked_at = time.monotonic()

    def copy(self, is_told_to_stop: Callable[[], bool]) -> SlotResult:
        self._ledger.adopt(read_states(self._spec.links, self._target, self._spec.syncs_read_to).states)  # 10
        self._assign()
        deadline = time.monotonic() + self._window_left_s()
        while True:
            moved = self._transaction()
            if moved is None:
                continue
            if self._ledger.is_finished or is_told_to_stop():
                break
            if self._spec.window_s and time.monotonic() >= deadline and self._ledger.is_drained:
                break
            self._watch()
        return SlotResult(slot=self._spec.slot, partitions=self._ledger.results())

    def _window_left_s(self) -> float:
        """The window is the run's: an attempt that starts late, behind one that died, has what is left of it.

        The clock is another machine's than the driver's, so what it says is held within the window.
        """
        passed_s = time.time() - self._spec.planned_at_ms / 1000
        return min(max(self._spec.window_s - passed_s, 0.0), self._spec.window_s)

    def _assign(self) -> None:
        self._engine.assign(self._ledger.ranges(), self._ledger.suspects, careful=self._ledger.is_careful)  # 11

    def _transaction(self) -> Moved | None:
        """Move and commit once; None when it was aborted and everything is set to be tried again."""
        limits = Limits(byte_count=self._spec.commit_bytes, seconds=self._spec.commit_interval_s)
        try:
            moved = self._engine.move(limits)  # 12, 13
            changed = changed_topics(self._spec, self._ledger.advancing(moved), self._source, self._target)
            if changed:  # 14: nothing read from a topic made anew, or written to one, may be committed
                self._engine.abort()
                self._ledger.stop(changed)
                self._assign()
                return None
            self._engine.commit(self._ledger.draft(moved, self._remote_ends(moved)))
        except Refusal as refusal:
            self._give_up_on(refusal)
            return None
        except Abortable as error:
            self._retreat(error)
            return None
        self._aborts_in_a_row = 0
        published = self._ledger.accept()
        if self._publisher is not None:
            self._publisher.append(published)
        self._after(moved)
        return moved

    def _remote_ends(self, moved: Moved) -> dict[TopicPartition, int]:
        """Where the remote partitions end that others write too: groups need not go back to our newest record."""
        transformation = self._spec.transformation
        if transformation is None or not transformation.marks_origin:
            return {}
        return self._target.high_watermarks(self._ledger.remote(p) for p in self._ledger.advancing(moved))

    def _after(self, moved: Moved) -> None:
        """Deal with what was met besides records, and leave careful mode once its stretch is committed."""
        if moved.met:
            look_into(self._spec, moved.met, self._ledger, self._source, self._target)
        if moved.met or self._ledger.calm_down():
            self._assign()

    def _give_up_on(self, refusal: Refusal) -> None:
        """A record was refused: find out which by smaller steps, then copy all before it and stop there."""
        self._engine.abort()
        log.info("refused flow=%s slot=%d %s", self._spec.links.flow, self._spec.slot, refusal)
        if refusal.is_exact:
            self._ledger.refuse(refusal)
        else:
            self._ledger.suspect(refusal)
        self._aborts_in_a_row = 0  # the search goes forward: it is no repetition
        self._assign()

    def _retreat(self, error: Abortable) -> None:  # 15
        self._aborts_in_a_row += 1
        log.info("aborted flow=%s slot=%d reason=%s", self._spec.links.flow, self._spec.slot, error)
        if self._aborts_in_a_row > ATTEMPTS:
            raise AttemptsExhausted(
                f"slot {self._spec.slot} of {self._spec.links.flow} aborted {ATTEMPTS} transactions in a row: {error}",
                cluster=self._spec.links.target,
            ) from error
        self._engine.abort()
        if error.is_refusal or self._aborts_in_a_row > ATTEMPTS // 2:
            self._ledger.be_careful()
        self._assign()

    def _watch(self) -> None:
        """A topic that is gone says nothing at all: when all is silent, ask."""
        now = time.monotonic()
        if self._ledger.advanced:
            self._progress_at = self._asked_at = now
            return
        if now - self._asked_at > STALL_S:
            self._asked_at = now
            changed = changed_topics(self._spec, self._ledger.open, self._source, self._target)
            if changed:
                self._ledger.stop(changed)
                self._assign()
        is_due = not self._spec.window_s or not self._ledger.is_drained
        if is_due and now - self._progress_at > PATIENCE_S:
            self._ledger.stop(dict.fromkeys(self._ledger.open, self._silence()))

    def _silence(self) -> AttemptsExhausted:
        links = self._spec.links
        return AttemptsExhausted(
            f"cluster {links.source} sent nothing for {PATIENCE_S:.0f} s",
            cluster=links.source,
            next_step=f"airmirror lag '{links.flow}'",
        )
