"""Who plans a failover of a source that does not answer is told of the way that does not need it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.errors import ClusterUnreachable
from mirror.operations.failover_plan import unplanned_if_unreachable


@pytest.mark.parametrize(("cluster", "is_told"), [("A", True), ("B", False)])
def test_only_a_dead_source_leads_to_unplanned(tmp_path: Path, cluster: str, is_told: bool) -> None:
    with pytest.raises(ClusterUnreachable) as raised, unplanned_if_unreachable(flow_from(tmp_path)):
        raise ClusterUnreachable(f"could not list topics on cluster {cluster}", next_step="check", cluster=cluster)
    assert ("airmirror failover 'A->B' --unplanned" in raised.value.next_step) == is_told
    assert raised.value.message.startswith(f"could not list topics on cluster {cluster}")
    assert raised.value.about["cluster"] == cluster
