"""What came of a copy, read from its result document: the summary to keep, the error to raise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mirror import errors
from mirror.errors import AttemptsExhausted, CopyIncomplete, FencedByNewerRun, MirrorError, TryAgain

# Partitions and the like named one by one in a summary; the rest are counted.
LISTED = 50


def summary_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document cut to what a page shows; plain JSON."""
    partitions = list(document["partitions"])
    gaps = [{"topic": p["topic"], "partition": p["partition"], **gap} for p in partitions for gap in p.get("gaps", ())]
    return {
        "flow": document["flow"],
        "run": document["run"],
        "records": document["records"],
        "bytes": document["bytes"],
        "dropped": document.get("dropped", 0),
        "there_already": document.get("there_already", 0),
        "seconds": document["seconds"],
        "partitions": [_partition(partition) for partition in partitions[:LISTED]],
        "partitions_not_listed": len(partitions[LISTED:]) + document.get("partitions_not_listed", 0),
        "partitions_idle": document["idle_partitions"],
        "partitions_stopped": sum("error" in partition for partition in partitions),
        "gaps": gaps[:LISTED],
        "topics_waiting": len(document["waiting"]),
        "notices": list(document["notices"])[:LISTED],
        "executors": sorted({slot["executor"] for slot in document["slots"] if slot["executor"]})[:LISTED],
    }


def _partition(partition: Mapping[str, Any]) -> dict[str, Any]:
    told = {key: partition[key] for key in ("topic", "partition", "remote_topic", "from", "to", "records", "bytes")}
    told |= {key: partition[key] for key in ("dropped", "there_already") if key in partition}
    return {**told, "error": partition["error"]["error"]} if "error" in partition else told


def error_of(document: Mapping[str, Any]) -> MirrorError | None:
    """The error that the run is to fail with: superseded, failed as a whole, or partitions that stopped."""
    flow, run = document["flow"], document["run"]
    if document["superseded_by"]:
        return FencedByNewerRun(f"superseded by run {document['superseded_by']}", flow=flow, run=run)
    if document["error"]:
        return error_from_json(document["error"])
    stopped = [partition for partition in document["partitions"] if "error" in partition]
    return _incomplete(flow, stopped) if stopped else None


def _incomplete(flow: str, stopped: list[dict[str, Any]]) -> MirrorError:
    """One error for all partitions that stopped; it can be tried again only if each of them can."""
    found = [error_from_json(partition["error"]) for partition in stopped]
    lines = [_line(partition, error) for partition, error in zip(stopped, found, strict=True)]
    if len(lines) > LISTED:
        lines[LISTED:] = [f"and {len(lines) - LISTED} more"]
    message = f"{flow}: {len(stopped)} partitions stopped, all others were copied:\n  " + "\n  ".join(lines)
    next_step = next((error.next_step for error in found if error.next_step), "")
    kind = AttemptsExhausted if all(isinstance(error, TryAgain) for error in found) else CopyIncomplete
    return kind(message, next_step=next_step, flow=flow)


def _line(partition: Mapping[str, Any], error: MirrorError) -> str:
    where = f"{partition['topic']}-{partition['partition']}"
    if partition["to"]:
        where += f", copied up to offset {partition['to']}"
    return f"{where}: {error.message}"


def error_from_json(document: Mapping[str, Any]) -> MirrorError:
    """The error of the tree that `to_json` told of; one of a newer airmirror's becomes its kind."""
    fields = dict(document)
    name, kind = fields.pop("error", ""), fields.pop("kind", "")
    message, next_step = fields.pop("message", ""), fields.pop("next_step", "")
    cls = getattr(errors, name, None)
    if not (isinstance(cls, type) and issubclass(cls, MirrorError)):
        kinds: tuple[type[MirrorError], ...] = (errors.TryAgain, errors.PersonMustAct, errors.StopNow)
        cls = next((each for each in kinds if each.kind == kind), MirrorError)
    return cls(message, next_step=next_step, **fields)
