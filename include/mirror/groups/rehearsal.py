"""Copies of groups under another name on the target, for a drill: made, found again, removed.

Their names begin with two underscores, which MM2's own default `groups.exclude` leaves out; our flows leave them out
whatever the file says.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from mirror.config import Flow
from mirror.config import options as opt
from mirror.errors import GroupInUse, MirrorError
from mirror.kafka.groups import GroupCluster

PREFIX = "__airmirror-drill:"
# Seconds to wait for the members of a drill that was killed to be dropped; twice what the brokers take.
EMPTY_S = 15.0
_PAUSE_S = 0.2


def copy_of(flow: Flow, run: str, group: str) -> str:
    """The name of a group's copy; no alias has a colon, so that no flow takes another's copies for its own."""
    return f"{_prefix(flow)}{run}:{group}"


def is_copy(group: str) -> bool:
    return group.startswith(PREFIX)


def leftovers(flow: Flow, target: GroupCluster) -> tuple[str, ...]:
    """The copies that an earlier drill of the flow left behind, because it was killed."""
    return tuple(group for group in target.groups().consumer if group.startswith(_prefix(flow)))


def _prefix(flow: Flow) -> str:
    own = flow[opt.FLOW_ID]
    return f"{PREFIX}{flow.slug}{f'#{own}' if own else ''}:"


def remove_copies(target: GroupCluster, groups: Iterable[str], *, wait_s: float = EMPTY_S) -> None:
    """Delete copies; waits for members that are just leaving, and fails where somebody goes on using one."""
    waiting = sorted(set(groups))
    if not all(is_copy(group) for group in waiting):
        raise ValueError(f"not a drill's groups: {waiting}")
    give_up = time.monotonic() + wait_s
    while waiting:
        refused = {g: answer for g, answer in target.delete(waiting).items() if isinstance(answer, MirrorError)}
        for error in refused.values():
            if not isinstance(error, GroupInUse):
                raise error
        if refused and time.monotonic() > give_up:
            raise GroupInUse(
                f"another drill is at work on cluster {target.alias}: group {min(refused)} has members",
                next_step="wait for its end, then run this again",
                cluster=target.alias,
                groups=sorted(refused)[:10],
            )
        waiting = sorted(refused)
        if waiting:
            time.sleep(_PAUSE_S)
