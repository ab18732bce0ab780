"""A verification's report as a page, made from its document, so that Airflow can make it from what a job left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mirror.operations.pages import code, count, document, seconds, table, words


def report_page(report: Mapping[str, Any]) -> str:
    """What was compared, what differs, and what is different and right."""
    partitions = list(report["partitions"])
    different = [p for p in partitions if p["differences"] or "error" in p]
    equal = [p for p in partitions if not p["differences"] and "error" not in p]
    verdict = "equal" if report["equal"] else "DIFFERENT"
    return document(
        f"# Verification of {code(report['flow'])}: {verdict}",
        f"Compared: {words(report['scope'])}. {count(report['records'], 'record')} of "
        f"{count(len(partitions) + report['partitions_not_listed'], 'partition')} in {seconds(report['seconds'])}, "
        f"{report['records_per_second']:,} a second; {count(report['differences'], 'difference')}.",
        document("## Differences of records", table(
            ("partition", "differences", "the first of them"), [_different(p) for p in different]
        )) if different else "",
        document("## Topics, settings, ACLs and groups that differ", table(
            ("part", "name", ""), [(d["part"], code(d["name"]), words(d["what"])) for d in report["deviations"]]
        )) if report["deviations"] else "",
        document("## Equal partitions", table(
            ("partition", "records", "different and right", "not copied yet"), [_equal(p) for p in equal],
            right=("records", "not copied yet"),
        )) if equal else "",
        f"Nothing to compare in {count(len(report['nothing_to_compare']), 'partition')}."
        if report["nothing_to_compare"]
        else "",
        "\n".join(f"- {words(notice)}" for notice in report["notices"]),
    )  # fmt: skip


def _name(partition: Mapping[str, Any]) -> str:
    return code(f"{partition['topic']}-{partition['partition']}")


def _different(partition: Mapping[str, Any]) -> tuple[str, ...]:
    if "error" in partition:
        return _name(partition), "not compared", words(partition["error"]["message"])
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in partition["differences"].items())
    return _name(partition), kinds, "; ".join(_place(found) for found in partition["first_differences"])


def _place(found: Mapping[str, Any]) -> str:
    sides = [f"{side} {found[f'{side}_offset']}" for side in ("upstream", "downstream")
             if found[f"{side}_offset"] is not None]  # fmt: skip
    return f"{found['kind']} at {', '.join(sides)}"


def _equal(partition: Mapping[str, Any]) -> tuple[str, ...]:
    gaps = {f"gap [{g['from']}, {g['to']}) {g['reason']}": g["to"] - g["from"] for g in partition["gaps"]}
    right = {**partition["right"], **gaps, "on the target before ours": partition["foreign_offsets"]}
    return (
        _name(partition),
        f"{partition['records']:,}",
        words("; ".join(f"{n:,}: {why}" for why, n in right.items() if n)),
        f"{partition['not_copied_offsets']:,}",
    )
