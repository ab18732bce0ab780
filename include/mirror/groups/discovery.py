"""Which groups of the source a flow is about, and what they committed; MM2's rule, with the reason for each."""

from __future__ import annotations

import time

from mirror.config import Flow
from mirror.errors import MirrorError
from mirror.filters import group_judge, topic_judge
from mirror.groups.rehearsal import is_copy
from mirror.groups.values import GroupsFound
from mirror.kafka.groups import GroupCluster, GroupListing, Offsets

_NEW_KINDS = "a share or streams group: it has no consumer's offsets that could be translated"
_OTHER_KINDS = "a group of kind `{}`: only consumers' offsets are translated"


class GroupSelector:
    """Decides about groups: the filter on names, and at least one offset in a topic that the topic filter takes."""

    def __init__(self, flow: Flow) -> None:
        self._groups = group_judge(flow)
        self._topics = topic_judge(flow)

    def judge_name(self, group: str) -> tuple[bool, str]:
        if is_copy(group):
            return False, "a drill's copy of a group"
        return self._groups.judge(group)

    def takes_topic(self, topic: str) -> bool:
        """MM2's rule here is the topic filter alone: internal topics and cycles are seen later, one by one."""
        return self._topics.judge(topic)[0]

    def is_of_interest(self, offsets: Offsets) -> bool:
        return any(self.takes_topic(p.topic) for p in offsets)


def discover_groups(flow: Flow, source: GroupCluster, *, only: str | None = None) -> GroupsFound:
    """Ask the source; `only` looks at one group, whatever the filters say of the others."""
    selector = GroupSelector(flow)
    listing = source.groups()
    left_out = _other_kinds(listing)
    filtered: dict[str, str] = {}
    wanted: list[str] = []
    for group in listing.consumer:
        accepted, reason = selector.judge_name(group)
        if accepted and only in (None, group):
            wanted.append(group)
        elif not accepted:
            filtered[group] = reason
    at_ms = int(time.time() * 1000)
    groups: dict[str, Offsets] = {}
    failures: dict[str, MirrorError] = {}
    for group, offsets in source.committed(wanted).items():
        if isinstance(offsets, MirrorError):
            failures[group] = offsets
        elif selector.is_of_interest(offsets):
            groups[group] = offsets
        else:
            left_out[group] = _nothing_to_translate(offsets)
    return GroupsFound(groups=groups, filtered=filtered, left_out=left_out, failures=failures, at_ms=at_ms)


def _other_kinds(listing: GroupListing) -> dict[str, str]:
    return {group: _OTHER_KINDS.format(kind) if kind else _NEW_KINDS for group, kind in listing.other.items()}


def _nothing_to_translate(offsets: Offsets) -> str:
    if not offsets:
        return "it has committed no offset, or its offsets expired"
    topics = sorted({p.topic for p in offsets})
    more = f" and {len(topics) - 1} more" if len(topics) > 1 else ""
    return f"it committed offsets only in topics that are not replicated: {topics[0]}{more}"
