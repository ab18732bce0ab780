"""What MM2's Connect worker of a flow would be called, and where it would keep its offsets: on the target."""

from __future__ import annotations

from mirror.config.flows import Flow
from mirror.config.foreign import BY_NAME
from mirror.config.providers import resolve


def worker_setting(flow: Flow, name: str) -> str | None:
    """An option of the worker as the file has it: at top level, or as TARGET.name."""
    setting = flow.settings.get(f"target.cluster.{name}")
    return resolve(setting, flow.settings).strip() if setting is not None else None


def offsets_topic(flow: Flow) -> str:
    return worker_setting(flow, "offset.storage.topic") or f"mm2-offsets.{flow.source}.internal"


def offsets_partition_count(flow: Flow) -> int:
    """Partitions of an offsets topic that is still to be made; -1, the brokers' default, is MM2's affair."""
    text = worker_setting(flow, "offset.storage.partitions")
    wanted = int(text) if text else -1
    return wanted if wanted > 0 else int(BY_NAME["offset.storage.partitions"].default)


def offsets_replication_factor(flow: Flow, broker_count: int) -> int:
    """What the file says, or MM2's default as far as there are brokers."""
    name = "offset.storage.replication.factor"
    text = worker_setting(flow, name)
    return int(text) if text else min(int(BY_NAME[name].default), broker_count)


def worker_group(flow: Flow) -> str:
    """The Connect group whose members are MM2's processes that serve this flow."""
    return worker_setting(flow, "group.id") or f"{flow.source}-mm2"
