"""The bytes of a history's segments.

Coded backwards from the head, because there segments are short and the gaps between them small; all are varints:

    count << 1 | complete_from_start    [upstream end, downstream end]
    then, per segment, newest first:
    length << 2 | is inexact << 1 | is followed by other gaps than one upstream offset (a marker) and none downstream
    [upstream gap, downstream gap]
    [lost << 1 | slack and bound are both `lost`, zigzag    [slack, bound - slack]]

`lost` is the upstream minus the downstream length. "n records, then a marker" takes two bytes for n below 4,096.
"""

from __future__ import annotations

from mirror.wire.primitives import (
    read_unsigned_varint,
    read_varint,
    unreadable,
    write_unsigned_varint,
    write_varint,
)
from mirror.wire.segments import Segment

_OTHER_GAPS = 1
_INEXACT = 2


def encode_segments(segments: tuple[Segment, ...], complete_from_start: bool) -> bytes:
    out = bytearray()
    write_unsigned_varint(out, len(segments) << 1 | complete_from_start)
    if not segments:
        return bytes(out)
    upstream, downstream = segments[-1].upstream_end, segments[-1].downstream_end
    write_unsigned_varint(out, upstream)
    write_unsigned_varint(out, downstream)
    for up, up_length, down, down_length, slack, bound in reversed(segments):
        gaps = (upstream - up - up_length, downstream - down - down_length)
        other = gaps != (1, 0)
        lost = up_length - down_length
        inexact = bool(lost or slack or bound)
        write_unsigned_varint(out, up_length << 2 | inexact << 1 | other)
        if other:
            write_unsigned_varint(out, gaps[0])
            write_unsigned_varint(out, gaps[1])
        if inexact:
            usual = slack == lost == bound
            write_varint(out, lost << 1 | usual)
            if not usual:
                write_unsigned_varint(out, slack)
                write_unsigned_varint(out, bound - slack)
        upstream, downstream = up, down
    return bytes(out)


def decode_segments(raw: bytes) -> tuple[Segment, ...]:
    first, at = read_unsigned_varint(raw, 0)
    if not first >> 1:
        return ()
    upstream, at = read_unsigned_varint(raw, at)
    downstream, at = read_unsigned_varint(raw, at)
    newest_first = []
    for _ in range(first >> 1):
        tag, at = read_unsigned_varint(raw, at)
        up_gap, down_gap, lost, slack, spread = 1, 0, 0, 0, 0
        if tag & _OTHER_GAPS:
            up_gap, at = read_unsigned_varint(raw, at)
            down_gap, at = read_unsigned_varint(raw, at)
        if tag & _INEXACT:
            packed, at = read_varint(raw, at)
            lost = packed >> 1
            slack = lost
            if not packed & 1:
                slack, at = read_unsigned_varint(raw, at)
                spread, at = read_unsigned_varint(raw, at)
        up_length = tag >> 2
        upstream -= up_gap + up_length
        downstream -= down_gap + up_length - lost
        newest_first.append(Segment(upstream, up_length, downstream, up_length - lost, slack, slack + spread))
    if upstream < 0 or downstream < 0 or at != len(raw):
        raise unreadable("the segments of a history do not fit its length")
    newest_first.reverse()
    return tuple(newest_first)
