"""Walks over made-up partitions: what the source has, what the target has, and what a comparison says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mirror.verify.entries import Batch, Content, Stream, content_of
from mirror.verify.findings import Findings, Rules
from mirror.verify.offset_map import OffsetMap
from mirror.verify.walk import Walk
from mirror.wire.history import HistoryBuilder
from mirror.wire.partition_state import PartitionState


class Record(NamedTuple):
    offset: int
    key: bytes | None = None
    value: bytes | None = b""
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int = 1_000

    @property
    def content(self) -> Content:
        return content_of(self.key, self.value, self.headers, self.timestamp_ms)


def numbered(count: int, *, start: int = 0) -> list[Record]:
    """Records that can be told apart, at consecutive offsets."""
    return [
        Record(n, b"key-%d" % n, b"value-%d" % n, (("h", b"%d" % n),), 1_000 + n) for n in range(start, start + count)
    ]


def moved_to(records: Sequence[Record], first: int = 0) -> list[Record]:
    """The same records at consecutive offsets from `first` on."""
    return [record._replace(offset=first + n) for n, record in enumerate(records)]


def state_of(pairs: Sequence[tuple[int, int]], *, position: int, cap: int = 256) -> PartitionState:
    """The state that a copy of these upstream to these downstream offsets leaves."""
    draft = HistoryBuilder(cap=cap)
    for upstream, downstream in pairs:
        draft.append_run(upstream, 1, downstream, 1)
    last = pairs[-1] if pairs else (position, 0)
    return PartitionState(
        topic="t",
        partition=0,
        upstream_offset=last[0],
        downstream_offset=last[1],
        position=position,
        history=draft.freeze(),
        has_record=bool(pairs),
        run="run",
    )


def stream(records: Sequence[Record], batch: int = 1000) -> Stream:
    def batches() -> Iterator[Batch]:
        for at in range(0, len(records), batch):
            part = records[at : at + batch]
            yield [r.offset for r in part], [r.content for r in part]

    return Stream(batches())


def compare(
    here: Sequence[Record],
    there: Sequence[Record],
    state: PartitionState | None = None,
    *,
    batch: int = 1000,
    **rules: object,
) -> Findings:
    """Walk along both; without a state, the map says that offsets are the same on both sides."""
    end = max((r.offset for r in (*here, *there)), default=-1) + 1
    state = state or state_of([(n, n) for n in range(end)], position=end)
    findings = Findings(Rules(map=OffsetMap(state), **rules))  # type: ignore[arg-type]
    Walk(stream(here, batch), stream(there, batch), findings).run()
    return findings


def told(findings: Findings) -> list[tuple[str, int | None, int | None]]:
    """The first differences: kind, upstream, downstream."""
    return [(d.kind, d.upstream, d.downstream) for d in findings.first]
