"""Where several flows write one topic under one name, a group skips no record of any of them, and all come to rest."""

from __future__ import annotations

from collections import Counter

import pytest

from mirror.groups.mixed import Mixing, mixing_of
from mirror.groups.translation import is_looked_at, stored_answer
from mirror.records.routes import routes_of
from mirror.wire.history import Early, Exact, Unknown
from unit.groups.meshes import PARTITION, SHAPES, Mesh, file_of, flows_of

LIVES = range(12)
STEPS = 40


@pytest.mark.parametrize("shape", SHAPES)
def test_each_record_comes_once_to_every_cluster_and_then_nothing_moves(shape: str) -> None:
    for seed in LIVES:
        mesh = Mesh(shape, seed)
        mesh.steps(STEPS)
        rounds = 0
        while mesh.drain():
            rounds += 1
            assert rounds < 6, "still moving"
        assert mesh.drain() == 0
        for alias, log in mesh.logs.items():
            wanted = sorted(number for number in mesh.written if mesh.reaches(number, alias))
            assert sorted(log.numbers()) == wanted, alias


@pytest.mark.parametrize("shape", SHAPES)
def test_a_group_skips_no_record_of_any_flow(shape: str) -> None:
    met: Counter[str] = Counter()
    for seed in LIVES:
        mesh = Mesh(shape, seed)
        mesh.steps(STEPS)
        for name, flow in mesh.flows.items():
            ground, source = mesh.ground(name), mesh.logs[flow.source]
            for offset in {0, source.end, *(mesh.rng.randint(0, source.end) for _ in range(20))}:
                answer = stored_answer(ground, PARTITION, offset)
                met[type(answer.translation).__name__] += 1
                assert not is_looked_at(ground, PARTITION, offset, answer)
                _check(mesh, name, offset, answer.translation)
    if shape in ("ring", "diamond"):  # where a record lies on the way there, no cluster of the flow knows
        assert met["Exact"] + met["Early"] == 0, met
    else:
        assert met["Unknown"] == 0, met
        assert met["Early"] > 50, met


@pytest.mark.parametrize("shape", ["pair", "full mesh", "spokes", "chain"])
def test_a_group_that_has_seen_everything_sees_nothing_again_once_all_is_at_rest(shape: str) -> None:
    """However long ago the flow itself copied its last record: other flows' records behind it were seen too."""
    for seed in LIVES:
        mesh = Mesh(shape, seed)
        mesh.steps(STEPS)
        mesh.write(sorted(mesh.logs)[-1], 30)
        while mesh.drain():
            pass
        for name, flow in mesh.flows.items():
            answer = stored_answer(mesh.ground(name), PARTITION, mesh.logs[flow.source].end)
            assert answer.downstream is not None
            assert mesh.logs[flow.target].numbers(answer.downstream) == []


def _check(mesh: Mesh, name: str, offset: int, found: Exact | Early | Unknown) -> None:
    if isinstance(found, Unknown):
        assert found.reason
        return
    flow = mesh.flows[name]
    source, target = mesh.logs[flow.source], mesh.logs[flow.target]
    seen = set(source.numbers(0, offset))
    passed = {n for n in target.numbers(0, found.downstream) if mesh.reaches(n, flow.source)}
    assert passed <= seen, f"{name}: {offset} leads to {found}, behind {sorted(passed - seen)}"
    again = 0
    for number in target.numbers(found.downstream):
        if number not in seen:
            break
        again += 1
    if offset <= mesh.states[name].position if name in mesh.states else False:
        assert again <= (found.at_most if isinstance(found, Early) else 0), f"{name}: {offset} is earlier than {found}"


@pytest.mark.parametrize(
    ("shape", "flow", "expected"),
    [
        ("pair", "A->B", Mixing(from_target=True)),
        ("full mesh", "A->B", Mixing(from_target=True, hubs=frozenset({"C"}))),
        ("spokes", "A->H", Mixing(from_target=True)),
        ("pair and a reader", "A->C", Mixing(hubs=frozenset({"B"}))),
        ("chain", "A->B", Mixing(from_target=True)),
    ],
)
def test_the_file_says_who_mixes_in(shape: str, flow: str, expected: Mixing) -> None:
    found = flows_of(file_of(SHAPES[shape]))[flow]
    assert mixing_of(found, routes_of(found), PARTITION.topic) == expected


def test_what_comes_by_a_way_that_neither_side_knows_is_said() -> None:
    found = flows_of(file_of(SHAPES["ring"]))["A->B"]
    assert "records of B come to A from C" in mixing_of(found, routes_of(found), PARTITION.topic).unknown
