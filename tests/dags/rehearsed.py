"""A flow of the shared Airflow's file that is copied, with groups in the middle of its topic: something to rehearse."""

from __future__ import annotations

from dags.airflow_world import REHEARSED, AirflowWorld
from integration.group_reading import commit
from integration.records import numbered
from mirror.config import Flow
from mirror.copy.driver import CopyRequest, run_copy
from mirror.copy.execution import InProcessExecutor
from mirror.groups.run import run_checkpoints
from mirror.kafka.groups import Committed, GroupCluster
from mirror.kafka.values import TopicPartition

GROUPS = ("billing", "search-index", "warehouse")
RECORDS = 600
UNCOPIED = 7


def make_rehearsed(world: AirflowWorld) -> Flow:
    """The flow with its copy done but for the last records, and three groups with checkpoints."""
    flow, topic = world.flow(f"{REHEARSED}->west"), world.topic(REHEARSED)
    world.create(world.east, topic, partitions=3)
    world.write(world.east, topic, numbered(RECORDS, partitions=3))
    world.create_remote_topics(flow)
    run_copy(flow, CopyRequest(), lambda: InProcessExecutor(2)).raise_if_incomplete()
    source = GroupCluster("east", {"bootstrap.servers": world.east.bootstrap_servers})
    for number, group in enumerate(GROUPS, start=1):
        offsets = {TopicPartition(topic, p): Committed(20 * number + p) for p in range(3)}
        commit(source, world.topic(group), offsets)
    run_checkpoints(flow)
    world.write(world.east, topic, numbered(UNCOPIED, start=RECORDS))
    return flow
