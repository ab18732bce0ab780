"""Copies a flow to its source's very end, and sees that the end does not move."""

from __future__ import annotations

from collections.abc import Callable

from mirror.config import Flow
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import Executor
from mirror.copy.links import links_of
from mirror.copy.look import Look, look
from mirror.copy.progress import Progress
from mirror.copy.survey import view_source
from mirror.errors import CopyIncomplete, StillWritten
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.operations.silence import Ends, grown, growth, told

# Copies before a source that grows is given up: the first takes most, the others what came meanwhile.
PASSES = 4


class Drain:
    """The last copies of a planned failover."""

    def __init__(self, flow: Flow, progress: Progress, executor: Callable[[], Executor], *, silence_s: float) -> None:
        self._flow = flow
        self._progress = progress
        self._executor = executor
        self._silence_s = silence_s
        self._links = links_of(flow)

    def look(self, may_grow: bool) -> None:
        """Refuse before anything is changed: partitions that cannot be copied, producers that still write."""
        seen = look(self._flow)
        _refuse_stopped(self._flow, seen)
        with Cluster(self._flow.source, self._links.source_admin) as source:
            found = {} if may_grow else growth(lambda: self._ends(source), self._silence_s)
        if found:
            raise self._still_written(found, "nothing was changed")

    def to_the_end(self, operation: str, may_grow: bool) -> str:
        """Copy until the source's end is reached and does not move; a note where it may."""
        with Cluster(self._flow.source, self._links.source_admin) as source:
            if may_grow:
                left = self._pass(operation, source)
                return f"{self._flow.source} was not asked to be silent: what came behind the last copy stays there" + (
                    f", at that time {told(left)}" if left else ""
                )
            found: dict[TopicPartition, int] = {}
            for _ in range(PASSES):
                left = self._pass(operation, source)
                # Both: the end that was copied to, and what arrives while it is watched.
                found = growth(lambda: self._ends(source), self._silence_s) | left
                if not found:
                    return ""
        raise self._still_written(found, f"{self._flow.id} goes forward again")

    def _pass(self, operation: str, source: Cluster) -> dict[TopicPartition, int]:
        """One copy; gives what it left behind, by the source's ends as of after it."""
        request = CopyRequest(operation=operation, on_held="take-over")
        result = run_copy(self._flow, request, self._executor, self._progress)
        result.raise_if_incomplete()
        positions = {p.partition: p.end for p in result.partitions}
        return grown(positions, self._ends(source))

    def _ends(self, source: Cluster) -> Ends:
        """High watermarks, so that a hanging transaction shows as well."""
        return view_source(self._flow, source).ends

    def _still_written(self, found: dict[TopicPartition, int], consequence: str) -> StillWritten:
        return StillWritten(
            f"cluster {self._flow.source} still gets records, or has open transactions: {told(found)}; {consequence}",
            next_step=f"stop its producers, then run this again; or airmirror failover '{self._flow.id}' "
            "--producers-still-write, which leaves behind what they write from now on",
            cluster=self._flow.source,
            flow=self._flow.id,
        )


def _refuse_stopped(flow: Flow, seen: Look) -> None:
    stopped = seen.judgement.stopped
    if stopped or seen.judgement.waiting:
        reasons = [str(error.message) for error in stopped.values()] + list(seen.judgement.waiting.values())
        raise CopyIncomplete(
            f"{flow.id} cannot be copied to its end: {'; '.join(reasons[:5])}",
            next_step=next((e.next_step for e in stopped.values() if e.next_step), f"airmirror topics '{flow.id}'"),
            flow=flow.id,
        )
