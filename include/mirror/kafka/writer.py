"""A transactional producer whose every failure has one of three meanings: abort, try the call again, or stop."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from mirror.errors import AttemptsExhausted, ClusterUnreachable, FencedByNewerRun, TryAgain
from mirror.kafka.client_log import CLIENT_LOG
from mirror.kafka.connection import Connection, making_a_client
from mirror.kafka.errors import DENIED, FENCED, REFUSED, error_of, kafka_error_in

log = logging.getLogger(__name__)

# Bytes of one record that the client lets pass: its maximum. It looks at the uncompressed size, the broker at the
# compressed one; with a smaller limit a well compressible record that the target would take is refused by the client.
CLIENT_RECORD_LIMIT_BYTES = 1_000_000_000
# Bytes of one uncompressed batch, unless a topic's limit is lower: larger ones were not faster.
BATCH_BYTES = 1_000_000
# Seconds for the coordinator to load, or to abort what a predecessor left open.
INIT_TIMEOUT_S = 120.0
CALL_TIMEOUT_S = 30.0
# Seconds after which a flush looks whether there is anything left to wait for.
DRAIN_STEP_S = 0.5

# What the client says of records that it gave up because another one of the same transaction failed.
_PURGED = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)

# And of one that came later still. What failed the transaction is asked of the transaction itself.
_CONSEQUENCES = (*_PURGED, KafkaError._STATE)

Delivered = Callable[[KafkaError | None, Message], None]


class Abortable(Exception):
    """The open transaction must be aborted; `is_refusal` when a record in it can never be taken."""

    def __init__(self, error: KafkaError | None, message: str = "") -> None:
        super().__init__(message or (error.str() if error else ""))
        self.code = error.name() if error else ""
        self.is_refusal = error is not None and error.code() in REFUSED


class TransactionalWriter:
    """One transactional id on the target; whoever initialises it later locks this one out."""

    def __init__(
        self, alias: str, settings: Mapping[str, Any], *, transactional_id: str, timeout_ms: int, batch_bytes: int
    ) -> None:
        self.alias = alias
        self.transactional_id = transactional_id
        self._timeout_s = timeout_ms / 1000
        defaults: dict[str, Any] = {
            "linger.ms": 20,
            "batch.num.messages": 100_000,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 128 * 1024,
            "compression.type": "lz4",
        }
        required: dict[str, Any] = {
            "transactional.id": transactional_id,
            "transaction.timeout.ms": timeout_ms,
            "enable.idempotence": True,
            "acks": "all",
            "message.max.bytes": CLIENT_RECORD_LIMIT_BYTES,
            "batch.size": min(batch_bytes, int(settings.get("batch.size", BATCH_BYTES))),
        }
        self._connection = Connection(alias, settings.get("logger", CLIENT_LOG))
        with making_a_client(alias, settings):
            self._producer = Producer({**defaults, **settings, **required, **self._connection.settings()})
        # produce(topic, value, key, partition, callback, on_delivery, timestamp, headers): the bare method, since the
        # copy loop calls it once per record.
        self.produce = self._producer.produce
        self._in_transaction = False

    def close(self) -> None:
        """Forget what is queued. The client aborts an open transaction if it can; else the id's next owner does."""
        self._producer.purge()
        try:
            # A writer that was fenced says so once more: whoever closes it knows already, or is on the way out.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                self._producer.close()
        except (KafkaException, SystemError) as error:
            log.debug("closed transactional_id=%s last_word=%s", self.transactional_id, error)

    def init(self) -> None:
        """Own the id: abort what a predecessor left open and lock it out."""
        give_up = time.monotonic() + INIT_TIMEOUT_S
        with self._named("initialise transactions"):
            # Connects at once, where init alone waits half a second more; and ends early where brokers refuse us.
            self._connection.first_answer(
                "initialise transactions",
                lambda: self._producer.list_topics(timeout=CALL_TIMEOUT_S),
                self._producer.poll,
            )
        while True:
            try:
                with self._named("initialise transactions"):
                    self._producer.init_transactions(CALL_TIMEOUT_S)
                    return
            except _Retriable as error:
                if time.monotonic() > give_up:
                    raise ClusterUnreachable(
                        f"{self.transactional_id} could not be initialised on {self.alias}: {error}", cluster=self.alias
                    ) from error

    def begin(self) -> None:
        if not self._in_transaction:
            with self._named("begin a transaction"):
                self._producer.begin_transaction()
            self._in_transaction = True

    def poll(self, seconds: float) -> None:
        """Serve delivery reports; the client may also say here that another owner of the id locked it out."""
        with self._named("write records"):
            self._producer.poll(seconds)

    def flush(self) -> None:
        """Wait until every record is acknowledged; one that is not in time makes the transaction abortable."""
        left = self._drain(self._timeout_s, "flush")
        if left:
            raise Abortable(None, f"{left} records were not acknowledged within {self._timeout_s:.0f} s")

    def _drain(self, timeout_s: float, action: str) -> int:
        """Send what is queued; how many records are left when the time is over, or the transaction failed.

        Once a batch is refused, the client holds back all that is queued behind it until it times out: a plain flush
        would wait for a minute, and then tell of the records that waited instead of the one that was refused.
        """
        give_up = time.monotonic() + timeout_s
        while True:
            with self._named(action):
                left = self._producer.flush(min(DRAIN_STEP_S, timeout_s))
            if not left or time.monotonic() > give_up:
                return left
            failed = self._failed_by()
            if failed is not None:
                raise Abortable(failed)

    def _failed_by(self) -> KafkaError | None:
        """Why the open transaction must be aborted, if it must."""
        answer = self._answer()
        return answer if answer is not None and answer.txn_requires_abort() else None

    def _answer(self) -> KafkaError | None:
        """What is the matter with the open transaction. The client has no question for it, but refuses to begin
        another one with the answer; nothing else comes of asking that way."""
        try:
            self._producer.begin_transaction()
        except KafkaException as error:
            inner: KafkaError = error.args[0]
            return inner
        return None

    def commit(self) -> None:
        self._until_done("commit a transaction", self._producer.commit_transaction)
        self._in_transaction = False

    def abort(self, *, sent: bool) -> None:
        """Give up the open transaction; `sent` says whether any record was handed to the client in it."""
        if not self._in_transaction:
            return
        if not sent and self._failed_by() is None:
            # The broker does not know the transaction yet: its abort would be a fatal error, and there is
            # nothing that a commit could make visible.
            self.commit()
            return
        try:
            self._drain(5.0, "flush before an abort")
        except Abortable:
            pass  # that is why it is aborted
        self._until_done("abort a transaction", self._producer.abort_transaction)
        self._in_transaction = False

    def _until_done(self, action: str, call: Callable[[float], None]) -> None:
        give_up = time.monotonic() + max(self._timeout_s, CALL_TIMEOUT_S)
        while True:
            try:
                with self._named(action):
                    call(CALL_TIMEOUT_S)
                    return
            except _Retriable as error:
                if time.monotonic() > give_up:
                    raise AttemptsExhausted(
                        f"could not {action} on {self.alias}: {error}", cluster=self.alias
                    ) from error

    @contextmanager
    def _named(self, action: str) -> Iterator[None]:
        try:
            yield
        except (KafkaException, SystemError) as error:
            inner = kafka_error_in(error)
            if inner is None and self._in_transaction:
                inner = self._answer()  # a fatal error that comes in mid-call is sometimes told without its words
            if inner is None:
                raise
            raise self.meaning_of(inner, action) from error

    def meaning_of(self, error: KafkaError, action: str) -> Exception:
        """What an error of the client asks for: a fatal flag alone is not to be relied upon."""
        if error.code() in DENIED:
            return error_of(error, action, self.alias) or AttemptsExhausted(error.str())
        if error.code() in FENCED or error.fatal() or error.code() == KafkaError._FATAL:
            return FencedByNewerRun(
                f"could not {action} on {self.alias}: {error.name()}: {error.str()}",
                cluster=self.alias,
                transactional_id=self.transactional_id,
            )
        if error.txn_requires_abort() or error.code() in REFUSED:
            return Abortable(error)
        if error.code() in _CONSEQUENCES and self._in_transaction:
            failed = self._failed_by()
            if failed is not None or error.code() in _PURGED:
                return Abortable(failed or error)
        if error.retriable() or error.code() == KafkaError._TIMED_OUT:
            return _Retriable(error.str())
        return error_of(error, action, self.alias) or AttemptsExhausted(
            f"could not {action} on {self.alias}: {error.name()}: {error.str()}", cluster=self.alias
        )

    def meaning_of_report(self, error: KafkaError, action: str) -> Exception:
        """What a bad delivery report asks for: its record is not in the transaction, so another call cannot mend it."""
        meaning = self.meaning_of(error, action)
        return Abortable(error) if isinstance(meaning, (TryAgain, _Retriable)) else meaning


class _Retriable(Exception):
    """The same call is to be made again."""
