"""The heartbeats' copy stands beside a flow's copy: nothing that one fences or claims is the other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow_files import flow_from
from mirror.copy.links import links_of
from mirror.copy.spec import transactional_id


@pytest.mark.parametrize("lines", ["", "airmirror.flow.id = heartbeats", "airmirror.flow.id = blue"])
def test_the_heartbeats_copy_has_a_claim_and_ids_of_its_own_and_the_same_state_topics(
    tmp_path: Path, lines: str
) -> None:
    flow = flow_from(tmp_path, lines)
    records, heartbeats = links_of(flow), links_of(flow, heartbeats=True)
    assert records.flow_key != heartbeats.flow_key
    ids = {transactional_id(links.flow_key, slot) for links in (records, heartbeats) for slot in range(32)}
    assert len(ids) == 64
    assert (records.syncs_topic, records.control_topic) == (heartbeats.syncs_topic, heartbeats.control_topic)
    assert (records.is_of_heartbeats, heartbeats.is_of_heartbeats) == (False, True)


def test_no_flow_id_makes_one_flows_copy_take_anothers_heartbeats(tmp_path: Path) -> None:
    keys = {
        links_of(flow_from(tmp_path, lines), heartbeats=heartbeats).flow_key
        for lines in ("", "airmirror.flow.id = heartbeats", "airmirror.flow.id = A-B")
        for heartbeats in (False, True)
    }
    assert len(keys) == 6
