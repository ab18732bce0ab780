"""Checkpoints: a group's upstream offset and its translation, in MM2's format and topic, by MM2's rules.

Beyond MM2, each says in a header which remote topic it speaks of. MM2 cannot tell a checkpoint of a remote topic that
was deleted and made again: it writes the old offset past the new log's end, and suppresses the right ones because they
are smaller. MM2's readers do not look at headers, and its own checkpoints are believed as far as they can be true.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.spec import FlowLinks
from mirror.errors import StateUnreadable
from mirror.groups.values import Answer, GroupPartition
from mirror.kafka.cluster import Cluster
from mirror.kafka.log import Appender, LogRecord, NewRecord, read_log
from mirror.kafka.values import NewTopic, TopicPartition
from mirror.topics.forwarding import forwarded
from mirror.topics.replication import replication_factor
from mirror.topics.visibility import wait_until_visible
from mirror.wire.checkpoint import Checkpoint

log = logging.getLogger(__name__)

TOPIC_ID_HEADER = "airmirror.topic.id"

GroupRemote = tuple[str, TopicPartition]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A checkpoint as it is or will be in the topic; the id is that of its remote topic, empty where MM2 wrote it."""

    checkpoint: Checkpoint
    topic_id: str = ""

    @property
    def place(self) -> GroupRemote:
        return self.checkpoint.group, TopicPartition(self.checkpoint.topic, self.checkpoint.partition)


def topic_of(flow: Flow) -> TopicPartition:
    """Where the flow's checkpoints are: partition 0 of one topic on the target."""
    return TopicPartition(naming.policy_of(flow).checkpoints_topic(flow.source), 0)


def read_checkpoints(flow: Flow, links: FlowLinks, target: Cluster) -> dict[GroupRemote, Known]:
    """The newest checkpoint of each group and remote partition; none while the topic does not exist."""
    partition = topic_of(flow)
    if not target.describe([partition.topic]):
        return {}
    ends, starts = target.stable_ends([partition]), target.log_starts([partition])
    ranges = {partition: (starts.get(partition, 0), ends.get(partition, 0))}
    known: dict[GroupRemote, Known] = {}
    unreadable = 0
    for record in read_log(links.target_consumer, links.target, ranges, committed=True):
        try:
            found = _decode(record)
        except StateUnreadable:
            unreadable += 1
            continue
        if found is not None:
            known[found.place] = found
    if unreadable:
        log.warning("passed over %d records of %s that are no checkpoints", unreadable, partition.topic)
    return known


def _decode(record: LogRecord) -> Known | None:
    if record.key is None or record.value is None:
        return None
    topic_id = next((value or b"" for name, value in record.headers if name == TOPIC_ID_HEADER), b"")
    return Known(checkpoint=Checkpoint.decode(record.key, record.value), topic_id=topic_id.decode(errors="replace"))


def plan_checkpoints(
    translated: Iterable[GroupPartition], known: Mapping[GroupRemote, Known], past: Mapping[GroupRemote, Answer]
) -> tuple[Known, ...]:
    """The checkpoints to write; `past` translates anew the upstream offsets of the known ones.

    MM2's rule: where there is none yet, where the group went back upstream, or where it is further on downstream than
    the last one said. A last one that the remote topic of today cannot have is as good as none.
    """
    planned: list[Known] = []
    for partition in translated:
        downstream = partition.answer.downstream
        if downstream is None:
            continue
        last = known.get((partition.group, partition.remote))
        if (
            last is None
            or partition.committed.offset < last.checkpoint.upstream_offset
            or downstream > last.checkpoint.downstream_offset
            or not is_of_this_topic(last, partition.remote_topic_id, past.get(last.place))
        ):
            planned.append(Known(checkpoint=_checkpoint(partition, downstream), topic_id=partition.remote_topic_id))
    return tuple(planned)


def is_of_this_topic(known: Known, topic_id: str, now: Answer | None) -> bool:
    """Whether a checkpoint speaks of the remote topic as it is; `now` is its own upstream offset translated anew."""
    if known.topic_id and topic_id:
        return known.topic_id == topic_id
    if now is None or now.downstream is None:
        return True
    return known.checkpoint.downstream_offset <= now.downstream + now.early_by


def _checkpoint(partition: GroupPartition, downstream: int) -> Checkpoint:
    return Checkpoint(
        group=partition.group,
        topic=partition.remote.topic,
        partition=partition.remote.partition,
        upstream_offset=partition.committed.offset,
        downstream_offset=downstream,
        metadata=partition.committed.metadata,
    )


def write_checkpoints(flow: Flow, links: FlowLinks, target: Cluster, planned: Iterable[Known], *, at_ms: int) -> None:
    """Append checkpoints, each with the time its group was asked; makes the topic where it is missing."""
    records = [
        NewRecord(
            partition=topic_of(flow),
            key=known.checkpoint.encode_key(),
            value=known.checkpoint.encode_value(),
            timestamp_ms=at_ms,
            headers=((TOPIC_ID_HEADER, known.topic_id.encode()),) if known.topic_id else (),
        )
        for known in planned
    ]
    ensure_topic(flow, target)
    if records:
        Appender(links.target, links.target_producer).append_records(records)


def checkpoints_topic(flow: Flow, broker_count: int) -> tuple[NewTopic, str]:
    """The topic as MM2 makes it, on a target of so many brokers, and what a person should know of it."""
    factor, notice = replication_factor(flow, opt.CHECKPOINTS_REPLICATION_FACTOR, flow.target, broker_count)
    name, settings = topic_of(flow).topic, {"cleanup.policy": "compact"}
    return NewTopic(name=name, partition_count=1, replication_factor=factor, configs=settings), notice


def ensure_topic(flow: Flow, target: Cluster) -> None:
    """Make the checkpoints topic as MM2 would, unless it is there."""
    name = topic_of(flow).topic
    if target.describe([name]):
        return
    topic, notice = checkpoints_topic(flow, target.broker_count())
    if notice:
        log.warning("%s", notice)
    for error in forwarded(flow, target).create_topics([topic]).values():
        if error is not None:
            raise error
    log.info("created flow=%s cluster=%s topic=%s", flow.id, flow.target, name)
    for late in wait_until_visible(target, {name: 1}).values():
        raise late
