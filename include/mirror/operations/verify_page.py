"""A verification's plan and report as a person reads them; the report from its document, as a Spark job leaves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mirror.operations.pages import count, seconds
from mirror.operations.report import Section, Told
from mirror.verify import VerifyPlan, VerifyRequest


def told_plan(flow: str, request: VerifyRequest, plan: VerifyPlan) -> Told:
    """What would be read."""
    by_topic: dict[str, list[int]] = {}
    for comparison in plan.comparisons:
        by_topic.setdefault(comparison.partition.topic, []).append(comparison.size)
    rows = tuple((topic, f"{len(sizes):,}", f"{sum(sizes):,}") for topic, sizes in sorted(by_topic.items()))
    errors = tuple((str(partition), error.message) for partition, error in plan.errors.items())
    offsets = sum(comparison.size for comparison in plan.comparisons)
    partitions = count(len(plan.comparisons), "partition")
    return Told(
        title=f"Verification of {flow}: the plan",
        parts=(
            Section(
                heading="What is read",
                text=(
                    f"{request}: {count(offsets, 'offset')} of {partitions} on both sides. Nothing is changed.",
                    f"{count(len(plan.nothing), 'partition')} have nothing to compare." if plan.nothing else "",
                ),
                headings=("topic", "partitions", "offsets"),
                rows=rows,
            ),
            *([Section(heading="What cannot be compared", headings=("partition", ""), rows=errors)] if errors else ()),
        ),
        document={
            "flow": flow,
            "scope": str(request),
            "partitions": len(plan.comparisons),
            "offsets": offsets,
            "topics": [{"topic": topic, "partitions": len(s), "offsets": sum(s)} for topic, s in by_topic.items()],
            "not_comparable": [{"partition": p, "reason": why} for p, why in errors],
        },
    )


def told_report(report: Mapping[str, Any]) -> Told:
    """What was compared, what differs, and what is different and right."""
    partitions = list(report["partitions"])
    verdict = "equal" if report["equal"] else "DIFFERENT"
    return Told(
        title=f"Verification of {report['flow']}: {verdict}",
        parts=tuple(section for section in _sections(report, partitions) if section.text or section.rows),
        document=dict(report),
    )


def _sections(report: Mapping[str, Any], partitions: list[Mapping[str, Any]]) -> tuple[Section, ...]:
    different = [p for p in partitions if p["differences"] or "error" in p]
    equal = [p for p in partitions if not p["differences"] and "error" not in p]
    nothing = count(len(report["nothing_to_compare"]), "partition")
    compared = count(len(partitions) + report["partitions_not_listed"], "partition")
    return (
        Section(
            heading="In short",
            text=(
                f"Compared: {report['scope']}. {count(report['records'], 'record')} of {compared} in "
                f"{seconds(report['seconds'])}, {report['records_per_second']:,} a second; "
                f"{count(report['differences'], 'difference')}.",
                f"Nothing to compare in {nothing}." if report["nothing_to_compare"] else "",
                *report["notices"],
            ),
        ),
        Section(
            heading="Records that differ",
            headings=("partition", "differences", "the first of them"),
            rows=tuple(_different(p) for p in different),
        ),
        Section(
            heading="Topics, settings, ACLs and groups that differ",
            headings=("part", "name", ""),
            rows=tuple((d["part"], d["name"], d["what"]) for d in report["deviations"]),
        ),
        Section(
            heading="Equal partitions",
            headings=("partition", "records", "different and right", "not copied yet"),
            rows=tuple(_equal(p) for p in equal),
        ),
    )


def _name(partition: Mapping[str, Any]) -> str:
    return f"{partition['topic']}-{partition['partition']}"


def _different(partition: Mapping[str, Any]) -> tuple[str, ...]:
    if "error" in partition:
        return _name(partition), "not compared", str(partition["error"]["message"])
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in partition["differences"].items())
    return _name(partition), kinds, "; ".join(_place(found) for found in partition["first_differences"])


def _place(found: Mapping[str, Any]) -> str:
    sides = [
        f"{side} {found[f'{side}_offset']}"
        for side in ("upstream", "downstream")
        if found[f"{side}_offset"] is not None
    ]
    return f"{found['kind']} at {', '.join(sides)}"


def _equal(partition: Mapping[str, Any]) -> tuple[str, ...]:
    gaps = {f"gap [{g['from']}, {g['to']}) {g['reason']}": g["to"] - g["from"] for g in partition["gaps"]}
    right = {**partition["right"], **gaps, "on the target before ours": partition["foreign_offsets"]}
    return (
        _name(partition),
        f"{partition['records']:,}",
        "; ".join(f"{n:,}: {why}" for why, n in right.items() if n),
        f"{partition['not_copied_offsets']:,}",
    )
