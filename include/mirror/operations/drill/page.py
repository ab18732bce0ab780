"""A drill's plan and report as people read them: who approves it, and the auditor."""

from __future__ import annotations

from collections.abc import Iterable

from mirror.operations.drill.plan import DrillPlan
from mirror.operations.drill.report import DrillReport, GroupFinding
from mirror.operations.pages import count, moment, seconds
from mirror.operations.report import Section, Told

_VERDICTS = {
    "same": "went on at the very record",
    "early": "read some records again, then the very record",
    "at the end": "had nothing left to read, on either side",
    "not copied yet": "wait for records that are not copied yet",
    "differs": "did not go on as they should",
    "not compared": "could not be compared",
}


def told_plan(plan: DrillPlan) -> Told:
    """What the drill is about to do."""
    partitions = sum(len(group.offsets) for group in plan.groups)
    text = [
        f"A failover is rehearsed with {count(len(plan.groups), 'group')} in {count(partitions, 'partition')}. Each "
        f"group gets a copy under another name on {plan.target}, with the offsets that a failover would give it now; a "
        "real consumer joins the copy and reads its first records, which are compared with the source's. At the end "
        "the copies are deleted.",
        "No group, topic or state of the flow is changed.",
    ]
    if plan.leftovers:
        text.append(f"First removed: {count(len(plan.leftovers), 'group')} that a killed drill left behind.")
    if plan.not_chosen:
        text.append(f"{count(plan.not_chosen, 'group')} with checkpoints not chosen.")
    without = [(g.group, str(p), reason) for g in plan.groups for p, reason in sorted(g.without_offset.items())]
    parts = (
        Section(heading="What would be done", text=tuple(text)),
        Section(
            heading="Groups",
            headings=("group", "partitions", "topics"),
            rows=tuple(
                (g.group, f"{len(g.offsets):,}", ", ".join(sorted({p.topic for p in g.offsets}))) for g in plan.groups
            ),
        ),
        _left_alone((g.group, g.left_alone) for g in plan.groups),
        Section(
            heading="Partitions that get no offset", headings=("group", "partition", "because"), rows=tuple(without)
        ),
    )
    return Told(title=f"Drill of {plan.flow}: the plan", parts=_filled(parts), document=plan.to_json())


def told_report(report: DrillReport) -> Told:
    """What the drill found."""
    target = report.flow.partition("->")[2]
    parts = (
        _headline(report, target),
        _failures(report),
        _groups(report),
        _open_ends(report),
        _left_alone((group.group, group.left_alone) for group in report.groups),
        _behind(report),
        _rights(report, target),
        _not_rehearsed(report, target),
    )
    word = "passed" if report.passed else "FAILED"
    title = f"Failover drill of {report.flow}: {word}"
    return Told(title=title, parts=_filled(parts), document=report.to_json())


def _filled(parts: Iterable[Section]) -> tuple[Section, ...]:
    return tuple(part for part in parts if part.text or part.rows or part.commands)


def _left_alone(groups: Iterable[tuple[str, tuple[str, ...]]]) -> Section:
    rows = tuple((name, "; ".join(reasons)) for name, reasons in groups if reasons)
    text = "Their copies are rehearsed; the groups themselves would stay where they are on the target."
    return Section(
        heading="Groups that a failover would leave alone",
        text=(text,) if rows else (),
        headings=("group", "because"),
        rows=rows,
    )


def _headline(report: DrillReport, target: str) -> Section:
    point, source = report.point, report.flow.partition("->")[0]
    lost = "no record would have been lost"
    if point.missing:
        lost = f"up to {count(point.missing, 'record')} would have been lost, the oldest {seconds(point.behind_s)} old"
    well = len(report.groups) - len(report.failed)
    many = count(len(report.groups), "group")
    went = many if report.passed and well == 1 else f"All {many}" if report.passed else f"{well:,} of {many}"
    text = (
        f"Had {source} been gone at {moment(point.at_ms)}, {lost}.",
        f"{went} went on at {target} as it should be, {seconds(report.recovery_s)} after the decision. "
        f"{count(report.compared, 'record')} that they read there were compared with the source's: key, value, headers "
        "and timestamp.",
    )
    told = f"at least {report.told_missing:,}" if report.told_missing else "nothing"
    rows = (
        ("drill", f"{report.run}, {moment(report.started_ms)} to {moment(report.ended_ms)}"),
        ("recovery point", f"{count(point.missing, 'record')} not yet on {target}"),
        ("the oldest of them", f"{seconds(point.behind_s)} old" if point.missing else "–"),
        ("without the source one would have known of", told),
        ("newest record on the target", _newest(report)),
        ("recovery time", seconds(report.recovery_s)),
        ("moving the groups", seconds(report.moved_s)),
        ("then the slowest group's first record", seconds(report.recovery_s - report.moved_s)),
    )
    return Section(heading="In short", text=text, headings=("", ""), rows=rows)


def _newest(report: DrillReport) -> str:
    point = report.point
    return "none" if point.newest_ms is None else f"{moment(point.newest_ms)}, {seconds(point.newest_age_s)} old"


def _failures(report: DrillReport) -> Section:
    return Section(
        heading="What failed",
        headings=("group", "what"),
        rows=tuple((group.group, reason) for group in report.failed for reason in group.failures),
        commands=tuple(f"airmirror translate '{report.flow}' --group '{group.group}'" for group in report.failed[:5]),
    )


def _groups(report: DrillReport) -> Section:
    text = [f"{count(n, 'partition')} {_VERDICTS[verdict]}." for verdict, n in report.verdicts.most_common()]
    if report.not_chosen:
        text.append(f"{count(report.not_chosen, 'group')} with checkpoints not chosen.")
    return Section(
        heading="Groups",
        text=tuple(text),
        headings=("group", "as it should", "partitions", "joined", "first record", "read again at most"),
        rows=tuple(_row(group) for group in sorted(report.groups, key=lambda group: not group.failures)),
    )


def _row(group: GroupFinding) -> tuple[str, ...]:
    return (
        group.group,
        "no" if group.failures else "yes",
        f"{len(group.partitions):,}",
        seconds(group.joined_s),
        seconds(group.first_record_s),
        f"{group.read_again:,}",
    )


def _open_ends(report: DrillReport) -> Section:
    """What is neither right nor wrong, with its reason."""
    rows = [
        (group.group, str(p.remote), p.comparison.reason)
        for group in report.groups
        for p in group.partitions
        if p.comparison.verdict == "not compared"
    ]
    rows += [(g.group, str(p), f"no offset: {why}") for g in report.groups for p, why in g.without_offset]
    return Section(heading="Not compared", headings=("group", "partition", "because"), rows=tuple(rows))


def _behind(report: DrillReport) -> Section:
    """The partitions that were behind, the worst first."""
    point = report.point
    late = sorted((p for p in point.partitions if p.lag), key=lambda p: -(p.lag or 0))
    return Section(
        heading=f"Not yet copied at {moment(point.at_ms)}",
        headings=("partition", "copied up to", "source's end", "missing", "oldest"),
        rows=tuple(
            (
                str(p.partition),
                f"{p.position:,}",
                f"{p.source_end:,}",
                f"{p.lag or 0:,}",
                seconds(None if p.oldest_missing_ms is None else max(point.at_ms - p.oldest_missing_ms, 0) / 1000),
            )
            for p in late
        ),
    )


def _rights(report: DrillReport, target: str) -> Section:
    return Section(
        heading=f"Applications that {target} would refuse",
        text=(report.rights_known,) if report.rights_known else (),
        headings=("who", "wants to", "what", "why not"),
        rows=tuple(
            (str(r["principal"]), str(r["operation"]), f"{r['resource']} {r['name']}", str(r["reason"]))
            for r in report.rights
        ),
    )


def _not_rehearsed(report: DrillReport, target: str) -> Section:
    return Section(
        heading="What a drill does not show",
        text=(
            "The consumers used airmirror's own credentials, not the applications'. Taking the flow from a running "
            "copy and locking it out, which a failover does first, is left out, because the flow must go on; so are "
            f"the decision itself, and the time until applications are pointed at {target}.",
            "The same again, or for some groups:",
        ),
        commands=(f"airmirror drill '{report.flow}'", f"airmirror drill '{report.flow}' --groups 'billing.*'"),
    )
