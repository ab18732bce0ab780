"""What a slot finds out in mid-copy: topics made anew, logs that moved away under the position."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from mirror.copy.ledger import Ledger
from mirror.copy.spec import FlowLinks, SlotSpec
from mirror.errors import LogTruncated, MirrorError, RecordsLost, TopicNotFound, TopicRecreated
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition
from mirror.wire.gaps import Gap, GapReason


def changed_topics(
    spec: SlotSpec, partitions: Iterable[TopicPartition], source: Cluster, target: Cluster
) -> dict[TopicPartition, MirrorError]:
    """Per partition the error, where its topic on either side is not the one of the plan any more.

    A consumer goes on in a topic that was deleted and made again at the same offset, without any event.
    """
    wanted = [p for p in spec.partitions if p.partition in set(partitions)]
    if not wanted:
        return {}
    upstream = source.describe(p.partition.topic for p in wanted)
    downstream = target.describe(p.remote.topic for p in wanted)
    errors: dict[TopicPartition, MirrorError] = {}
    for p in wanted:
        sides = (
            (spec.links.source, p.partition.topic, p.source_topic_id, upstream),
            (spec.links.target, p.remote.topic, p.target_topic_id, downstream),
        )
        for alias, topic, known_id, described in sides:
            found = described.get(topic)
            if found is None:
                errors[p.partition] = gone(spec.links, alias, topic)
            elif known_id and found.id and found.id != known_id:
                errors[p.partition] = recreated(spec.links, alias, topic, p.partition)
    return errors


def look_into(
    spec: SlotSpec,
    met: Mapping[TopicPartition, MirrorError | None],
    ledger: Ledger,
    source: Cluster,
    target: Cluster,
) -> None:
    """Decide about partitions that stopped giving records: a known error stops them, a lost stretch is a gap."""
    known = {partition: error for partition, error in met.items() if error is not None}
    known |= changed_topics(spec, met, source, target)  # a topic made anew explains all the rest
    ledger.stop(known)
    out_of_range = [partition for partition in met if partition not in known]
    starts = source.log_starts(out_of_range)
    for partition in out_of_range:
        position = ledger.position(partition)
        start = starts.get(partition)
        if start is None:
            ledger.stop({partition: gone(spec.links, spec.links.source, partition.topic)})
        elif position < start and spec.gap_fails:
            ledger.stop({partition: lost(spec.links, partition, position, start)})
        elif position < start:
            now_ms = int(time.time() * 1000)
            ledger.skip(partition, Gap(start=position, end=start, reason=GapReason.RETENTION, at_ms=now_ms))
        else:
            ledger.stop({partition: truncated(spec.links, partition, position, "the log ends before it")})


def gone(links: FlowLinks, alias: str, topic: str) -> TopicNotFound:
    return TopicNotFound(
        f"topic {topic} is gone from cluster {alias}",
        next_step=f"airmirror topics '{links.flow}', if it is to be there",
        cluster=alias,
        topic=topic,
    )


def recreated(links: FlowLinks, alias: str, topic: str, partition: TopicPartition) -> TopicRecreated:
    what = (
        "what was copied is of the deleted one"
        if alias == links.source
        else "what was copied before went with the deleted one"
    )
    return TopicRecreated(
        f"{partition}: topic {topic} on cluster {alias} was deleted and made again; {what}",
        next_step=f"airmirror resume '{links.flow}' --topic {partition.topic} --restart, to copy it from its beginning",
        cluster=alias,
        topic=partition.topic,
        partition=partition.partition,
    )


def truncated(links: FlowLinks, partition: TopicPartition, position: int, evidence: str) -> LogTruncated:
    return LogTruncated(
        f"{partition} on cluster {links.source} was truncated below position {position}: {evidence}; "
        "some copied records are not in the source any more",
        next_step=f"airmirror resume '{links.flow}' --topic {partition.topic} --partition {partition.partition} "
        "--restart, or --skip-to OFFSET",
        cluster=links.source,
        topic=partition.topic,
        partition=partition.partition,
        position=position,
    )


def lost(links: FlowLinks, partition: TopicPartition, start: int, end: int) -> RecordsLost:
    return RecordsLost(
        f"{partition}: upstream offsets {start} to {end} are gone from cluster {links.source} before they were copied",
        next_step=f"airmirror resume '{links.flow}' --topic {partition.topic} --partition {partition.partition} "
        f"--skip-to {end}",
        cluster=links.source,
        topic=partition.topic,
        partition=partition.partition,
        start=start,
        end=end,
    )
