"""Change single settings of topics and leave all others as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from confluent_kafka.admin import AlterConfigOpType, ConfigResource, ResourceType
from confluent_kafka.admin import ConfigEntry as ClientConfigEntry

from mirror.errors import MirrorError
from mirror.kafka.cluster import BATCH, REQUEST_TIMEOUT_S, Cluster

Operation = Literal["set", "delete"]
_OPERATIONS = {"set": AlterConfigOpType.SET, "delete": AlterConfigOpType.DELETE}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """One setting of a topic to be set, or to be deleted so that the cluster's default holds again."""

    name: str
    operation: Operation
    value: str = ""


def alter_settings(
    cluster: Cluster, changes: Mapping[str, Sequence[SettingChange]], *, validate_only: bool = False
) -> dict[str, MirrorError | None]:
    """Change each topic's settings, all of a topic or none; per topic None or the error."""
    outcomes: dict[str, MirrorError | None] = {}
    for batch in _batches(changes):
        request = cluster._client.incremental_alter_configs(
            [_resource(topic, wanted) for topic, wanted in batch],
            request_timeout=REQUEST_TIMEOUT_S,
            validate_only=validate_only,
        )
        for resource, future in request.items():
            action = f"change settings of {resource.name}"
            outcomes[resource.name] = cluster._outcome(action, future, ())
    return outcomes


def _resource(topic: str, changes: Sequence[SettingChange]) -> ConfigResource:
    entries: list[Any] = [
        ClientConfigEntry(
            change.name,
            change.value if change.operation == "set" else None,
            incremental_operation=_OPERATIONS[change.operation],
        )
        for change in changes
    ]
    return ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)


def _batches(
    changes: Mapping[str, Sequence[SettingChange]],
) -> Iterator[Sequence[tuple[str, Sequence[SettingChange]]]]:
    items = sorted(changes.items())
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))
