"""Writes states outside a copy: under the claim, with the flow's own transactional id, all of them or none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mirror.copy.claim import HeldClaim
from mirror.copy.control import Control
from mirror.copy.spec import FlowLinks, transactional_id
from mirror.errors import AttemptsExhausted, FencedByNewerRun
from mirror.kafka.writer import BATCH_BYTES, Abortable, TransactionalWriter
from mirror.wire.partition_state import PartitionState


class StateWriter:
    """One writer of a claimed flow's states; `who` names it to the brokers."""

    def __init__(self, links: FlowLinks, who: str) -> None:
        self._links = links
        self._writer = TransactionalWriter(
            links.target,
            {**links.target_producer, "client.id": f"airmirror|{links.flow}|{who}"},
            transactional_id=transactional_id(links.flow_key, 0),
            timeout_ms=links.transaction_timeout_ms,
            batch_bytes=BATCH_BYTES,
        )

    def open(self, control: Control, claim: HeldClaim) -> None:
        """Own the id, then look whether the claim still stands: a newer run that claimed before that fenced too early
        to lock us out."""
        self._writer.init()
        require_claim(self._links, control, claim)

    def write(self, states: Iterable[PartitionState]) -> None:
        syncs, errors = self._links.syncs, list[Any]()

        def delivered(error: Any, _: Any) -> None:
            if error is not None:
                errors.append(error)

        try:
            self._writer.begin()
            for state in states:
                self._writer.produce(syncs.topic, state.encode_value(), state.encode_key(), syncs.partition, delivered)
            self._writer.flush()
            if errors:
                raise self._writer.meaning_of(errors[0], "write positions")
            self._writer.commit()
        except Abortable as error:
            self._writer.abort(sent=True)
            raise AttemptsExhausted(
                f"cluster {self._links.target} did not take the new positions, nothing was changed: {error}",
                next_step="run this again",
                cluster=self._links.target,
            ) from error

    def close(self) -> None:
        self._writer.close()


def require_claim(links: FlowLinks, control: Control, claim: HeldClaim) -> None:
    """Raise if another run took the flow over since."""
    newest = control.read(start=claim.read_to).claim
    if newest is not None and newest.run != claim.claim.run:
        raise FencedByNewerRun(
            f"run {newest.run} took {links.flow} over; nothing was changed", flow=links.flow, run=newest.run
        )
