"""Records of the source that were copied there without saying where from: copied on, they would come back.

A cluster that takes part in provenance may hold what flows brought before it was on. Such records look like its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mirror import naming
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.spec import FlowLinks
from mirror.copy.state import read_mm2_positions, read_states
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicDescription, TopicPartition


def unmarked_copies(
    flow: Flow,
    links: FlowLinks,
    source: Cluster,
    fresh: Iterable[TopicPartition],
    topics: Mapping[str, TopicDescription],
) -> dict[TopicPartition, str] | None:
    """Of these partitions of the source, which are about to be copied first, those that hold such records, and by whom.

    None where the flow does not ask for provenance. Read for partitions without a position only: one look, mostly.
    """
    if not flow[opt.PROVENANCE_HEADERS] or links.is_of_heartbeats:
        return None
    wanted = set(fresh)
    found: dict[TopicPartition, str] = {}
    for alias in flow.aliases:
        if not wanted or alias == flow.source:
            continue
        incoming = incoming_links(links, alias)
        has_run = bool(source.describe([incoming.syncs_topic]))
        for partition, state in read_states(incoming, source).states.items() if has_run else ():
            # Under another name, or into a topic that was deleted since, its copies are not here.
            is_here = partition in wanted and state.target_topic_id in ("", topics[partition.topic].id)
            if is_here and state.record_count and not state.is_marked:
                found[partition] = incoming.flow
        for partition in wanted.intersection(read_mm2_positions(incoming, source)):
            found[partition] = f"MM2's {incoming.flow}"
    return found


def incoming_links(links: FlowLinks, alias: str, *, into_target: bool = False) -> FlowLinks:
    """The flow from another cluster into this flow's source, or into its target, as far as its states go."""
    cluster = links.target if into_target else links.source
    return replace(
        links,
        flow=f"{alias}->{cluster}",
        source=alias,
        target=cluster,
        target_consumer=links.target_consumer if into_target else links.source_consumer,
        syncs_topic=naming.syncs_topic(alias),
        mm2_offsets_topic=f"mm2-offsets.{alias}.internal",
    )
