"""What a person sees while services start: one line per step with the time, and a spinner while it lasts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


class Progress:
    """Lines on stdout, each with the seconds since the start."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        self.console.print(f"[dim]{self.seconds:5.0f} s[/dim]  {text}", soft_wrap=True)

    @contextmanager
    def doing(self, text: str) -> Iterator[None]:
        """Say what is being done, and turn a wheel meanwhile where there is a terminal."""
        self.say(text)
        with self.console.status(text):
            yield
