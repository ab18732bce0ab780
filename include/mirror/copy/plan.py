"""Packs partitions into slots."""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import replace

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.engine import OPEN_END
from mirror.copy.spec import FlowLinks, PartitionSpec, SlotSpec, transactional_id
from mirror.records import transformation_of


def slots_wanted(flow: Flow, cores: int) -> int:
    """As many slots as Spark has cores, at most `tasks.max` or our own limit where the file sets them."""
    limits = [cores]
    if flow.is_set(opt.TASKS_MAX):
        limits.append(flow[opt.TASKS_MAX])
    if (most := flow[opt.COPY_SLOTS_MAX]) is not None:
        limits.append(most)
    return max(min(limits), 1)


def pack(partitions: Sequence[PartitionSpec], slots: int) -> list[tuple[PartitionSpec, ...]]:
    """Largest first, each to the slot that has least: no slot much longer than the others."""
    count = min(slots, len(partitions))
    packed: list[list[PartitionSpec]] = [[] for _ in range(count)]
    loads = [(0, slot) for slot in range(count)]
    for spec in sorted(partitions, key=lambda s: (-s.size, s.partition)):
        load, slot = heapq.heappop(loads)
        packed[slot].append(spec)
        heapq.heappush(loads, (load + spec.size + 1, slot))
    return [tuple(specs) for specs in packed]


def plan_slots(
    flow: Flow,
    links: FlowLinks,
    partitions: Sequence[PartitionSpec],
    *,
    run: str,
    slots: int,
    window_s: float,
    syncs_read_to: int,
    control_read_to: int,
    operation: str = "",
) -> list[SlotSpec]:
    """One spec per slot; with a window every partition stays open for what arrives."""
    if window_s:
        partitions = [replace(spec, end=OPEN_END, drain_to=spec.end) for spec in partitions]
    packed = pack(partitions, slots)
    transformation = None if links.is_of_heartbeats or links.route is not None else transformation_of(flow)
    return [
        SlotSpec(
            links=links,
            run=run,
            slot=number,
            transactional_id=transactional_id(links.flow_key, number),
            partitions=specs,
            syncs_read_to=syncs_read_to,
            control_read_to=control_read_to,
            isolation_level=flow.isolation_level,
            window_s=window_s,
            planned_at_ms=int(time.time() * 1000),
            commit_interval_s=flow[opt.COPY_COMMIT_INTERVAL_MS] / 1000,
            commit_bytes=flow[opt.COPY_COMMIT_BYTES],
            bytes_per_second=flow[opt.COPY_MAX_BYTES_PER_SECOND] / len(packed),
            segments_cap=flow[opt.SEGMENTS_MAX],
            gap_fails=flow[opt.ON_GAP] == "fail",
            operation=operation,
            transformation=transformation,
        )
        for number, specs in enumerate(packed)
    ]
