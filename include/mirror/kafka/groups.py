"""One cluster with its consumer groups: which there are, what they committed, whether somebody uses them."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from confluent_kafka import OFFSET_INVALID, ConsumerGroupState, ConsumerGroupTopicPartitions, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientTopicPartition

from mirror.errors import ClusterBusy, GroupInUse, GroupRefused, MirrorError
from mirror.kafka.cluster import REQUEST_TIMEOUT_S, Cluster
from mirror.kafka.errors import error_of
from mirror.kafka.values import TopicPartition

T = TypeVar("T")

# Requests about single groups on their way at once: the client takes one group per call, and one after the other a
# thousand groups would take minutes; many more would only queue at the coordinators.
IN_FLIGHT = 64
# Groups per describe request.
DESCRIBE_BATCH = 100
# Seconds to ask again while coordinators load or move: right after a broker's start they answer for no group.
BUSY_S = 30.0


@dataclass(frozen=True, slots=True)
class Committed:
    """What a group committed for one partition: the next offset it would read, and its application's own words."""

    offset: int
    metadata: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupListing:
    """The groups of a cluster: those that commit offsets as consumers do, and all others."""

    consumer: tuple[str, ...]
    # Group: what it is. The classic protocol tells its own kinds; new kinds (share, streams) look alike to the client.
    other: Mapping[str, str]


Offsets = dict[TopicPartition, Committed]


class GroupCluster(Cluster):
    """A cluster and its groups; what fails for one group is a value, and the others are answered."""

    def groups(self) -> GroupListing:
        """Every group that a broker knows; a broker that does not answer is an error, not fewer groups."""
        found = self._call(
            "list groups", lambda: self._client.list_consumer_groups(request_timeout=REQUEST_TIMEOUT_S).result()
        )
        for error in found.errors:
            inner: KafkaError = error.args[0] if isinstance(error, KafkaException) else error
            raise error_of(inner, "list groups", self.alias) or ClusterBusy(
                f"could not list the groups of cluster {self.alias}: {inner.str()}", cluster=self.alias
            )
        consumer = {group.group_id for group in found.valid}
        with warnings.catch_warnings():
            # Deprecated for consumer groups; nothing else of this client shows that the other kinds exist.
            warnings.simplefilter("ignore", DeprecationWarning)
            everything = self._call("list groups", lambda: self._client.list_groups(timeout=REQUEST_TIMEOUT_S))
        other = {str(g.id): str(g.protocol_type) for g in everything if g.id not in consumer}
        return GroupListing(consumer=tuple(sorted(consumer)), other=dict(sorted(other.items())))

    def committed(self, groups: Iterable[str]) -> dict[str, Offsets | MirrorError]:
        """What each group committed; a group that does not exist committed nothing."""

        def ask(group: str) -> Future[Any]:
            request = [ConsumerGroupTopicPartitions(group)]
            return self._client.list_consumer_group_offsets(request, request_timeout=REQUEST_TIMEOUT_S)[group]

        def read(group: str, answer: Any) -> Offsets:
            offsets: Offsets = {}
            for entry in answer.topic_partitions:
                if entry.error is not None:
                    raise self._group_error(entry.error, f"read the offsets of group {group}", group)
                # Kafka's "no offset" is -1, the client's OFFSET_INVALID.
                if entry.offset >= 0 and entry.offset != OFFSET_INVALID:
                    offsets[TopicPartition(entry.topic, entry.partition)] = Committed(
                        int(entry.offset), entry.metadata or ""
                    )
            return offsets

        return self._for_each(groups, "read the offsets of group", ask, read)

    def idle(self, groups: Iterable[str]) -> dict[str, bool | MirrorError]:
        """Whether nobody uses the group: it is empty, or does not exist."""
        names = sorted(set(groups))
        futures: dict[str, Future[Any]] = {}
        for start in range(0, len(names), DESCRIBE_BATCH):
            batch = names[start : start + DESCRIBE_BATCH]
            futures.update(self._client.describe_consumer_groups(batch, request_timeout=REQUEST_TIMEOUT_S))

        def ask(group: str) -> Future[Any]:
            again = futures.pop(group, None)
            if again is not None:
                return again
            return self._client.describe_consumer_groups([group], request_timeout=REQUEST_TIMEOUT_S)[group]

        def read(_: str, answer: Any) -> bool:
            return answer.state in (ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD)

        return self._for_each(names, "describe group", ask, read)

    def has_members(self, group: str) -> bool:
        """Whether anybody is in a group of any kind, such as Connect's workers: `idle` knows consumers' groups only."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # as above: nothing else shows other kinds of groups
            found = self._call("look at a group", lambda: self._client.list_groups(group, timeout=REQUEST_TIMEOUT_S))
        return any(str(one.id) == group and len(one.members) > 0 for one in found)

    def alter(
        self, offsets: Mapping[str, Mapping[TopicPartition, Committed]]
    ) -> dict[str, dict[TopicPartition, MirrorError | None] | MirrorError]:
        """Write offsets into groups that nobody uses; per partition None or why the brokers did not take it."""

        def ask(group: str) -> Future[Any]:
            entries = [
                # The client's strings end at a NUL, and some writers' metadata ends with one.
                ClientTopicPartition(p.topic, p.partition, c.offset, metadata=c.metadata.partition("\0")[0])
                for p, c in offsets[group].items()
            ]
            request = [ConsumerGroupTopicPartitions(group, entries)]
            return self._client.alter_consumer_group_offsets(request, request_timeout=REQUEST_TIMEOUT_S)[group]

        def read(group: str, answer: Any) -> dict[TopicPartition, MirrorError | None]:
            outcome: dict[TopicPartition, MirrorError | None] = {}
            for entry in answer.topic_partitions:
                action = f"set the offset of group {group} on {entry.topic}-{entry.partition}"
                error = None if entry.error is None else self._group_error(entry.error, action, group)
                if isinstance(error, ClusterBusy):
                    raise error  # of the group's coordinator, so of all its partitions: asked again as a whole
                outcome[TopicPartition(entry.topic, entry.partition)] = error
            return outcome

        return self._for_each(offsets, "set offsets of group", ask, read)

    def delete(self, groups: Iterable[str]) -> dict[str, bool | MirrorError]:
        """Delete groups that nobody uses, with their offsets; False for one that does not exist."""

        def ask(group: str) -> Future[Any]:
            return self._client.delete_consumer_groups([group], request_timeout=REQUEST_TIMEOUT_S)[group]

        def read(_: str, __: Any) -> bool:
            return True

        outcome = self._for_each(groups, "delete group", ask, read)
        gone = KafkaError(KafkaError.GROUP_ID_NOT_FOUND).name()
        return {
            group: False if isinstance(answer, MirrorError) and answer.about.get("code") == gone else answer
            for group, answer in outcome.items()
        }

    def _for_each(
        self, groups: Iterable[str], action: str, ask: Callable[[str], Future[Any]], read: Callable[[str, Any], T]
    ) -> dict[str, T | MirrorError]:
        """Ask about each group, many at once, again those whose coordinator is busy."""
        done: dict[str, T | MirrorError] = {}
        waiting = deque(sorted(set(groups)))
        give_up = time.monotonic() + BUSY_S
        while waiting:
            busy: list[str] = []
            asked: deque[tuple[str, Future[Any]]] = deque()
            while waiting or asked:
                while waiting and len(asked) < IN_FLIGHT:
                    group = waiting.popleft()
                    asked.append((group, ask(group)))
                group, future = asked.popleft()
                done[group] = answer = self._answer(group, f"{action} {group}", future, read)
                if isinstance(answer, ClusterBusy) and time.monotonic() < give_up:
                    busy.append(group)
            if busy:
                self._client.poll(0.2)
            waiting = deque(busy)
        return done

    def _answer(self, group: str, action: str, future: Future[Any], read: Callable[[str, Any], T]) -> T | MirrorError:
        try:
            return read(group, self._call(action, future.result))
        except MirrorError as error:
            return error
        except KafkaException as error:
            return self._group_error(error.args[0], action, group)

    def _group_error(self, error: KafkaError, action: str, group: str) -> MirrorError:
        about = {"cluster": self.alias, "group": group, "code": error.name()}
        message = f"could not {action} on cluster {self.alias}: {error.name()}: {error.str()}"
        if error.code() in _IN_USE:
            return GroupInUse(message, next_step="stop its consumers there, then run this again", **about)
        known = error_of(error, action, self.alias)
        if known is not None:
            return type(known)(known.message, next_step=known.next_step, **about)
        return GroupRefused(message, **about)


# What brokers answer when a group that has members is written to from outside.
_IN_USE = (
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.NON_EMPTY_GROUP,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.FENCED_MEMBER_EPOCH,
    KafkaError.STALE_MEMBER_EPOCH,
)
