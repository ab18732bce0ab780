"""Topics that applications made on the target while it led: they come home, or are named with what brings them."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.copying import make_topic
from integration.returning import IDENTITY, RoundTrip
from mirror.operations.failover import run_failover
from mirror.operations.failover_plan import FailoverRequest
from world.kafka import KafkaCluster


@pytest.mark.long("a failover that nobody needed")
def test_a_flow_that_never_copied_anything_brings_nothing_home(
    tmp_path: Path, east: KafkaCluster, west: KafkaCluster
) -> None:
    flow = RoundTrip(tmp_path, east, west, IDENTITY)
    theirs = f"{flow.prefix}-theirs"
    make_topic(flow.target, theirs)
    flow.write_there(theirs, "theirs", (2,))
    run_failover(flow.flow, FailoverRequest(planned=False))  # no copy has run, so no group has a checkpoint
    report = flow.fail_back()
    assert (report.returned, report.partitions) == (0, ())
    assert theirs not in flow.source.topic_names()
