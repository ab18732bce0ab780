"""The edges of translation that need more than the history: beginnings, deleted topics, MM2's time, the way back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.groups.discovery import GroupSelector
from mirror.groups.ground import Ground, name_remotes
from mirror.groups.mm2_syncs import store_of
from mirror.groups.translation import is_looked_at, stored_answer
from mirror.kafka.values import TopicDescription, TopicPartition
from mirror.wire.control import ChosenBy, FirstPosition
from mirror.wire.history import Early, Exact, History, Translation, Unknown
from mirror.wire.offset_sync import OffsetSync
from mirror.wire.partition_state import PartitionState
from mirror.wire.segments import Segment

PARTITION, REMOTE = TopicPartition("orders", 0), TopicPartition("A.orders", 0)
SEGMENTS = (Segment(20, 10, 100, 10),)


def state(*segments: Segment, complete: bool = False, **more: object) -> PartitionState:
    last = segments[-1] if segments else None
    fields = {
        "topic": "orders",
        "partition": 0,
        "upstream_offset": last.upstream_end - 1 if last else 20,
        "downstream_offset": last.downstream_end - 1 if last else 100,
        "position": last.upstream_end if last else 20,
        "has_record": last is not None,
        "history": History(segments, complete_from_start=complete),
        "record_count": sum(s.upstream_length for s in segments),
        **more,
    }
    return PartitionState(**fields)  # type: ignore[arg-type]


def topic(name: str, topic_id: str = "") -> dict[str, TopicDescription]:
    return {name: TopicDescription(name=name, id=topic_id, partition_count=1)}


def ground(known: PartitionState | None, first: tuple[int, ChosenBy] | None = None, **more: object) -> Ground:
    positions = {}
    if first is not None:
        position, chosen_by = first
        positions[PARTITION] = FirstPosition(
            flow="A->B", topic="orders", partition=0, position=position, source_topic_id="", chosen_by=chosen_by
        )
    base = Ground(
        target="B",
        remotes={PARTITION: REMOTE},
        states={PARTITION: known} if known else {},
        first_positions=positions,
        source_topics=topic("orders"),
        source_starts={PARTITION: 0},
        target_topics=topic("A.orders"),
        target_starts={REMOTE: 0},
        target_ends={REMOTE: 500},
        earlier_ends={REMOTE: 77},
    )
    return replace(base, **more)  # type: ignore[arg-type]


SYNCS = store_of(
    OffsetSync(topic="orders", partition=0, upstream_offset=u, downstream_offset=d) for u, d in ((2, 10), (12, 60))
)


@pytest.mark.parametrize(
    ("where", "offset", "expected"),
    [
        pytest.param(ground(None), 5, Unknown, id="never asked to begin"),
        pytest.param(ground(None, (5, "latest")), 5, Exact(77), id="begun, nothing to copy yet: the end"),
        pytest.param(ground(None, (5, "earliest")), 9, Early(77, 4), id="begun, and the group is ahead"),
        pytest.param(
            ground(state(*SEGMENTS), (15, "latest")), 17, Exact(100), id="between a latest start and a record"
        ),
        pytest.param(ground(state(*SEGMENTS), (15, "latest")), 3, Exact(100), id="before a latest start"),
        pytest.param(
            ground(state(*SEGMENTS, record_count=25), (15, "earliest")), 3, Unknown, id="a rewind dropped history"
        ),
        pytest.param(ground(state(), (15, "start")), 3, Exact(100), id="passed markers only"),
        pytest.param(ground(state(*SEGMENTS), (20, "mm2")), 3, Unknown, id="MM2's time, no syncs of it"),
        pytest.param(ground(state(*SEGMENTS), (20, "mm2"), mm2_syncs={PARTITION: SYNCS}), 1, Unknown, id="before MM2"),
        pytest.param(
            ground(state(*SEGMENTS), (20, "mm2"), mm2_syncs={PARTITION: SYNCS}), 5, Early(11, 49), id="MM2's syncs"
        ),
        pytest.param(
            ground(state(*SEGMENTS), (20, "mm2"), mm2_syncs={PARTITION: SYNCS}), 15, Early(61, 39), id="to our first"
        ),
        pytest.param(ground(None, (20, "mm2"), mm2_syncs={PARTITION: SYNCS}), 12, Exact(60), id="MM2 alone so far"),
        pytest.param(ground(None, (20, "mm2")), 20, Exact(77), id="where MM2 stopped"),
        pytest.param(ground(state(*SEGMENTS), target_starts={REMOTE: 104}), 22, Exact(104), id="deleted on the target"),
        pytest.param(ground(state(*SEGMENTS), target_ends={REMOTE: 101}), 22, Unknown, id="lost on the target"),
        pytest.param(ground(state(*SEGMENTS), target_topics={}), 22, Unknown, id="no remote topic"),
        pytest.param(
            ground(state(*SEGMENTS, target_topic_id="x" * 22), target_topics=topic("A.orders", "y" * 22)),
            22,
            Unknown,
            id="remote topic made anew",
        ),
        pytest.param(
            ground(state(*SEGMENTS, source_topic_id="x" * 22), source_topics=topic("orders", "y" * 22)),
            22,
            Unknown,
            id="source topic made anew",
        ),
    ],
)
def test_answer_at_the_edges(where: Ground, offset: int, expected: Translation | type[Unknown]) -> None:
    answer = stored_answer(where, PARTITION, offset)
    if expected is Unknown:
        assert isinstance(answer.translation, Unknown)
    else:
        assert answer.translation == expected
    assert answer.reason


def test_records_are_looked_at_only_where_both_sides_can_have_them() -> None:
    thinned = state(Segment(20, 10, 100, 14, 0, 4))
    answer = stored_answer(ground(thinned), PARTITION, 25)
    assert isinstance(answer.translation, Early)
    assert is_looked_at(ground(thinned), PARTITION, 25, answer)
    assert not is_looked_at(ground(thinned, source_starts={PARTITION: 26}), PARTITION, 25, answer)
    assert not is_looked_at(ground(thinned, target_starts={REMOTE: 105}), PARTITION, 25, answer)
    ahead = stored_answer(ground(thinned), PARTITION, 99)
    assert not is_looked_at(ground(thinned), PARTITION, 99, ahead)


def test_topic_that_came_from_the_target_leads_back_to_its_original(tmp_path: Path) -> None:
    flow = flow_from(tmp_path, "topics = .*\n")
    mine = [
        TopicPartition(name, 0) for name in ("orders", "B.orders", "B.C.orders", "__secret", "A.checkpoints.internal")
    ]
    named = name_remotes(flow, mine)
    assert {str(p): str(r) for p, r in named.remotes.items()} == {
        "orders-0": "A.orders-0",
        "B.orders-0": "orders-0",
        "B.C.orders-0": "C.orders-0",
    }
    assert named.returning == {"B.orders", "B.C.orders"}
    assert set(named.not_copied) == {"__secret", "A.checkpoints.internal"}


def test_offset_in_a_copy_from_the_target_is_translated_back_by_the_opposite_flow() -> None:
    copied, original = TopicPartition("B.orders", 0), TopicPartition("orders", 0)
    where = Ground(
        target="B",
        remotes={copied: original},
        returning=frozenset({"B.orders"}),
        opposite_states={original: state(*SEGMENTS, complete=True)},
        source_topics=topic("B.orders"),
        target_topics=topic("orders"),
        target_starts={original: 0},
        target_ends={original: 30},
    )
    found = {offset: stored_answer(where, copied, offset).translation for offset in (0, 100, 107, 110, 115)}
    assert found == {0: Exact(20), 100: Exact(20), 107: Exact(27), 110: Exact(30), 115: Exact(30)}
    assert isinstance(stored_answer(replace(where, opposite_states={}), copied, 100).translation, Unknown)


@pytest.mark.parametrize(
    ("group", "is_accepted", "reason"),
    [
        ("billing", True, "matches groups"),
        ("console-consumer-1", False, "groups.exclude"),
        ("other", False, "not in groups"),
    ],
)
def test_group_filter_says_what_decided(tmp_path: Path, group: str, is_accepted: bool, reason: str) -> None:
    flow = flow_from(tmp_path, "groups = billing, console.*\ntopics = orders.*\n")
    accepted, said = GroupSelector(flow).judge_name(group)
    assert accepted is is_accepted
    assert reason in said
