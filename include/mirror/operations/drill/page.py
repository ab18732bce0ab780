"""A drill's plan and report as pages: for the one who approves it, and for the auditor."""

from __future__ import annotations

from collections.abc import Iterable

from mirror.operations.drill.plan import DrillPlan, GroupDrill
from mirror.operations.drill.report import DrillReport, GroupFinding
from mirror.operations.pages import code, commands, count, document, moment, seconds, table, words

_VERDICTS = {
    "same": "goes on at the very record",
    "early": "reads some records again, then the very record",
    "at the end": "has nothing left to read, on either side",
    "not copied yet": "waits for records that are not copied yet",
    "differs": "**does not go on as it should**",
    "not compared": "could not be compared",
}


def plan_page(plan: DrillPlan) -> str:
    """What the drill is about to do."""
    partitions = sum(len(group.offsets) for group in plan.groups)
    left_alone = [group for group in plan.groups if group.left_alone]
    without = [(group, p, reason) for group in plan.groups for p, reason in sorted(group.without_offset.items())]
    return document(
        f"# Drill of {code(plan.flow)}: the plan",
        f"A failover is rehearsed with {count(len(plan.groups), 'group')} in {count(partitions, 'partition')}. Each "
        f"group gets a copy under another name on **{words(plan.target)}**, with the offsets that a failover would "
        "give it now; a real consumer joins the copy and reads its first records, which are compared with the "
        "source's. At the end the copies are deleted. **No group, topic or state of the flow is changed.**",
        f"First removed: {count(len(plan.leftovers), 'group')} that a killed drill left behind."
        if plan.leftovers
        else "",
        table(
            ("group", "partitions", "without an offset", "its copy"),
            [_plan_row(group) for group in plan.groups],
            right=("partitions", "without an offset"),
        ),
        f"{count(plan.not_chosen, 'group')} with checkpoints not chosen." if plan.not_chosen else "",
        _left_alone((group.group, group.left_alone) for group in left_alone),
        document("## Partitions that get no offset", table(("group", "partition", "because"), [
            (code(group.group), code(partition), words(reason)) for group, partition, reason in without
        ])) if without else "",
    )  # fmt: skip


def _plan_row(group: GroupDrill) -> tuple[str, ...]:
    return (code(group.group), f"{len(group.offsets):,}", f"{len(group.without_offset):,}", code(group.copy.group))


def _left_alone(groups: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    rows = [(code(name), words("; ".join(reasons))) for name, reasons in groups]
    if not rows:
        return ""
    return document(
        "## Groups that a failover would leave alone",
        "Their copies are rehearsed; the groups themselves would stay where they are on the target.",
        table(("group", "because"), rows),
    )


def report_page(report: DrillReport) -> str:
    """What the drill found."""
    source, _, target = report.flow.partition("->")
    return document(
        f"# Failover drill of {code(report.flow)}: {'passed' if report.passed else 'FAILED'}",
        _summary(report, source, target),
        _figures(report, target),
        _failures(report),
        "## Groups",
        table(
            ("group", "passed", "partitions", "joined", "first record", "read again at most"),
            [_group_row(group) for group in report.groups],
            right=("partitions", "joined", "first record", "read again at most"),
        ),
        f"{count(report.not_chosen, 'group')} with checkpoints not chosen." if report.not_chosen else "",
        "What came of the partitions:",
        table(("partitions", ""), [(f"{n:,}", _VERDICTS[v]) for v, n in report.verdicts.most_common()],
              right=("partitions",)),
        _open_ends(report),
        _left_alone((group.group, group.left_alone) for group in report.groups if group.left_alone),
        _behind(report),
        _not_rehearsed(report, target),
    )  # fmt: skip


def _summary(report: DrillReport, source: str, target: str) -> str:
    point = report.point
    if point.missing:
        lost = (
            f"up to {count(point.missing, 'record')} would have been lost, the oldest of them "
            f"{seconds(point.behind_s)} old"
        )
    else:
        lost = "no record would have been lost"
    return (
        f"Had **{words(source)}** been gone at {moment(point.at_ms)}, {lost}. "
        f"{count(len(report.groups) - len(report.failed), 'group')} of {len(report.groups):,} went on on "
        f"**{words(target)}** as they should, {seconds(report.recovery_s)} after the decision; "
        f"{count(report.compared, 'record')} read there were compared with the source's: key, value, headers, "
        "timestamp."
    )


def _figures(report: DrillReport, target: str) -> str:
    point = report.point
    rows = [
        ("drill", f"{code(report.run)}, {moment(report.started_ms)} to {moment(report.ended_ms)}"),
        ("recovery point", f"{count(point.missing, 'record')} not yet on {words(target)}"),
        ("age of the oldest of them", seconds(point.behind_s)),
        ("newest record on the target", f"{moment(point.newest_ms)}, {seconds(point.newest_age_s)} old"
         if point.newest_ms is not None else "none"),
        ("recovery time", seconds(report.recovery_s)),
        ("of which moving the groups", seconds(report.moved_s)),
        ("of which the slowest group's first record", seconds(report.recovery_s - report.moved_s)),
    ]  # fmt: skip
    return table(("", ""), rows)


def _failures(report: DrillReport) -> str:
    if report.passed:
        return ""
    rows = [(code(group.group), words(reason)) for group in report.failed for reason in group.failures]
    return document(
        "## What failed",
        table(("group", "what"), rows),
        "Look at a group in detail:",
        commands(f"airmirror translate '{report.flow}' --group '{group.group}'" for group in report.failed[:5]),
    )


def _group_row(group: GroupFinding) -> tuple[str, ...]:
    return (
        code(group.group),
        "no" if group.failures else "yes",
        f"{len(group.partitions):,}",
        seconds(group.joined_s),
        seconds(group.first_record_s),
        f"{group.read_again:,}",
    )


def _open_ends(report: DrillReport) -> str:
    """What is neither right nor wrong: told with its reason."""
    rows = [
        (code(group.group), code(p.remote), words(p.comparison.reason))
        for group in report.groups
        for p in group.partitions
        if p.comparison.verdict == "not compared"
    ]
    rows += [(code(g.group), code(p), f"no offset: {words(why)}") for g in report.groups for p, why in g.without_offset]
    return document("## Not compared", table(("group", "partition", "because"), rows)) if rows else ""


def _behind(report: DrillReport) -> str:
    """The partitions that were behind, the worst first."""
    point = report.point
    late = sorted((p for p in point.partitions if p.lag), key=lambda p: -(p.lag or 0))
    if not late:
        return ""
    rows = [
        (
            code(p.partition),
            f"{p.position:,}",
            f"{p.source_end:,}",
            f"{p.lag or 0:,}",
            seconds(None if p.oldest_missing_ms is None else max(point.at_ms - p.oldest_missing_ms, 0) / 1000),
        )
        for p in late
    ]
    headings = ("partition", "copied up to", "source's end", "missing", "oldest")
    return document(f"## Not yet copied at {moment(point.at_ms)}", table(headings, rows, right=headings[1:]))


def _not_rehearsed(report: DrillReport, target: str) -> str:
    return document(
        "## What a drill does not show",
        f"The consumers used airmirror's own credentials: whether each application may read and commit on "
        f"{words(target)} is another question. Taking the flow from a running copy and locking it out, which a "
        "failover does first, is left out, because the flow must go on; so are the decision itself and the time until "
        "applications are pointed at the other cluster.",
        "The same again, or for one group:",
        commands((f"airmirror drill '{report.flow}'", f"airmirror drill '{report.flow}' --groups 'billing.*'")),
    )
