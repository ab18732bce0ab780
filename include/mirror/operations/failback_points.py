"""What a failback decided, as it stands on record: numbers per partition, written before anything moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from mirror.copy.control import ControlState
from mirror.kafka.values import TopicPartition
from mirror.operations.failback_plan import Log, PartitionReturn
from mirror.wire.flow_state import ReturnPoints

_LOGS = (Log.SAME, Log.TAIL_LOST, Log.REBUILT, Log.NEW)

Points = Mapping[TopicPartition, PartitionReturn]


def points_of(control: ControlState, operation: str) -> dict[TopicPartition, PartitionReturn]:
    """The decisions of this operation."""
    found: dict[TopicPartition, PartitionReturn] = {}
    for topic, record in control.return_points.items():
        if record.operation != operation:
            continue
        for number, (boundary, start, end, log, remote_end, before) in record.points.items():
            partition = TopicPartition(topic, int(number))
            found[partition] = PartitionReturn(
                partition=partition,
                remote=TopicPartition(record.remote_topic, int(number)),
                log=_LOGS[log],
                boundary=boundary,
                survivors_start=start,
                survivors_end=end,
                remote_end=remote_end,
                returned_before=before,
            )
    return found


def records_of(flow_key: str, operation: str, plans: Iterable[PartitionReturn]) -> list[ReturnPoints]:
    """One record per topic."""
    ordered = sorted(plans, key=lambda plan: plan.partition)
    return [
        ReturnPoints(
            flow=flow_key,
            topic=topic,
            operation=operation,
            remote_topic=group[0].remote.topic,
            points={str(plan.partition.partition): _numbers(plan) for plan in group},
        )
        for topic, group in ((topic, list(g)) for topic, g in groupby(ordered, key=lambda plan: plan.partition.topic))
    ]


def _numbers(plan: PartitionReturn) -> list[int]:
    log = _LOGS.index(plan.log)
    return [plan.boundary, plan.survivors_start, plan.survivors_end, log, plan.remote_end, plan.returned_before]
