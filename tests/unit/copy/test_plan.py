"""How partitions are packed into slots, and what each slot is told."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.copy.engine import OPEN_END
from mirror.copy.links import links_of
from mirror.copy.plan import pack, plan_slots, slots_wanted
from mirror.copy.spec import PartitionSpec, SlotSpec
from mirror.kafka.values import TopicPartition


def spec(number: int, size: int) -> PartitionSpec:
    return PartitionSpec(
        partition=TopicPartition("orders", number),
        remote=TopicPartition("A.orders", number),
        position=10,
        end=10 + size,
        source_topic_id="",
        target_topic_id="",
    )


def loads(packed: list[tuple[PartitionSpec, ...]]) -> list[int]:
    return sorted(sum(one.size for one in slot) for slot in packed)


@pytest.mark.parametrize(
    ("sizes", "slots", "expected"),
    [
        ([], 4, []),
        ([5], 4, [5]),
        ([1, 1, 1, 1], 2, [2, 2]),
        ([9, 5, 4], 2, [9, 9]),
        ([100, 1, 1, 1], 2, [3, 100]),
        ([7, 7, 7], 3, [7, 7, 7]),
        ([0, 0, 0, 0], 2, [0, 0]),
    ],
)
def test_partitions_are_spread_by_size_over_no_more_slots_than_needed(
    sizes: list[int], slots: int, expected: list[int]
) -> None:
    assert loads(pack([spec(n, size) for n, size in enumerate(sizes)], slots)) == expected


def test_empty_partitions_are_spread_too(tmp_path: Path) -> None:
    """With a window they may fill up: all of them in one slot would be one busy slot and idle others."""
    assert sorted(len(slot) for slot in pack([spec(n, 0) for n in range(10)], 4)) == [2, 2, 3, 3]


@pytest.mark.parametrize("seed", range(20))
def test_each_partition_is_in_one_slot_and_no_slot_is_half_as_long_again_as_the_best(seed: int) -> None:
    chance = random.Random(seed)
    partitions = [spec(n, chance.randrange(0, 10_000)) for n in range(chance.randrange(1, 60))]
    slots = chance.randrange(1, 9)
    packed = pack(partitions, slots)
    assert sorted(one.partition for slot in packed for one in slot) == [one.partition for one in partitions]
    best = max(max(one.size for one in partitions), sum(one.size for one in partitions) / slots)
    assert loads(packed)[-1] <= 4 / 3 * best + len(partitions)
    assert pack(list(reversed(partitions)), slots) == packed, "the order in which topics are listed must not matter"


@pytest.mark.parametrize(
    ("lines", "cores", "expected"),
    [
        ("", 8, 8),
        ("tasks.max = 3", 8, 3),
        ("tasks.max = 30", 8, 8),
        ("airmirror.copy.slots.max = 2", 8, 2),
        ("tasks.max = 3\nairmirror.copy.slots.max = 2", 8, 2),
        ("", 0, 1),
    ],
)
def test_slots_are_the_cores_up_to_what_the_file_allows(tmp_path: Path, lines: str, cores: int, expected: int) -> None:
    assert slots_wanted(flow_from(tmp_path, lines), cores) == expected


def plan(tmp_path: Path, lines: str = "", window_s: float = 0.0) -> list[SlotSpec]:
    flow = flow_from(tmp_path, lines)
    partitions = [spec(n, 100) for n in range(4)]
    return plan_slots(
        flow,
        links_of(flow),
        partitions,
        run="run-1",
        slots=2,
        window_s=window_s,
        syncs_read_to=7,
        control_read_to=3,
    )


def test_each_slot_has_its_own_transactional_id_and_knows_its_run_and_what_was_read(tmp_path: Path) -> None:
    planned = plan(tmp_path)
    assert len({one.transactional_id for one in planned}) == len(planned) == 2
    assert {(one.run, one.syncs_read_to, one.control_read_to) for one in planned} == {("run-1", 7, 3)}
    assert [one.slot for one in planned] == [0, 1]


def test_two_deployments_on_the_same_aliases_have_different_ids(tmp_path: Path) -> None:
    ours = {one.transactional_id for one in plan(tmp_path)}
    theirs = {one.transactional_id for one in plan(tmp_path, "airmirror.flow.id = second")}
    assert not ours & theirs


@pytest.mark.parametrize(("window_s", "end"), [(0.0, 110), (30.0, OPEN_END)])
def test_only_a_window_leaves_the_end_open(tmp_path: Path, window_s: float, end: int) -> None:
    assert {one.end for slot in plan(tmp_path, window_s=window_s) for one in slot.partitions} == {end}


def test_a_bandwidth_limit_is_shared_by_the_slots(tmp_path: Path) -> None:
    planned = plan(tmp_path, "airmirror.copy.max.bytes.per.second = 1000")
    assert sum(one.bytes_per_second for one in planned) == 1000
