"""By which flows records get from the cluster they were written on to all others: of several ways, one.

Where flows form more than a line, a record could reach a cluster twice: A->C directly, and A->B->C. Every flow asks
this map, made of the file alone, and copies only what comes its way: the shortest, and of equally short ones the first
in the file. So in a full mesh each cluster gets a record from where it was written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from mirror.config import Flow
from mirror.config.scopes import is_security_name
from mirror.config.secrets import is_secret
from mirror.selection import Selector

# Settings of clients, which may hold secrets and are not needed here.
_CLIENTS = ("source.", "target.", "consumer.", "producer.", "admin.")
_ALIASES = ("source.cluster.alias", "target.cluster.alias")


class Place(NamedTuple):
    """A topic on a cluster."""

    cluster: str
    topic: str


class Routes:
    """The ways of all enabled flows of a file; a value that pickles and holds no credentials."""

    def __init__(self, flows: Iterable[Flow]) -> None:
        self._flows = tuple(without_clients(flow) for flow in flows if flow.enabled)
        self._trees: dict[Place, dict[str, tuple[Place, Place]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Routes, (self._flows,)

    @cached_property
    def _selectors(self) -> tuple[Selector, ...]:
        return tuple(Selector(flow) for flow in self._flows)

    def step_to(self, cluster: str, origin: Place) -> tuple[Place, Place] | None:
        """The last step by which records of a topic reach a cluster: from where, and as what; None if they do not."""
        if origin not in self._trees:
            self._trees[origin] = self._tree(origin)
        return self._trees[origin].get(cluster)

    def _tree(self, origin: Place) -> dict[str, tuple[Place, Place]]:
        steps: dict[str, tuple[Place, Place]] = {}
        waiting = deque([origin])
        while waiting:
            place = waiting.popleft()
            for selector in self._selectors:
                flow = selector.flow
                if flow.source != place.cluster or flow.target in steps or flow.target == origin.cluster:
                    continue
                decision = selector.decide(place.topic)
                if decision.selected:
                    there = Place(flow.target, decision.remote_topic)
                    steps[flow.target] = (place, there)
                    waiting.append(there)
        return steps


def routes_of(flow: Flow) -> Routes:
    return Routes(flow.file_flows or (flow,))


def without_clients(flow: Flow) -> Flow:
    """The flow without what it needs to reach clusters."""
    settings = {
        name: setting
        for name, setting in flow.settings.items()
        if name in _ALIASES or not (name.startswith(_CLIENTS) or is_secret(name) or is_security_name(name))
    }
    return replace(flow, settings=settings, file_flows=(), _typed={})
