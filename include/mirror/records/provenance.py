"""Which clusters a record has been on: one header, written by each copy, so that no record comes back.

    airmirror.provenance: east          written on east, copied from there
    airmirror.provenance: east,hub      written on east, then on hub, copied from there

The first is the origin; the cluster that holds the record is not in it. A record without the header was written where
it is.
"""

from __future__ import annotations

from typing import Any

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.records.record import Headers, Record
from mirror.records.routes import Place, Routes, routes_of, without_clients

HEADER = "airmirror.provenance"
# Aliases have neither commas nor blanks.
_BETWEEN = ","


def path_of(headers: Headers) -> tuple[str, ...]:
    """The clusters that a record was on before the one that holds it, its origin first."""
    for name, value in reversed(headers):
        if name == HEADER:
            return tuple(filter(None, (value or b"").decode("utf-8", "replace").split(_BETWEEN)))
    return ()


class Provenance:
    """What one flow does by it: leaves out what its target has or gets another way, and marks the rest."""

    def __init__(self, flow: Flow, routes: Routes) -> None:
        self._flow = flow
        self._routes = routes
        self._ours: dict[tuple[tuple[str, ...], str], bool] = {}
        self._marks: dict[tuple[str, ...], tuple[str, bytes]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Provenance, (self._flow, self._routes)

    def is_left_out(self, record: Record, path: tuple[str, ...]) -> bool:
        """Whether the record has been on the target, or comes to it by another flow."""
        if not path:
            return False
        return self._flow.target in path or not self._is_ours(path, record.topic)

    def marked(self, record: Record, path: tuple[str, ...]) -> Record:
        """The record with the source added to its path; behind its other headers."""
        mark = self._marks.get(path)
        if mark is None:
            mark = self._marks[path] = (HEADER, _BETWEEN.join((*path, self._flow.source)).encode())
        others = [pair for pair in record.headers if pair[0] != HEADER] if path else record.headers
        topic, remote_topic, partition, offset, key, value, _, timestamp_ms = record
        # Once per record: _replace takes three times as long.
        return Record(topic, remote_topic, partition, offset, key, value, (*others, mark), timestamp_ms)

    def brought(self, headers: Headers) -> bool:
        """Whether a record of the target was copied by this flow: its last cluster is the source."""
        return path_of(headers)[-1:] == (self._flow.source,)

    def _is_ours(self, path: tuple[str, ...], topic: str) -> bool:
        """Whether it is this flow that brings an origin's records to the target; also where none is known to."""
        if (path, topic) not in self._ours:
            origin = Place(path[0], self._written_as(topic, len(path)))
            step = self._routes.step_to(self._flow.target, origin)
            self._ours[path, topic] = step is None or step[0] == (self._flow.source, topic)
        return self._ours[path, topic]

    def _written_as(self, topic: str, hop_count: int) -> str:
        """The name that the topic had where the record was written."""
        policy = naming.policy_of(self._flow)
        for _ in range(hop_count):
            topic = policy.upstream_topic(topic) or topic
        return topic


def provenance_of(flow: Flow) -> Provenance | None:
    """None where the file does not ask for it."""
    return Provenance(without_clients(flow), routes_of(flow)) if flow[opt.PROVENANCE_HEADERS] else None
