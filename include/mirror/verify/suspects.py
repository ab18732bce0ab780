"""Records of a compacted topic that have no counterpart, until a later record with their key clears them.

A record that one side cleaned away is right if a later one with its key is there. Later means further on in the same
walk, so one pass is enough, and only keys under suspicion are remembered. Should there be too many of them, only a
share of all keys is looked at, and the other shares are left for further passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from mirror.verify.entries import Content

# Keys of one partition that are remembered at once, at about 250 bytes each.
KEYS_MAX = 200_000


class Share(NamedTuple):
    """The keys whose hash leaves this remainder: all of them for 0 of 1."""

    number: int = 0
    of: int = 1

    def has(self, key: int) -> bool:
        return key % self.of == self.number

    def others(self, narrowed: Share) -> Iterator[Share]:
        """What is left of this share when a pass could only look at the narrowed one."""
        for number in range(self.number, narrowed.of, self.of):
            if number != narrowed.number:
                yield Share(number, narrowed.of)


@dataclass(slots=True)
class Suspicion:
    """The first record of a key that has no counterpart, and how many there are."""

    place: int
    offset: int
    content: Content
    count: int = 1


@dataclass(slots=True)
class Suspects:
    """The keys under suspicion on both sides."""

    share: Share = field(default_factory=Share)
    keys_max: int = KEYS_MAX
    missing: dict[int, Suspicion] = field(default_factory=dict)
    extra: dict[int, Suspicion] = field(default_factory=dict)
    cleared: int = 0

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra)

    def note(self, of: dict[int, Suspicion], place: int, offset: int, content: Content) -> None:
        """A record without a counterpart; it goes on top of earlier ones of its key."""
        key = content[0]
        if not self.share.has(key):
            return
        known = of.get(key)
        if known is not None:
            # The earlier ones have a later record now: this one, if it is on the side that they were looked for on.
            known.count += 1
            known.content = content
            return
        of[key] = Suspicion(place, offset, content)
        if len(self.missing) + len(self.extra) > self.keys_max:
            self._narrow()

    def clear(self, contents: Iterable[Content], *sides: dict[int, Suspicion]) -> None:
        """Later records are there: their keys are no longer under suspicion."""
        for content in contents:
            for side in sides:
                known = side.pop(content[0], None)
                if known is not None:
                    self.cleared += known.count

    def _narrow(self) -> None:
        self.share = Share(self.share.number, self.share.of * 2)
        for side in (self.missing, self.extra):
            for key in [key for key in side if not self.share.has(key)]:
                del side[key]
