"""What a flow's topics need: plans that can be read before they are carried out, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from mirror.errors import MirrorError, TopicRefused, TryAgain
from mirror.kafka.values import ConfigEntry, NewTopic, TopicDescription
from mirror.selection import Decision

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """What was read from one cluster: its topics, the settings of those that matter, and its own limits."""

    alias: str
    topics: Mapping[str, TopicDescription]
    configs: Mapping[str, Mapping[str, ConfigEntry]]
    broker_count: int
    max_message_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """A topic to create, and on which cluster; `upstream_topic` is empty for internal topics."""

    cluster: str
    topic: NewTopic
    upstream_topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A remote topic that has fewer partitions than its upstream topic."""

    topic: str
    upstream_topic: str
    partition_count_now: int
    partition_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlan:
    """What is missing on the target, and on the source where MM2's offset syncs live there.

    As JSON it is small enough for Airflow to pass on: of the decisions only the refused ones travel.
    """

    flow: str
    source: str
    target: str
    creations: tuple[Creation, ...]
    growths: tuple[Growth, ...]
    decisions: tuple[Decision, ...]
    notices: tuple[str, ...]
    topic_count: int
    selected_count: int

    @property
    def is_empty(self) -> bool:
        return not self.creations and not self.growths

    @property
    def refused(self) -> tuple[Decision, ...]:
        return tuple(decision for decision in self.decisions if decision.refused)

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow,
            "source": self.source,
            "target": self.target,
            "topic_count": self.topic_count,
            "selected_count": self.selected_count,
            "create": [asdict(creation) for creation in self.creations],
            "grow": [asdict(growth) for growth in self.growths],
            "refused": [asdict(decision) for decision in self.refused],
            "notices": list(self.notices),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TopicPlan:
        """The plan as it was, without the decisions about topics that nothing is to be done about."""
        return cls(
            flow=document["flow"],
            source=document["source"],
            target=document["target"],
            creations=tuple(Creation(**{**item, "topic": NewTopic(**item["topic"])}) for item in document["create"]),
            growths=tuple(Growth(**item) for item in document["grow"]),
            decisions=tuple(Decision(**item) for item in document["refused"]),
            notices=tuple(document["notices"]),
            topic_count=document["topic_count"],
            selected_count=document["selected_count"],
        )


@dataclass(frozen=True, slots=True)
class Switched:
    """A part that the file switches off, and the line that does."""

    off: str

    def failure(self) -> None:
        return None

    def to_json(self) -> dict[str, Any]:
        return {"off": self.off}


def unless_off(off: str, step: Callable[[], T]) -> T | Switched | MirrorError:
    """The step's outcome; that it is switched off, or could not be done, is told beside the others' outcomes."""
    if off:
        return Switched(off)
    try:
        return step()
    except MirrorError as error:
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFailure:
    """A topic that could not be made as it should be; the others were."""

    cluster: str
    topic: str
    error: MirrorError

    def to_json(self) -> dict[str, Any]:
        return {"cluster": self.cluster, "topic": self.topic, **self.error.to_json()}


def joint_failure(flow: str, failures: Sequence[TopicFailure]) -> MirrorError | None:
    """One error for all topics that failed; None if none did.

    It can be tried again only if every failure can: a schedule brings the others back anyway.
    """
    if not failures:
        return None
    lines = list(dict.fromkeys(f"{failure.topic}: {failure.error.message}" for failure in failures))
    topics = list(dict.fromkeys(failure.topic for failure in failures))
    count = "1 topic is" if len(topics) == 1 else f"{len(topics)} topics are"
    message = f"flow {flow}: {count} not as wanted:\n  " + "\n  ".join(lines)
    errors = [failure.error for failure in failures]
    kind = type(errors[0]) if all(isinstance(error, TryAgain) for error in errors) else TopicRefused
    steps = list(dict.fromkeys(error.next_step for error in errors if error.next_step))
    return kind(message, next_step="; ".join(steps), flow=flow, topics=topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSummary:
    """What carrying out a plan changed, and what it could not."""

    flow: str
    created: tuple[Creation, ...]
    grown: tuple[Growth, ...]
    failures: tuple[TopicFailure, ...]
    notices: tuple[str, ...]
    topic_count: int
    selected_count: int

    @property
    def changed_nothing(self) -> bool:
        return not self.created and not self.grown

    def failure(self) -> MirrorError | None:
        """One error for all topics that failed, to raise when the others are done; None if none did."""
        return joint_failure(self.flow, self.failures)

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow,
            "topic_count": self.topic_count,
            "selected_count": self.selected_count,
            "created": [asdict(creation) for creation in self.created],
            "grown": [asdict(growth) for growth in self.grown],
            "failed": [failure.to_json() for failure in self.failures],
            "notices": list(self.notices),
        }
