"""Translation where records went both ways: brought forward (F), and returned after a failover (R).

Each of the two is in order on both sides, the two together are not:

upstream     F F F F | s s | r r r r |        s: survivors, brought forward late    r: returned
downstream   F F F F | r r r r | s s |

So a group goes on at the smallest counterpart of any record that it has not seen: the smaller of F's answer and R's.
That may be early; it is never late.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter

from mirror.wire.history import BEFORE_HISTORY, Early, Exact, History, Translation, Unknown, Upstream

_upstream_end = attrgetter("upstream_end")
_downstream_end = attrgetter("downstream_end")


def translate_both(forward: History, returned: History, offset: int, *, position: int, end: int) -> Translation:
    """From upstream to downstream; `end` is where the target goes on for a group that has seen everything."""
    brought = _forth(forward, offset)
    if isinstance(brought, Unknown):
        return brought
    if not forward.segments and not forward.complete_from_start and offset < position:
        return BEFORE_HISTORY  # something was brought, and its history was dropped
    came = _back(returned, offset)
    if brought is None and came is None:
        return Exact(end) if offset <= position else Early(end, offset - position)
    if came is None or isinstance(came, Unknown):
        return brought if brought is not None else Exact(end)
    back = Early(came.offset, came.at_most) if came.at_most else Exact(came.offset)
    if brought is None:
        return back
    return _smaller(brought, back, is_next=_next_forth(forward, offset) < _next_back(returned, offset))


def translate_both_back(forward: History, returned: History, downstream: int, *, position: int) -> Upstream | Unknown:
    """From downstream to upstream; one that has seen everything goes on at the position."""
    brought = _back(forward, downstream)
    if isinstance(brought, Unknown):
        return brought
    if not forward.segments and not forward.complete_from_start:
        return BEFORE_HISTORY
    came = _forth(returned, downstream)
    there = None if came is None or isinstance(came, Unknown) else Upstream(came.downstream, _at_most(came))
    found = [each for each in (brought, there) if each is not None]
    return min(found, key=lambda each: each.offset, default=Upstream(position, 0))


def _smaller(brought: Exact | Early, back: Exact | Early, *, is_next: bool) -> Translation:
    """The smaller one; exact only where the very next record is behind it."""
    first, other = (brought, back) if brought.downstream <= back.downstream else (back, brought)
    if (first is brought) == is_next:
        return first
    return Early(first.downstream, other.downstream + _at_most(other) - first.downstream)


def _at_most(found: Exact | Early) -> int:
    return found.at_most if isinstance(found, Early) else 0


def _forth(history: History, offset: int) -> Exact | Early | Unknown | None:
    """The copy of the first record at or behind an upstream offset; None where none is behind it."""
    segments = history.segments
    if not segments or offset >= segments[-1].upstream_end:
        return None
    return history.translate(offset, position=segments[-1].upstream_end)


def _back(history: History, downstream: int) -> Upstream | Unknown | None:
    segments = history.segments
    if not segments or downstream >= segments[-1].downstream_end:
        return None
    return history.translate_back(downstream, position=segments[-1].upstream_end)


def _next_forth(history: History, offset: int) -> int:
    """The upstream offset at which the first copied record at or behind this one lies, as far as segments tell."""
    return max(offset, history.segments[bisect_right(history.segments, offset, key=_upstream_end)].upstream_start)


def _next_back(history: History, downstream: int) -> int:
    at = bisect_right(history.segments, downstream, key=_downstream_end)
    return max(downstream, history.segments[at].downstream_start)
