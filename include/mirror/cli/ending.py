"""SIGTERM ends a command as Ctrl-C does: whatever it must leave in order, it leaves in order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EXIT_BY_SIGNAL = 128


class Terminated(KeyboardInterrupt):
    """SIGTERM, which is to end a command as cleanly as Ctrl-C does."""


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    def terminate(_: int, __: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """What a shell expects of a command that a signal ended."""
    return EXIT_BY_SIGNAL + (signal.SIGTERM if isinstance(interrupt, Terminated) else signal.SIGINT)
