"""MM2's own memory of what lies where: a port of its sync store, for offsets before anything that airmirror copied.

MM2 keeps 64 syncs per partition, the newest first, older ones at distances that grow like powers of two. It answers
with a sync's own downstream offset or the one behind it, never with more, so its answers are early, often by thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mirror.wire.history import BEFORE_HISTORY, Early, Exact, Translation
from mirror.wire.offset_sync import OffsetSync

SLOTS = 64
_LARGEST = 2**63 - 1


class SyncStore:
    """The syncs of one partition, thinned as MM2 thins them; one sync may fill several slots."""

    def __init__(self) -> None:
        self._slots: tuple[OffsetSync, ...] = ()

    @property
    def distinct(self) -> list[OffsetSync]:
        """The syncs it holds, newest first."""
        kept: list[OffsetSync] = []
        for sync in self._slots:
            if not kept or kept[-1] is not sync:
                kept.append(sync)
        return kept

    def add(self, sync: OffsetSync) -> None:
        """Take in the next sync; one that lies upstream of the newest means a rewind, and all before it is dropped."""
        if not self._slots or sync.upstream_offset < self._slots[0].upstream_offset:
            self._slots = (sync,) * SLOTS
        else:
            self._slots = tuple(_updated(self._slots, sync))

    def clear(self) -> None:
        self._slots = ()

    def translate(self, offset: int) -> int | None:
        """MM2's own answer: at a sync its downstream offset, behind one the next; None before all it knows."""
        found = next((sync for sync in self._slots if sync.upstream_offset <= offset), None)
        if found is None:
            return None
        return found.downstream_offset + (found.upstream_offset != offset)

    def bracket(self, offset: int, *, known_end: int) -> Translation:
        """MM2's answer and how early it may be: the truth lies no later than the next sync it kept, or `known_end`."""
        early = self.translate(offset)
        if early is None:
            return BEFORE_HISTORY
        later = [sync.downstream_offset for sync in self._slots if sync.upstream_offset >= offset]
        latest = min(later[-1] if later else known_end, known_end)
        early = min(early, known_end)
        return Early(early, latest - early) if latest > early else Exact(early)


def store_of(syncs: Iterable[OffsetSync]) -> SyncStore:
    """The store after these syncs of one partition, oldest first.

    Unlike MM2, which never looks at downstream offsets: one that goes back means that the remote topic was made anew,
    and translations into the old one would skip records.
    """
    store = SyncStore()
    newest: OffsetSync | None = None
    for sync in syncs:
        if newest is not None and sync.downstream_offset < newest.downstream_offset:
            store.clear()
        store.add(sync)
        newest = sync
    return store


def _updated(old: Sequence[OffsetSync], sync: OffsetSync) -> list[OffsetSync]:
    """The table behind one more sync: slot k+1 may be at most 2^k older than slot k, and should be 2^(k-2) or more."""
    new = list(old)
    new[0] = candidate = sync
    reading = 0
    for slot in range(1, SLOTS):
        while True:
            offered = old[reading]
            apart = _apart(new[slot - 1], offered, slot - 1)
            fits = (
                _near(new[slot - 1], offered, slot - 1)
                and apart
                and (slot == SLOTS - 1 or _apart(offered, new[slot + 1], slot))
            )
            if fits:
                candidate = offered
            discard = (reading < SLOTS - 1 and old[reading + 1] is offered) or not apart
            if fits or discard:
                reading += 1
            if not (discard and reading < slot):
                break
        if _near(new[slot - 1], new[slot], slot - 1):
            break
        new[slot] = candidate
    return new


def _near(newer: OffsetSync, older: OffsetSync, slot: int) -> bool:
    limit = older.upstream_offset + (1 << slot)
    return newer is older or limit > _LARGEST or newer.upstream_offset <= limit


def _apart(newer: OffsetSync, older: OffsetSync, slot: int) -> bool:
    limit = older.upstream_offset + (1 << max(slot - 2, 0))
    return newer is older or (limit <= _LARGEST and newer.upstream_offset >= limit)
