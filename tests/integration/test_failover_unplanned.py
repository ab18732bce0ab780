"""The source is gone: killed in mid-copy, not asked anything, read afterwards to see whether the report was true."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faults.runs import Runs, wait_until
from integration import records
from integration.command import Command
from integration.crossing import Groups
from integration.group_reading import next_values
from integration.records import numbered
from mirror.kafka.values import TopicPartition
from world.kafka import KafkaCluster

SLOW = """
airmirror.copy.commit.bytes = 20000
airmirror.copy.commit.interval.ms = 150
airmirror.copy.max.bytes.per.second = 40000
airmirror.claim.renew.seconds = 1
airmirror.transaction.timeout.ms = 10000
"""
FIRST, THEN, LATE = 200, 4000, 600


@pytest.fixture
def groups(tmp_path: Path, fresh_clusters: Callable[..., tuple[KafkaCluster, ...]], west: KafkaCluster) -> Groups:
    (doomed,) = fresh_clusters("doomed")
    return Groups(tmp_path, doomed, west, SLOW)


@pytest.fixture
def runs(groups: Groups, tmp_path: Path) -> Iterator[Runs]:
    made = Runs(groups.flow.config, groups.flow.flow.id, tmp_path)
    yield made
    made.end()


def test_a_source_killed_in_mid_copy_leaves_what_the_report_says(
    groups: Groups, runs: Runs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    flow = groups.flow
    topic = flow.topic("orders", 2)
    flow.write(topic, numbered(FIRST, partitions=2))
    flow.mirror().raise_if_incomplete()
    zero = TopicPartition(topic, 0)
    behind, passed, ahead = (groups.name(word) for word in ("behind", "passed", "ahead"))
    flow.write(topic, numbered(THEN, start=FIRST, partitions=2, size=60))
    # Of the last two, the copy has nothing yet when their checkpoints are written: it passes the first of them later.
    for group, offset in ((behind, 40), (passed, 150), (ahead, 2000)):
        groups.commit(group, {zero: offset})
    groups.cross()
    assert (groups.there(passed, topic) or 0) < 150
    run = runs.in_process(window_s=300)
    wait_until(lambda: flow.states()[zero].position > 300, "the copy is under way")
    flow.write(topic, numbered(LATE, start=FIRST + THEN, partitions=2))
    flow.upstream.kill()

    page = tmp_path / "report.html"
    command = Command(flow, capsys, monkeypatch)
    outcome = command("failover", "--unplanned", "--yes", "--json", "--report", str(page))
    assert outcome.code == 0, outcome.err
    report = outcome.document
    ends = flow.target_ends()
    assert run.wait() != 0, "the copy that was under way has lost the flow"

    partitions = {p["partition"]: p for p in report["partitions"]}
    states = flow.states()
    flow.upstream.start()
    original, copied = flow.read(topic)[topic]
    for number in (0, 1):
        told, position = partitions[number], states[TopicPartition(topic, number)].position
        # Each committed record once, in order, and nothing else.
        assert len(copied[number]) == position
        assert not records.first_difference({number: original[number][:position]}, {number: copied[number]})
        # As the source was when it was last seen: all but what came late.
        assert told["source_end"] == (FIRST + THEN) / 2
        uncopied = [r for r in original[number] if told["position"] <= r.offset < told["source_end"]]
        assert told["missing_at_least"] == len(uncopied) > 0
        assert told["newest_record_ms"] == copied[number][-1].timestamp_ms
        assert len(original[number]) == (FIRST + THEN + LATE) / 2, "more is missing than was seen"
    assert report["missing_at_least"] == sum(p["missing_at_least"] for p in partitions.values())
    assert report["recovery_point_ms"] == min(copied[n][-1].timestamp_ms for n in (0, 1))

    # Groups: the very record where it was copied, the end of what was copied where it was not.
    for group, offset in ((behind, 40), (passed, 150)):
        (here,) = next_values(flow.upstream.bootstrap_servers, group, [zero], 1).values()
        (there,) = next_values(flow.downstream.bootstrap_servers, group, [groups.remote(zero)], 1).values()
        assert here == there, f"{group} stood at {offset}"
    assert groups.there(ahead, topic) == states[zero].downstream_end
    told_groups = {g["group"]: g["outcome"] for g in report["groups"]}
    assert (told_groups[passed], told_groups[behind]) == ("moved", "in place")

    text = page.read_text()
    assert all(word in text for word in ("recovery point", "at least", passed, "airmirror failback"))
    # Airflow and the source are back: nothing happens. Told again, it is the same report.
    assert command("copy").code == 1
    assert {p: e for p, e in flow.target_ends().items() if "internal" not in p.topic} == {
        p: e for p, e in ends.items() if "internal" not in p.topic
    }
    again = command("failover", "--unplanned", "--yes", "--json").document
    assert again == json.loads(json.dumps(report))
