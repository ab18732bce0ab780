"""A handover to MM2 beside other runs, and where it must not be: whoever loses has changed nothing."""

from __future__ import annotations

import pytest

from integration.copying import Mirrored
from integration.records import numbered
from mirror.cli.main import main
from mirror.copy.claim import ClaimPolicy, HeldClaim, take_claim
from mirror.copy.control import Control
from mirror.copy.gate import read_direction
from mirror.copy.state import read_mm2_positions
from mirror.errors import ClaimHeld, FencedByNewerRun, FlowNotForward
from mirror.kafka.values import TopicPartition
from mirror.operations.handover import hand_over, take_back
from mirror.operations.handover_plan import HandoverPlan


def claim(flow: Mirrored, run: str) -> HeldClaim:
    policy = ClaimPolicy(on_held="take-over", renew_s=1)
    return take_claim(flow.links, Control(flow.links, flow.target), run, 1, policy, print)


def hand(flow: Mirrored, agree: object = lambda plan: True, on_held: str = "skip") -> HandoverPlan | None:
    return hand_over(flow.flow, "handover-1", agree=agree, say=print, on_held=on_held)  # type: ignore[arg-type]


def direction(flow: Mirrored) -> str:
    found = read_direction(flow.links, flow.target)
    return "forward" if found is None else found.state


def test_a_living_copy_keeps_the_flow_and_a_newer_run_wins_it_from_a_handover(flow: Mirrored) -> None:
    topic = flow.topic("orders")
    flow.write(topic, numbered(10))
    flow.mirror().raise_if_incomplete()
    held = claim(flow, "living")
    with pytest.raises(ClaimHeld, match="living"):
        hand(flow)
    held.release()
    assert read_mm2_positions(flow.links, flow.target) == {}

    newer: list[HeldClaim] = []
    with pytest.raises(FencedByNewerRun, match="newer"):
        hand(flow, agree=lambda plan: newer.append(claim(flow, "newer")) or True)
    assert direction(flow) == "forward", "what was half done is taken back"
    for other in newer:
        other.release()
    flow.write(topic, numbered(5, start=10))
    assert flow.copy().record_count == 5

    assert hand(flow, agree=lambda plan: False) is None
    assert direction(flow) == "forward"


def test_handed_over_and_back_without_mm2_nothing_is_copied_twice_or_left_out(flow: Mirrored) -> None:
    topic, empty = flow.topic("orders", 2), flow.topic("empty")
    flow.write(topic, numbered(20, partitions=2))
    flow.mirror().raise_if_incomplete()
    assert hand(flow) is not None
    given = read_mm2_positions(flow.links, flow.target)
    assert {p: at for p, at in given.items() if p.topic == topic} == {TopicPartition(topic, n): 10 for n in (0, 1)}
    flow.write(topic, numbered(6, start=20, partitions=2))
    flow.write(empty, numbered(3))
    with pytest.raises(FlowNotForward, match="airmirror handover"):
        flow.copy()
    with pytest.raises(FlowNotForward):
        hand(flow)
    plan = take_back(flow.flow, "back-1", agree=lambda plan: True, say=print)
    assert plan is not None
    assert plan.steps == ()
    assert plan.unchanged >= 3, "and heartbeats, where other tests left some"
    assert flow.copy().record_count == 9
    flow.assert_equal(topic, empty)
    # And what MM2 was given then is old news: given again, it is where we are now.
    assert hand(flow) is not None
    given = {p.topic: at for p, at in read_mm2_positions(flow.links, flow.target).items()}
    assert (given[topic], given[empty]) == (13, 3)


def test_what_mm2_would_get_wrong_is_refused_and_nothing_is_written(
    flow: Mirrored, capsys: pytest.CaptureFixture[str]
) -> None:
    good, anew = flow.topic("good"), flow.topic("anew")
    for topic in (good, anew):
        flow.write(topic, numbered(10))
    flow.mirror().raise_if_incomplete()
    flow.delete_source_topic(anew)
    flow.topic("anew")
    command = ["--config", str(flow.config), "handover", flow.flow.id]
    assert main([*command, "--yes"]) == 1
    said = capsys.readouterr().err
    assert f"{anew}" in said
    assert "deleted and made again" in said
    assert "airmirror resume" in said
    assert main(command) == 2, "nobody to ask"
    assert "no terminal" in capsys.readouterr().err
    assert (read_mm2_positions(flow.links, flow.target), direction(flow)) == ({}, "forward")
    assert main([*command, "--back", "--yes"]) == 2
    assert "not handed over" in capsys.readouterr().err
