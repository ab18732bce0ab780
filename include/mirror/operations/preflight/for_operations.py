"""Rights beyond the flow's own that operations on it need; told on the page, since a flow runs without them."""

from __future__ import annotations

from collections.abc import Iterator

from mirror.config import Flow
from mirror.kafka.rights import Resource
from mirror.operations.preflight import places
from mirror.operations.preflight.rights import Row

_MM2_POSITIONS = "`mm2-offsets.A.internal`"


def _drill_groups(_: Flow) -> Iterator[Resource]:
    yield Resource(kind="group", name="__airmirror-drill:", prefixed=True)


OPERATIONS: tuple[Row, ...] = (
    Row(side="target", operation="READ", where="groups: `*`", resources=places.every_group, tasks=("failover",),
        why="set groups' offsets, also where the file does not sync them"),
    Row(side="target", operation="READ", where="groups: the prefix `__airmirror-drill:`", resources=_drill_groups,
        tasks=("drill",), why="rehearse with copies of the groups"),
    Row(side="target", operation="DELETE", where="groups: the prefix `__airmirror-drill:`", resources=_drill_groups,
        tasks=("drill",), why="delete the copies at the end"),
    Row(side="target", operation="CREATE", where=_MM2_POSITIONS, resources=places.mm2_positions, need="unless made",
        tasks=("handover",), why="leave MM2 its positions"),
    Row(side="target", operation="DESCRIBE_CONFIGS", where=_MM2_POSITIONS, resources=places.mm2_positions,
        tasks=("handover",), why="see that MM2 would start with it"),
    Row(side="target", operation="WRITE", where=_MM2_POSITIONS, resources=places.mm2_positions, tasks=("handover",),
        why="leave MM2 its positions"),
    Row(side="source", operation="CREATE", where="`mm2-offset-syncs.B.internal`, or on the target "
        "`mm2-offset-syncs.A.internal`, by `offset-syncs.topic.location`", resources=places.mm2_syncs("source"),
        need="unless made", tasks=("handover",), why="leave MM2 its offset syncs"),
    Row(side="source", operation="WRITE", where="the same", resources=places.mm2_syncs("source"),
        tasks=("handover",), why="leave MM2 its offset syncs"),
)  # fmt: skip
