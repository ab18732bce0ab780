"""What MM2's worker is called and where it keeps its offsets, as the file says or by MM2's own defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.config.mm2_worker import offsets_partition_count, offsets_replication_factor, offsets_topic, worker_group


@pytest.mark.parametrize(
    ("lines", "topic", "partitions", "factor", "group"),
    [
        pytest.param("", "mm2-offsets.A.internal", 25, 2, "A-mm2", id="defaults, on two brokers"),
        pytest.param(
            "B.offset.storage.topic = ours\nB.offset.storage.partitions = 5\nB.group.id = g\n",
            *("ours", 5, 2, "g"),
            id="of the target cluster",
        ),
        pytest.param("A.offset.storage.topic = ours\n", "mm2-offsets.A.internal", 25, 2, "A-mm2", id="of the other"),
        pytest.param(
            "offset.storage.topic = top\nB.offset.storage.topic = ours\noffset.storage.replication.factor = 1\n",
            *("top", 25, 1, "A-mm2"),
            id="the top level beats the cluster",
        ),
        pytest.param(
            "offset.storage.partitions = -1\n", "mm2-offsets.A.internal", 25, 2, "A-mm2", id="brokers' default"
        ),
    ],
)
def test_the_workers_own_settings(
    tmp_path: Path, lines: str, topic: str, partitions: int, factor: int, group: str
) -> None:
    flow = flow_from(tmp_path, lines)
    assert (offsets_topic(flow), offsets_partition_count(flow)) == (topic, partitions)
    assert (offsets_replication_factor(flow, 2), worker_group(flow)) == (factor, group)
