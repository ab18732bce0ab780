"""A flow's assets: the records on the target, told anew by every copy that wrote some, and its topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from airflow.sdk import Asset

from mirror.config import Flow


def asset_of(flow: Flow) -> Asset:
    return Asset(
        name=f"{flow.slug}.records",
        uri=f"airmirror://{quote(flow.source, safe='')}/{quote(flow.target, safe='')}",
        group="airmirror",
    )


def topics_asset_of(flow: Flow) -> Asset:
    """Told anew whenever topics were made or grown on the target: their settings and ACLs are looked at then."""
    return Asset(
        name=f"{flow.slug}.topics",
        uri=f"airmirror://{quote(flow.source, safe='')}/{quote(flow.target, safe='')}/topics",
        group="airmirror",
    )


def event_extra(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What the asset's event says about the copy: small, for Dags and pages that follow."""
    return {
        "flow": summary["flow"],
        "run": summary["run"],
        "records": summary["records"],
        "bytes": summary["bytes"],
        "seconds": summary["seconds"],
        "partitions": len(summary["partitions"]) + summary["partitions_not_listed"],
        "gaps": len(summary["gaps"]),
        "lag_records": summary["lag_records"],
        "lag_seconds": summary["lag_seconds"],
    }
