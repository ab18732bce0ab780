"""What `airmirror plan` prints: one table per kind of change, then what stands in the way, then one line of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mirror.cli.copy_summary import gap_text
from mirror.cli.quantities import count_text, counted
from mirror.cli.tables import print_table
from mirror.errors import MirrorError
from mirror.operations.flow_plan import FlowPlan, GroupsPlan, RecordsPlan
from mirror.topics import AclPlan, SettingsPlan, Switched

# Rows of a table that a person still reads; --json has all.
ROWS_MAX = 100

Row = tuple[object, ...]


def print_plan(plan: FlowPlan) -> None:
    _print_rows("topics", ("cluster", "topic", "would"), list(_topic_rows(plan)), wrapped=("topic", "would"))
    if isinstance(plan.settings, SettingsPlan):
        rows: list[Row] = [(difference.topic, str(difference)) for difference in plan.settings.differences]
        _print_rows(f"settings on {plan.target}", ("topic", "would"), rows, wrapped=("topic", "would"))
    if isinstance(plan.acls, AclPlan):
        rows = [("create", acl) for acl in plan.acls.grants]
        rows += [("remove", acl) for acl in plan.acls.revocations]
        _print_rows(f"ACLs on {plan.target}", ("would", "binding"), rows, wrapped=("binding",))
    _print_records("records to copy", plan.records)
    if isinstance(plan.groups, GroupsPlan):
        _print_groups(plan.groups, plan.target)
    _print_records("heartbeats to copy", plan.heartbeats.records)
    for line in _remarks(plan):
        print(line)
    print(_headline(plan))


def _print_rows(
    title: str, headings: Sequence[str], rows: list[Row], *, wrapped: Sequence[str], right: Sequence[str] = ()
) -> None:
    if not rows:
        return
    print_table(title, headings, rows[:ROWS_MAX], wrapped=wrapped, right=right)
    if len(rows) > ROWS_MAX:
        print(f"and {len(rows) - ROWS_MAX} more: --json")


def _topic_rows(plan: FlowPlan) -> Iterator[Row]:
    for creation in plan.creations:
        topic = creation.topic
        settings = "".join(f", {name}={value}" for name, value in topic.configs.items())
        yield creation.cluster, topic.name, f"be created, {counted(topic.partition_count, 'partition')}{settings}"
    for growth in plan.topics.growths if plan.topics else ():
        would = f"grow from {growth.partition_count_now} to {growth.partition_count} partitions"
        yield plan.target, growth.topic, would


def _print_records(title: str, records: RecordsPlan) -> None:
    rows: list[Row] = [
        (s.partition.topic, s.partition.partition, count_text(s.start), count_text(s.end), s.slot, s.remote.topic)
        for s in records.stretches
    ]
    headings = ("topic", "partition", "from", "to", "slot", "remote topic")
    _print_rows(title, headings, rows, wrapped=("topic", "remote topic"), right=("partition", "from", "to", "slot"))


def _print_groups(groups: GroupsPlan, target: str) -> None:
    told = [known.checkpoint for known in groups.checkpoints]
    rows: list[Row] = [
        (c.group, c.topic, c.partition, count_text(c.upstream_offset), count_text(c.downstream_offset)) for c in told
    ]
    numbers = ("partition", "upstream", "downstream")
    wrapped = ("group", "remote topic")
    _print_rows("checkpoints to tell", (*wrapped, *numbers), rows, wrapped=wrapped, right=numbers)
    rows = [
        (group, m.partition.topic, m.partition.partition, "none" if m.before is None else count_text(m.before),
         count_text(m.offset), "its checkpoint is further on")
        for group, m in groups.moves
    ]  # fmt: skip
    rows += [
        (outcome.group, left.partition.topic, left.partition.partition,
         "none" if left.offset is None else count_text(left.offset), "stays", left.reason)
        for outcome in groups.outcomes
        if outcome.word != "in place"
        for left in outcome.left
    ]  # fmt: skip
    headings = ("group", "topic", "partition", "from", "to", "reason")
    title = f"groups on {target}"
    _print_rows(title, headings, rows, wrapped=("group", "topic", "reason"), right=("partition", "from", "to"))


def _remarks(plan: FlowPlan) -> Iterator[str]:
    """What a person should know beside the tables: what is off, what is held up, what would fail."""
    for name, part in (("settings", plan.settings), ("ACLs", plan.acls)):
        if isinstance(part, Switched) and plan.topics is not None:
            yield f"off: {name}: {part.off}"
    for records in (plan.records, plan.heartbeats.records):
        yield from _record_remarks(records)
    if isinstance(plan.groups, GroupsPlan):
        yield from _group_remarks(plan.groups)
    yield from (f"note: {notice}" for notice in _notices(plan))
    for decision in plan.topics.refused if plan.topics else ():
        yield f"would fail: {decision.topic}: {decision.reason}"
    for error in plan.errors:
        yield f"would fail: {error}"


def _record_remarks(records: RecordsPlan) -> Iterator[str]:
    for stretch in records.stretches:
        if stretch.gap is not None:
            yield f"gap: {stretch.partition} {gap_text(stretch.gap)}"
    for topic, why in sorted(records.waiting.items()):
        yield f"waiting: {topic}: {why}"


def _group_remarks(groups: GroupsPlan) -> Iterator[str]:
    yield from (f"off: groups: {text}" for text in groups.not_done)
    if groups.after_copy:
        named = ", ".join(groups.after_copy[:5]) + (" ..." if len(groups.after_copy) > 5 else "")
        count = counted(len(groups.after_copy), "group")
        yield f"after the copy: {count} in records that are yet to be copied: {named}"


def _notices(plan: FlowPlan) -> Iterator[str]:
    yield from plan.notices
    for part in (plan.topics, plan.settings, plan.acls, plan.records):
        if part is not None and not isinstance(part, (Switched, MirrorError)):
            yield from part.notices


def _headline(plan: FlowPlan) -> str:
    heartbeat = "a heartbeat" if not plan.heartbeats.off else "no heartbeat, as the file says"
    if not plan.change_count:
        return f"{plan.flow}: nothing to do but {heartbeat}. Nothing was changed."
    growths = plan.topics.growths if plan.topics else ()
    parts = [
        f"create {counted(len(plan.creations), 'topic')} and grow {len(growths)}",
        f"copy up to {counted(plan.records.offset_count, 'record')} "
        f"in {counted(len(plan.records.stretches), 'partition')}",
    ]
    if isinstance(plan.settings, SettingsPlan):
        parts.append(f"change {counted(len(plan.settings.differences), 'setting')}")
    if isinstance(plan.acls, AclPlan):
        parts.append(f"create {counted(len(plan.acls.grants), 'ACL')} and remove {len(plan.acls.revocations)}")
    if isinstance(plan.groups, GroupsPlan):
        moved = len({group for group, _ in plan.groups.moves})
        told = counted(len(plan.groups.checkpoints), "checkpoint")
        parts.append(f"tell {told} and move {counted(moved, 'group')}")
    return f"{plan.flow}: would {'; '.join(parts)}; write {heartbeat}. Nothing was changed."
