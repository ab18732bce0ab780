"""One right as a value: what it is on, why it is needed, what spares it, and the command that grants it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from mirror.config import Flow
from mirror.config.flows import Side
from mirror.kafka.rights import Resource

# "unless made": a topic that was made by hand spares it. "if there": needed only while there is such a topic, but it
# must be known whether there is. "if met": needed only in a case that the clusters show.
Need = Literal["always", "unless made", "if there", "if met"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """One operation on one resource of one side; granting it is one command."""

    side: Side
    operation: str
    resource: Resource
    why: str
    tasks: tuple[str, ...]
    # The line of the file without which it is not asked for; empty where nothing spares it.
    spared_by: str = ""
    need: Need = "always"

    def __str__(self) -> str:
        return f"{self.operation} on {self.resource}"

    def command(self, principal: str, servers: str) -> str:
        """The command that grants it."""
        return (
            f"kafka-acls.sh --bootstrap-server {servers} --add --allow-principal {shlex.quote(principal)} "
            f"--operation {operation_word(self.operation)} {self.resource.arguments}"
        )


def operation_word(operation: str) -> str:
    """As kafka-acls.sh spells it: DescribeConfigs."""
    return "".join(part.capitalize() for part in operation.split("_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table: `where` tells the resources in words, `resources` gives those of one flow."""

    side: Side
    operation: str
    where: str
    resources: Callable[[Flow], Iterable[Resource]]
    why: str
    tasks: tuple[str, ...]
    spared_by: str = ""
    need: Need = "always"
    is_asked: Callable[[Flow], bool] = lambda flow: flow.enabled

    def rights(self, flow: Flow) -> Iterator[Right]:
        for resource in self.resources(flow) if self.is_asked(flow) else ():
            yield Right(
                side=self.side,
                operation=self.operation,
                resource=resource,
                why=self.why,
                tasks=self.tasks,
                spared_by=self.spared_by,
                need=self.need,
            )


def without_covered(rights: Iterable[Right]) -> tuple[Right, ...]:
    """Each once, and none that another one brings along: `A.checkpoints.internal` lies within the prefix `A.`.

    Of two that differ only in their reason the first counts.
    """
    asked = list({(r.side, r.operation, r.resource): r for r in reversed(list(rights))}.values())[::-1]
    return tuple(right for right in asked if not any(_covers(other, right) for other in asked))


def _covers(other: Right, right: Right) -> bool:
    same = (other.side, other.operation) == (right.side, right.operation)
    return same and other.resource != right.resource and other.resource.covers(right.resource)
