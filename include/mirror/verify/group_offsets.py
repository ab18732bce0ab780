"""Groups' offsets compared: does every group of the source have its place on the target, and is none of them late?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.spec import FlowLinks
from mirror.errors import MirrorError
from mirror.groups.checkpoints import GroupRemote, Known, read_checkpoints
from mirror.groups.offsets import TargetGroups, look_at_target
from mirror.groups.run import Translated, clusters_of, translate_groups
from mirror.groups.translation import stored_answer
from mirror.groups.values import GroupPartition
from mirror.kafka.groups import Offsets
from mirror.verify.report import Deviation


def compare_groups(flow: Flow, links: FlowLinks) -> tuple[list[Deviation], list[str]]:
    """What differs, and what is told without being a difference."""
    if not flow[opt.EMIT_CHECKPOINTS_ENABLED]:
        return [], [f"groups were not compared: {opt.EMIT_CHECKPOINTS_ENABLED.name} = false"]
    with clusters_of(links) as (source, target):
        if not target.describe([links.syncs_topic]):
            return [], ["groups were not compared: nothing was copied yet"]
        known = read_checkpoints(flow, links, target)
        translated = translate_groups(flow, links, source, target)
        there = look_at_target(target, known.values())
    return judge_groups(flow, translated, known, there)


def judge_groups(
    flow: Flow, translated: Translated, known: Mapping[GroupRemote, Known], there: TargetGroups
) -> tuple[list[Deviation], list[str]]:
    """The same of what was read; pure."""
    found = [
        Deviation(part="groups", name=group, what=f"could not be compared: {error.message}")
        for group, error in sorted(translated.found.failures.items())
    ]
    found += [each for p in translated.partitions for each in _differences(flow, p, known, translated, there)]
    notices = []
    if ahead := sum(_is_ahead(p, there) for p in translated.partitions):
        notices.append(f"{ahead} partitions of groups stand further on {flow.target} than they would be set")
    copied = [p for p in translated.partitions if p.partition in translated.ground.remotes]
    placeless = Counter(p.answer.reason for p in copied if p.answer.downstream is None)
    notices += [f"{count} partitions of groups were not compared: {why}" for why, count in placeless.items()]
    return found, notices


def _differences(
    flow: Flow,
    partition: GroupPartition,
    known: Mapping[GroupRemote, Known],
    translated: Translated,
    there: TargetGroups,
) -> Iterator[Deviation]:
    """A group must never stand behind a record that it has not seen: late is a difference, early is not."""
    last = known.get((partition.group, partition.remote))
    if last is None or (last.topic_id and last.topic_id != partition.remote_topic_id):
        if partition.answer.downstream is not None:
            yield _deviation(partition, f"has no checkpoint for {partition.remote} on {flow.target}")
        return
    at = last.checkpoint
    now = stored_answer(translated.ground, partition.partition, at.upstream_offset)
    if now.downstream is not None and at.downstream_offset > max(
        now.downstream + now.early_by, there.starts.get(partition.remote, 0)
    ):
        yield _deviation(
            partition,
            f"its checkpoint {at.downstream_offset} in {partition.remote} is late: offset {at.upstream_offset} of "
            f"{partition.partition} is at {now.downstream}",
        )
    offsets = _offsets(partition, there)
    if not flow[opt.SYNC_GROUP_OFFSETS_ENABLED]:
        return
    if isinstance(offsets, MirrorError):
        yield _deviation(partition, f"could not be compared on {flow.target}: {offsets.message}")
    elif partition.remote not in offsets:
        yield _deviation(partition, f"has no offset in {partition.remote} on {flow.target}")


def _deviation(partition: GroupPartition, what: str) -> Deviation:
    return Deviation(part="groups", name=partition.group, what=what)


def _offsets(partition: GroupPartition, there: TargetGroups) -> Offsets | MirrorError:
    return there.committed.get(partition.group, {})


def _is_ahead(partition: GroupPartition, there: TargetGroups) -> bool:
    """A group that works on the target goes its own way there: told, and no difference."""
    offsets, answer = _offsets(partition, there), partition.answer
    at = None if isinstance(offsets, MirrorError) else offsets.get(partition.remote)
    return at is not None and answer.downstream is not None and at.offset > answer.downstream + answer.early_by
