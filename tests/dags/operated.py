"""A flow of the shared Airflow's file that fails over and comes back; what was written and read on both sides."""

from __future__ import annotations

from dags.airflow_world import AirflowWorld
from integration.returning import RoundTrip
from mirror.config import Flow


class Operated(RoundTrip):
    """`alias->west` of the file that Airflow reads: its topics and groups have the alias in their names."""

    def __init__(self, world: AirflowWorld, alias: str) -> None:
        self._world, self._alias = world, alias
        super().__init__(world.config.parent, world.east, world.west)

    def configure(self, lines: str) -> Flow:
        """The file is there already, and many flows' own."""
        self.aliases, self.prefix = (self._alias, "west"), self._world.topic(self._alias)
        self.flow = self._world.flow("->".join(self.aliases))
        return self.flow

    def group(self, label: str) -> str:
        return f"{self.prefix}-{label}"
