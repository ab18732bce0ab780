"""How far a copy is, told from what is committed on the target, wherever its slots run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mirror.copy.spec import FlowLinks, PartitionSpec
from mirror.copy.state import read_states
from mirror.errors import TryAgain
from mirror.kafka.cluster import Cluster
from mirror.kafka.values import TopicPartition


class Progress(Protocol):
    """Somebody who wants to know how it goes."""

    def say(self, text: str) -> None:
        """One line about a step."""

    def begin(self, partitions: Sequence[PartitionSpec]) -> None:
        """These partitions are being copied from now on."""

    def update(self, positions: Mapping[TopicPartition, int]) -> None:
        """Up to here records are committed."""

    def end(self) -> None:
        """No more updates."""


class SilentProgress:
    """For whom nobody watches."""

    def say(self, text: str) -> None:
        pass

    def begin(self, partitions: Sequence[PartitionSpec]) -> None:
        pass

    def update(self, positions: Mapping[TopicPartition, int]) -> None:
        pass

    def end(self) -> None:
        pass


def watch_positions(links: FlowLinks, target: Cluster, read_to: int) -> Callable[[], Mapping[TopicPartition, int]]:
    """A function that gives all positions committed so far; each call reads only what is new."""
    positions: dict[TopicPartition, int] = {}
    at = read_to

    def read() -> Mapping[TopicPartition, int]:
        nonlocal at
        try:
            stable = target.stable_ends([links.syncs]).get(links.syncs, at)
            if stable > at:
                found = read_states(links, target, at, until=stable)
                at = found.read_to
                positions.update({partition: state.position for partition, state in found.states.items()})
        except TryAgain:
            pass  # nobody's records hang on a progress bar
        return positions

    return read
