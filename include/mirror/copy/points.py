"""Named points of a copy at which the fault suite may strike; nothing in production.

`AIRMIRROR_FAULT=<point>:<nth>:<who>:<what>:<marker>` names the point, on which of its occurrences in one process it
strikes, whom (`self`, or the `driver`), with what (`kill`, or `freeze`), and a file that is made first: it proves that
the fault fired, and keeps it from firing twice.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

POINTS = ("claim-written", "fenced", "planned", "initialised", "produced", "flushed", "syncs-sent", "committed")

_seen: Counter[str] = Counter()


def reached(point: str) -> None:
    """Say that a named point is reached."""
    fault = os.environ.get("AIRMIRROR_FAULT")
    if fault:
        _strike(point, fault)


def _strike(point: str, fault: str) -> None:
    wanted, nth, who, what, marker = fault.split(":", 4)
    if point != wanted:
        return
    _seen[point] += 1
    if _seen[point] != int(nth):
        return
    try:
        with Path(marker).open("x", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    except FileExistsError:
        return
    victim = int(os.environ["AIRMIRROR_DRIVER_PID"]) if who == "driver" else os.getpid()
    os.kill(victim, signal.SIGKILL if what == "kill" else signal.SIGSTOP)
    if who == "driver":
        signal.pause()  # the point is not passed while the driver's death is on its way
