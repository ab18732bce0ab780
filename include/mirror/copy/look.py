"""A look without touching anything: is there something to copy, is something wrong?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.first_positions import undecided
from mirror.copy.judge import Judgement, foreign_data, judge
from mirror.copy.links import links_of
from mirror.copy.spec import FlowLinks
from mirror.copy.survey import SourceView, Survey, survey
from mirror.errors import PositionUnknown
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.topics import ensure_internal
from mirror.wire.control import SourceEnds


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a run would find now."""

    survey: Survey
    judgement: Judgement
    undecided: tuple[TopicPartition, ...]
    topics: re.Pattern[str] | None

    def _asked(self, topic: str) -> bool:
        return self.topics is None or self.topics.fullmatch(topic) is not None

    @property
    def offsets_to_copy(self) -> int:
        """Offsets between position and stable end; an upper bound of the records among them."""
        due = sum(s.end - s.position for s in self.judgement.due if self._asked(s.partition.topic))
        fresh = sum(
            self.survey.source.stable_ends[p] - self.survey.source.log_starts[p]
            for p in self.undecided
            if self._asked(p.topic)
        )
        return due + fresh

    @property
    def needs_slots(self) -> bool:
        """Whether records, or gaps, are to be written; Spark is started for that alone."""
        gaps = any(s.gap for s in self.judgement.due if self._asked(s.partition.topic))
        return self.offsets_to_copy > 0 or gaps

    @property
    def has_work(self) -> bool:
        return self.needs_slots or bool(self.undecided) or self.survey.control.started is None

    @property
    def ends_changed(self) -> bool:
        """Whether the source grew, or shrank, since its ends were last written down."""
        seen = self.survey.control.source_ends
        now = source_ends_by_topic(self.survey.source)
        return any(topic not in seen or dict(seen[topic].ends) != ends for topic, ends in now.items())

    def to_json(self) -> dict[str, Any]:
        return {
            "offsets_to_copy": self.offsets_to_copy,
            "partitions_due": len([s for s in self.judgement.due if self._asked(s.partition.topic)]),
            "partitions_new": len(self.undecided),
            "stopped": [error.to_json() for error in self.judgement.stopped.values()],
            "waiting": dict(self.judgement.waiting),
        }


def look(flow: Flow, topics: re.Pattern[str] | None = None) -> Look:
    """Look at both clusters of a flow."""
    links = links_of(flow)
    source, target = Cluster(flow.source, links.source_admin), Cluster(flow.target, links.target_admin)
    ensure_internal(flow, target)
    return look_at(flow, links, source, target, topics)


def look_at(flow: Flow, links: FlowLinks, source: Cluster, target: Cluster, topics: re.Pattern[str] | None) -> Look:
    seen = survey(flow, links, source, target)
    judgement = judge(flow, links, seen)
    fresh = undecided(seen)
    foreign = foreign_data(links, seen, fresh) if flow[opt.ON_FOREIGN_DATA] == "fail" else {}
    # A partition without a first position is not stopped: the next run decides it.
    stopped = {p: e for p, e in judgement.stopped.items() if not isinstance(e, PositionUnknown)}
    return Look(
        survey=seen,
        judgement=Judgement(ready=judgement.ready, stopped={**stopped, **foreign}, waiting=judgement.waiting),
        undecided=tuple(p for p in fresh if p not in foreign),
        topics=topics,
    )


def source_ends(links: FlowLinks, source: SourceView) -> list[SourceEnds]:
    """The source's ends as they are to be remembered: all that is left of it on the day it burns."""
    stable = _by_topic(source, source.stable_ends)
    return [
        SourceEnds(flow=links.flow_key, topic=topic, at_ms=source.at_ms, ends=ends, stable=stable.get(topic, {}))
        for topic, ends in source_ends_by_topic(source).items()
    ]


def source_ends_by_topic(source: SourceView) -> dict[str, dict[int, int]]:
    return _by_topic(source, source.ends)


def _by_topic(source: SourceView, offsets: dict[TopicPartition, int]) -> dict[str, dict[int, int]]:
    by_topic: dict[str, dict[int, int]] = {}
    for partition in source.partitions:
        if partition in offsets:
            by_topic.setdefault(partition.topic, {})[partition.partition] = offsets[partition]
    return by_topic
