"""Which range of each side is compared, and what is counted as right before the first record is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mirror.copy.control import ControlState
from mirror.copy.state import States
from mirror.copy.survey import SourceView
from mirror.errors import TopicNotFound, TopicRecreated
from mirror.kafka.values import ConfigEntry, TopicDescription, TopicPartition
from mirror.selection import Decision
from mirror.verify.plan import VerifyPlan, pack, plan_comparisons
from mirror.verify.spec import Comparison
from mirror.verify.survey import VerifySurvey
from mirror.wire.control import FirstPosition
from mirror.wire.history import HistoryBuilder
from mirror.wire.partition_state import PartitionState

PARTITION, REMOTE = TopicPartition("t", 0), TopicPartition("A.t", 0)


def state(*runs: tuple[int, int, int], position: int, **more: Any) -> PartitionState:
    """Runs of (upstream, downstream, length)."""
    draft = HistoryBuilder(cap=more.pop("cap", 256))
    for upstream, downstream, length in runs:
        draft.append_run(upstream, length, downstream, length)
    history = draft.freeze()
    history.complete_from_start = more.pop("complete", True)
    last = runs[-1] if runs else (position, 0, 0)
    return PartitionState(
        topic="t",
        partition=0,
        upstream_offset=last[0] + last[2] - 1,
        downstream_offset=last[1] + last[2] - 1,
        position=position,
        history=history,
        run="r",
        **{"source_topic_id": "s", "target_topic_id": "d", "record_count": sum(r[2] for r in runs), **more},
    )


def survey(state: PartitionState | None, **more: Any) -> VerifySurvey:
    options = {"log_start": 0, "end": 100, "target_start": 0, "target_end": 100, **more}
    decision = Decision(topic="t", remote_topic="A.t", selected=True, reason="")
    return VerifySurvey(
        source=SourceView(
            topics={"t": TopicDescription(name="t", id="s", partition_count=1)},
            decisions={"t": decision},
            log_starts={PARTITION: options["log_start"]},
            stable_ends={PARTITION: options["end"]},
            ends={PARTITION: options["end"]},
            at_ms=0,
        ),
        target_topics={"A.t": TopicDescription(name="A.t", id="d", partition_count=1)},
        target_starts={REMOTE: options["target_start"]},
        target_ends={REMOTE: options["target_end"]},
        states=States(states={PARTITION: state} if state else {}, read_to=0),
        control=ControlState(first_positions=options.get("first", {})),
        source_configs=options.get("source_configs", {}),
        target_configs=options.get("target_configs", {}),
        since=options.get("since"),
    )


def only(plan: VerifyPlan) -> Comparison:
    (comparison,) = plan.comparisons
    return comparison


def ranges(comparison: Comparison) -> tuple[tuple[int, int], tuple[int, int]]:
    return (comparison.upstream_start, comparison.upstream_end), (
        comparison.downstream_start,
        comparison.downstream_end,
    )


def test_everything_up_to_the_position_and_the_targets_end_is_compared() -> None:
    found = only(plan_comparisons(survey(state((0, 0, 80), position=80), target_end=83)))
    assert ranges(found) == ((0, 80), (0, 83))
    assert (found.not_copied, found.foreign, found.gone_upstream, found.gone_downstream) == (20, 0, 0, 0)


def test_retention_on_either_side_moves_both_starts() -> None:
    copied = state((0, 10, 80), position=80)
    found = only(plan_comparisons(survey(copied, log_start=30, target_end=90)))
    assert ranges(found) == ((30, 80), (40, 90))
    assert (found.gone_upstream, found.foreign) == (30, 10)
    found = only(plan_comparisons(survey(copied, target_start=50, target_end=90)))
    assert ranges(found) == ((40, 80), (50, 90))
    assert (found.gone_downstream, found.foreign) == (40, 0)


def test_the_newest_and_what_is_asked_for_by_time() -> None:
    copied = state((0, 10, 80), position=80)
    assert ranges(only(plan_comparisons(survey(copied, target_end=90), newest=5))) == ((75, 80), (85, 90))
    assert only(plan_comparisons(survey(copied, target_end=90), newest=500)).upstream_start == 0
    by_time = survey(copied, target_end=90, since={PARTITION: 60})
    assert ranges(only(plan_comparisons(by_time))) == ((60, 80), (70, 90))
    assert only(plan_comparisons(replace(by_time, since={PARTITION: None}))).size == 0


def test_a_start_that_the_map_does_not_know_exactly_has_a_lead_in() -> None:
    runs = [(n * 3, n, 1) for n in range(100)]
    thinned = state(*runs, position=300, cap=8)
    found = only(plan_comparisons(survey(thinned, end=300, log_start=50)))
    assert found.downstream_start <= 17 <= found.downstream_certain
    assert found.downstream_start < found.downstream_certain


def test_what_lies_before_our_history_is_compared_only_if_it_is_all_ours() -> None:
    later = state((40, 0, 40), position=80, complete=False)
    first = FirstPosition(flow="f", topic="t", partition=0, position=30, source_topic_id="s", chosen_by="latest")
    assert only(plan_comparisons(survey(later, first={PARTITION: first}))).upstream_start == 30
    mm2 = replace(first, chosen_by="mm2")
    assert only(plan_comparisons(survey(later, first={PARTITION: mm2}))).upstream_start == 40
    rewound = replace(later, record_count=500)
    assert only(plan_comparisons(survey(rewound, first={PARTITION: first}))).upstream_start == 40
    from_start = state((40, 0, 40), position=80)
    assert only(plan_comparisons(survey(from_start))).upstream_start == 0


def test_settings_say_what_may_differ() -> None:
    def configs(topic: str, **values: str) -> dict[str, dict[str, ConfigEntry]]:
        entries = {name.replace("_", "."): value for name, value in values.items()}
        return {
            topic: {
                name: ConfigEntry(
                    name=name, value=value, source="DYNAMIC_TOPIC_CONFIG", is_read_only=False, is_sensitive=False
                )
                for name, value in entries.items()
            }
        }

    found = only(
        plan_comparisons(
            survey(
                state((0, 0, 80), position=80),
                source_configs=configs("t", cleanup_policy="compact,delete"),
                target_configs=configs("A.t", cleanup_policy="delete", message_timestamp_type="LogAppendTime"),
            )
        )
    )
    assert (found.upstream_is_compacted, found.downstream_is_compacted) == (True, False)
    assert not found.compares_timestamps


def test_what_cannot_be_compared_is_told_and_what_was_not_copied_is_not() -> None:
    assert plan_comparisons(survey(None)).nothing == {PARTITION: "nothing was copied by airmirror yet"}
    made_anew = state((0, 0, 80), position=80, source_topic_id="before")
    assert isinstance(plan_comparisons(survey(made_anew)).errors[PARTITION], TopicRecreated)
    gone = replace(survey(state((0, 0, 80), position=80)), target_ends={}, target_topics={})
    assert isinstance(plan_comparisons(gone).errors[PARTITION], TopicNotFound)


def test_tasks_get_about_the_same_to_do() -> None:
    one = only(plan_comparisons(survey(state((0, 0, 80), position=80))))
    sizes = (80, 10, 10, 40, 20)
    comparisons = [
        replace(one, partition=TopicPartition("t", n), upstream_start=80 - size, downstream_start=100 - size)
        for n, size in enumerate(sizes)
    ]
    packed = pack(comparisons, 2)
    assert sorted(sum(c.size for c in share) for share in packed) == [80, 80]
    assert pack([], 2) == []
