"""One cluster as an administrator sees it: topics, settings, offsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Self, TypeVar

from confluent_kafka import OFFSET_INVALID, IsolationLevel, KafkaError, KafkaException, TopicCollection
from confluent_kafka import TopicPartition as ClientTopicPartition
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    OffsetSpec,
    ResourceType,
)
from confluent_kafka.admin import NewTopic as ClientNewTopic

from mirror.errors import ClusterBusy, MirrorError
from mirror.kafka.connection import Connection, making_a_client
from mirror.kafka.errors import MISSING, kafka_call
from mirror.kafka.values import ConfigEntry, NewTopic, TopicDescription, TopicPartition

if TYPE_CHECKING:
    from mirror.kafka.forwarding import ForwardingAdmin

T = TypeVar("T")

# Seconds for one administrative request: smaller, and a loaded cluster looks dead; larger, and a dead one hangs us.
REQUEST_TIMEOUT_S = 30.0
# Topics per describe request: a request of many thousands would outgrow the broker's limit.
BATCH = 500
# Seconds to go on asking while a partition has no leader: an election takes a few.
LEADERLESS_S = 8.0
# Seconds to go on asking, and for each request, while its leader says nothing: brokers need nine to see that one died.
SILENT_S = 25.0
OFFSETS_TIMEOUT_S = 10.0
# Seconds for which the client may believe that a topic does not exist, after a broker said so when it came back.
PROPAGATION_S = 35.0

# librdkafka writes topic ids with + and /, Kafka's own tools and our state with - and _: one id must have one text.
_KAFKA_ID_LETTERS = str.maketrans("+/", "-_")
_LEADERLESS = (
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError._TIMED_OUT,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError._NOENT,  # "no leaders found": no partition that was asked for has one
)


class Cluster:
    """Administrative calls on one cluster; every error says what was tried and where."""

    def __init__(self, alias: str, settings: Mapping[str, Any]) -> None:
        self.alias = alias
        self.forwarding: ForwardingAdmin | None = None  # asked for changes, where it is not the brokers
        self._connection = Connection(alias)
        # The client is kept: one that is garbage-collected fails its own futures.
        with making_a_client(alias, settings):
            self._client = AdminClient({**settings, **self._connection.settings()})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.poll(0)

    def _wait(self, action: str, future: Future[T], ignored: tuple[int, ...] = ()) -> T | KafkaError:
        """The future's result, or its error where that is one of the ignored."""

        def result() -> T | KafkaError:
            try:
                return future.result()
            except KafkaException as error:
                inner: KafkaError = error.args[0]
                if inner.code() not in ignored:
                    raise
                return inner

        return self._call(action, result)

    def _call(self, action: str, call: Callable[[], T]) -> T:
        """Run a request; where brokers refuse us, or time is up, say why as the connection said it."""
        try:
            with kafka_call(action, self.alias):
                answer = self._connection.first_answer(action, call, self._client.poll)
        except MirrorError as error:
            self._client.poll(0)
            if error.about.get("code") in ("_TIMED_OUT", "_TRANSPORT"):
                better = self._connection.reason(action)
                if better is not None:
                    raise better from error
            raise
        if not isinstance(answer, KafkaError):
            self._connection.answered()
        return answer

    def cluster_id(self) -> str:
        return str(self._call("ask for the cluster id", lambda: self._client.describe_cluster().result()).cluster_id)

    def answers(self, within_s: float) -> bool:
        """Whether any broker answers soon: asked before a look that is not worth half a minute's wait."""
        try:
            self._client.list_topics(timeout=within_s)
        except KafkaException:
            return False
        return True

    def broker_count(self) -> int:
        return len(self._call("list brokers", lambda: self._client.describe_cluster().result()).nodes)

    def broker_setting(self, name: str) -> tuple[str, ...]:
        """The value that each broker has for one of its settings."""
        nodes = self._call("list brokers", lambda: self._client.describe_cluster().result()).nodes
        values: list[str] = []
        for node in nodes:
            # One request each: a broker answers for itself alone.
            resource = ConfigResource(ResourceType.BROKER, str(node.id))
            (future,) = self._client.describe_configs([resource], request_timeout=REQUEST_TIMEOUT_S).values()
            entries = self._wait(f"read {name} of broker {node.id}", future)
            if not isinstance(entries, KafkaError) and name in entries:
                values.append(str(entries[name].value))
        return tuple(values)

    def topic_names(self) -> tuple[str, ...]:
        metadata = self._call("list topics", lambda: self._client.list_topics(timeout=REQUEST_TIMEOUT_S))
        return tuple(sorted(metadata.topics))

    def topics(self) -> dict[str, TopicDescription]:
        """Every topic, also internal ones, by name."""
        return self.describe(self.topic_names())

    def describe(self, names: Iterable[str]) -> dict[str, TopicDescription]:
        """The topics of these names that exist."""
        found: dict[str, TopicDescription] = {}
        for batch in _batches(sorted(set(names))):
            request = self._client.describe_topics(TopicCollection(list(batch)), request_timeout=REQUEST_TIMEOUT_S)
            for name, future in request.items():
                described = self._wait(f"describe topic {name}", future, MISSING)
                if not isinstance(described, KafkaError):
                    found[name] = TopicDescription(
                        name=name,
                        id=str(described.topic_id).translate(_KAFKA_ID_LETTERS),
                        partition_count=len(described.partitions),
                        is_internal=bool(described.is_internal),
                    )
        return found

    def configs(self, names: Iterable[str]) -> dict[str, dict[str, ConfigEntry]]:
        """The effective settings of each topic that exists, each with where it comes from."""
        found: dict[str, dict[str, ConfigEntry]] = {}
        for batch in _batches(sorted(set(names))):
            resources = [ConfigResource(ResourceType.TOPIC, name) for name in batch]
            request = self._client.describe_configs(resources, request_timeout=REQUEST_TIMEOUT_S)
            for resource, future in request.items():
                name = resource.name
                entries = self._wait(f"describe settings of {name}", future, MISSING)
                if not isinstance(entries, KafkaError):
                    found[name] = {entry.name: _config_entry(entry) for entry in entries.values()}
        return found

    def create_topics(
        self, topics: Sequence[NewTopic], *, validate_only: bool = False
    ) -> dict[str, MirrorError | None]:
        """Create each topic; per name None or the error, `existing` being no error."""
        if not topics:
            return {}
        request = self._client.create_topics(
            [ClientNewTopic(t.name, t.partition_count, t.replication_factor, config=dict(t.configs)) for t in topics],
            operation_timeout=REQUEST_TIMEOUT_S,
            request_timeout=REQUEST_TIMEOUT_S,
            validate_only=validate_only,
        )
        done = (KafkaError.TOPIC_ALREADY_EXISTS,)
        return {name: self._outcome(f"create topic {name}", future, done) for name, future in request.items()}

    def grow_topics(self, partition_counts: Mapping[str, int]) -> dict[str, MirrorError | None]:
        """Raise each topic to the given number of partitions; per name None or the error."""
        if not partition_counts:
            return {}
        wanted = [NewPartitions(name, count) for name, count in partition_counts.items()]
        request = self._client.create_partitions(wanted, request_timeout=REQUEST_TIMEOUT_S)
        return {name: self._outcome(f"add partitions to {name}", future, ()) for name, future in request.items()}

    def _outcome(self, action: str, future: Future[Any], done: tuple[int, ...]) -> MirrorError | None:
        try:
            self._wait(action, future, done)
        except MirrorError as error:
            return error
        except KafkaException as error:
            inner: KafkaError = error.args[0]
            message = f"could not {action} on cluster {self.alias}: {inner.str()}"
            return MirrorError(message, cluster=self.alias, code=inner.name())
        return None

    def log_starts(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offset each partition still has."""
        return self._offsets("list log starts", partitions, OffsetSpec.earliest(), committed=False)

    def high_watermarks(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The end of each partition, open transactions included."""
        return self._offsets("list ends", partitions, OffsetSpec.latest(), committed=False)

    def stable_ends(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The end of each partition up to which all transactions are decided."""
        return self._offsets("list stable ends", partitions, OffsetSpec.latest(), committed=True)

    def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        """Where the log of a partition that must be there starts and ends, open transactions included.

        Nothing is assumed: a state log taken for empty because a broker did not know it yet would be copied twice.
        """
        give_up = time.monotonic() + PROPAGATION_S
        while True:
            starts, ends = self.log_starts([partition]), self.high_watermarks([partition])
            if partition in starts and partition in ends:
                return starts[partition], ends[partition]
            if time.monotonic() > give_up:
                raise ClusterBusy(
                    f"cluster {self.alias} does not say where {partition} starts and ends",
                    next_step="run this again; if it stays so, look whether the partition has a leader",
                    cluster=self.alias,
                    topic=partition.topic,
                    partition=partition.partition,
                )
            self._client.poll(0.3)

    def offsets_at(self, at_ms: int, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int | None]:
        """The first offset whose record is not older than the time; None where there is none."""
        found = self._offsets("look up offsets by time", partitions, OffsetSpec.for_timestamp(at_ms), committed=False)
        return {partition: offset if offset >= 0 else None for partition, offset in found.items()}

    def _offsets(
        self, action: str, partitions: Iterable[TopicPartition], spec: OffsetSpec, *, committed: bool
    ) -> dict[TopicPartition, int]:
        """Ask for offsets, again for partitions whose leader does not answer; those without an answer are left out.

        A leader that is dead, but not known to be, is no error to the client: it says OFFSET_INVALID when time is up.
        """
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        waiting = sorted(set(partitions))
        found: dict[TopicPartition, int] = {}
        since = time.monotonic()
        while waiting:
            request = self._client.list_offsets(
                {ClientTopicPartition(p.topic, p.partition): spec for p in waiting},
                isolation_level=level,
                request_timeout=OFFSETS_TIMEOUT_S,
            )
            leaderless, silent = [], []
            for asked, future in request.items():
                partition = TopicPartition(asked.topic, asked.partition)
                result = self._wait(f"{action} of {partition}", future, (*MISSING, *_LEADERLESS))
                waited_s = time.monotonic() - since
                if isinstance(result, KafkaError):
                    if result.code() in _LEADERLESS and waited_s < LEADERLESS_S:
                        leaderless.append(partition)
                elif result.offset != OFFSET_INVALID:
                    found[partition] = int(result.offset)
                elif waited_s < SILENT_S:
                    silent.append(partition)
            waiting = [*leaderless, *silent]
            if silent:
                self.answers(OFFSETS_TIMEOUT_S)  # tells the client who leads now: by itself it keeps to who did
            elif leaderless:
                self._client.poll(0.2)
        return found


def _batches(names: Sequence[str]) -> Iterable[Sequence[str]]:
    return (names[start : start + BATCH] for start in range(0, len(names), BATCH))


def _config_entry(entry: Any) -> ConfigEntry:
    source = entry.source
    return ConfigEntry(
        name=entry.name,
        value=entry.value,
        source=_SOURCES.get(int(getattr(source, "value", source)), "UNKNOWN_CONFIG"),
        is_read_only=bool(entry.is_read_only),
        is_sensitive=bool(entry.is_sensitive),
    )


_SOURCES = {int(source.value): source.name for source in ConfigSource}
