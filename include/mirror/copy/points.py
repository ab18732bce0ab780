"""Named points of a copy at which the fault suite may strike; nothing in production.

`AIRMIRROR_FAULT` lists faults, separated by `;`: `<point>:<nth>:<who>:<what>:<marker>` names the point, from which of
its occurrences in one process on it strikes, whom (`self`, or the `driver`), with what (`kill`, `freeze`, or `note`,
which does nothing more), and a file that is made first: it proves that the fault fired, and keeps it from firing twice.
Faults strike in the order of the list, whichever process gets there: each only when all before it have fired.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

POINTS = (
    "claim-written",
    "fenced",
    "planned",
    "claim-read",
    "initialised",
    "produced",
    "flushed",
    "syncs-sent",
    "committed",
    "turned-copy",
    "turned-heartbeats",
    "turned-return",
    "failback-decided",
    # Behind each step of an operation: done, and put on record as done.
    *(f"failover-{step}-{how}" for step in ("turn", "drain", "verify", "groups") for how in ("acted", "noted")),
    *(
        f"failback-{step}-{how}"
        for step in ("turn", "plan", "survivors", "return", "forward", "groups", "release")
        for how in ("acted", "noted")
    ),
)

_seen: Counter[str] = Counter()


def reached(point: str) -> None:
    """Say that a named point is reached."""
    faults = os.environ.get("AIRMIRROR_FAULT")
    if faults:
        _seen[point] += 1
        _strike(point, faults.split(";"))


def _strike(point: str, faults: list[str]) -> None:
    for fault in faults:
        wanted, nth, who, what, marker = fault.split(":", 4)
        if Path(marker).exists():
            continue
        if wanted == point and _seen[point] >= int(nth) and _mark(Path(marker)):
            _hit(who, what)
        return


def _mark(marker: Path) -> bool:
    """Make the marker; somebody else may have been first."""
    try:
        with marker.open("x", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    except FileExistsError:
        return False
    return True


def _hit(who: str, what: str) -> None:
    if what == "note":
        return
    victim = int(os.environ["AIRMIRROR_DRIVER_PID"]) if who == "driver" else os.getpid()
    os.kill(victim, signal.SIGKILL if what == "kill" else signal.SIGSTOP)
    if who == "driver" and what == "kill":
        signal.pause()  # the point is not passed while the driver's death is on its way
