"""How far each task is, told to the driver while it works: small datagrams, of which any may get lost."""

from __future__ import annotations

import json
import secrets
import socket
import time
from collections.abc import Mapping
from typing import NamedTuple, Self

# Seconds between two words of one task.
EVERY_S = 0.5
_LARGEST = 1_000


class Address(NamedTuple):
    """Where the driver listens, and the word that makes a datagram one of this run's."""

    host: str
    port: int
    word: str


class Way(NamedTuple):
    """What a task has behind it."""

    offsets: int = 0
    records: int = 0
    differences: int = 0

    def __add__(self, other: object) -> Way:
        if not isinstance(other, Way):
            return NotImplemented
        return Way(self.offsets + other.offsets, self.records + other.records, self.differences + other.differences)


class Listener:
    """The driver's ear."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, 0))
        except OSError:
            self._socket.bind(("", 0))  # the host is known to executors under an address that is not this machine's own
        self._socket.setblocking(False)
        self.address = Address(host, int(self._socket.getsockname()[1]), secrets.token_hex(8))
        self._ways: dict[int, Way] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def heard(self) -> Way:
        """All tasks' ways together, as far as they were heard of."""
        while True:
            try:
                said = json.loads(self._socket.recv(_LARGEST))
            except BlockingIOError:
                break
            except ValueError:
                continue  # not one of ours
            if isinstance(said, Mapping) and said.get("word") == self.address.word:
                self._ways[int(said["task"])] = Way(*map(int, said["way"]))
        return sum(self._ways.values(), Way())


class Beacon:
    """A task's voice; says nothing where nobody listens."""

    def __init__(self, task: int, told_to: Address | None) -> None:
        self._task = task
        self._told_to = told_to
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM) if told_to else None
        self._said_at = 0.0

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def tell(self, way: Way, *, at_once: bool = False) -> None:
        if self._socket is None or self._told_to is None:
            return
        now = time.monotonic()
        if now - self._said_at < EVERY_S and not at_once:
            return
        self._said_at = now
        said = json.dumps({"word": self._told_to.word, "task": self._task, "way": way})
        try:
            self._socket.sendto(said.encode(), (self._told_to.host, self._told_to.port))
        except OSError:
            pass  # no comparison hangs on its progress being seen
