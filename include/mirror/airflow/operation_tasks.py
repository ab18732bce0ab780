"""What the operations' tasks do, each under its name; only tasks import this."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mirror.airflow.operation_operators import Asked
from mirror.airflow.outcomes import error_from_json
from mirror.airflow.spark_job import spark_master
from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.java_regex import RegexRefused, compile_java
from mirror.copy.progress import SilentProgress
from mirror.errors import GroupRefused, MirrorError, UsageRefused, VerificationFailed
from mirror.operations.drill import DrillRequest, plan_drill, run_drill
from mirror.operations.drill.page import told_plan, told_report
from mirror.operations.failback import run_failback
from mirror.operations.failback_preview import plan_failback
from mirror.operations.failback_request import FailbackRequest
from mirror.operations.failover import run_failover
from mirror.operations.failover_plan import FailoverRequest, plan_failover
from mirror.operations.pages import count, html_page
from mirror.operations.report import Tells, markdown
from mirror.operations.verify_page import told_plan as told_verify_plan
from mirror.operations.verify_page import told_report as told_verification
from mirror.spark import SparkExecutor
from mirror.verify import VerifyRequest, plan_verify

# Entries of a list in a document that goes through Airflow's database; the rest are counted.
LISTED = 200

Params = Mapping[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A plan or a report as Airflow keeps it: for people, and for programs; the error to end with, if any."""

    markdown: str
    document: dict[str, Any]
    error: MirrorError | None = None

    @property
    def html(self) -> str:
        return html_page(self.markdown)


class LoggedProgress(SilentProgress):
    """The steps, one line each, in the task's log."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def say(self, text: str) -> None:
        self._say(text)


def _shown(title: str, told: Tells, error: MirrorError | None = None) -> Shown:
    return Shown(markdown=markdown(title, told.sections()), document=_cut(told.to_json()), error=error)


def _drill_request(params: Params) -> DrillRequest:
    return DrillRequest(groups=_pattern(params, "groups"))


def _plan_drill(asked: Asked) -> Shown:
    told = told_plan(plan_drill(asked.flow, _drill_request(asked.params)))
    return _shown(told.title, told)


def _run_drill(asked: Asked, say: Say) -> Shown:
    report = run_drill(asked.flow, _drill_request(asked.params), say)
    told = told_report(report)
    return _shown(told.title, told, report.failure())


def _failover_request(params: Params) -> FailoverRequest:
    return FailoverRequest(
        planned=params["mode"] == "planned",
        producers_still_write=params["producers_still_write"],
        verify_newest=params["verify_newest"],
    )


def _plan_failover(asked: Asked) -> Shown:
    plan = plan_failover(asked.flow, _failover_request(asked.params))
    return _shown(f"Failover of {asked.flow.id}: the plan", plan)


def _run_failover(asked: Asked, say: Say) -> Shown:
    flow, request = asked.flow, _failover_request(asked.params)
    with _spark(asked, "failover") as executor:
        report = run_failover(flow, request, LoggedProgress(say), executor=lambda: executor)
    return _shown(report.title, report, _groups_left(flow, "failover", report.groups))


def _failback_request(params: Params) -> FailbackRequest:
    return FailbackRequest(survivors=params["survivors"], producers_still_write=params["producers_still_write"])


def _plan_failback(asked: Asked) -> Shown:
    plan = plan_failback(asked.flow, asked.home, _failback_request(asked.params))
    return _shown(f"Failback of {asked.flow.id}: the plan", plan)


def _run_failback(asked: Asked, say: Say) -> Shown:
    flow, request = asked.flow, _failback_request(asked.params)
    with _spark(asked, "failback") as executor:
        report = run_failback(flow, asked.home, request, LoggedProgress(say), executor=lambda: executor)
    return _shown(report.title, report, _groups_left(flow, "failback", report.groups))


def _spark(asked: Asked, operation: str) -> SparkExecutor:
    """A driver in this process; it starts Spark when there is something to copy."""
    return SparkExecutor(master=spark_master(), name=f"airmirror {operation} {asked.flow}", flow=asked.flow)


def _groups_left(flow: Flow, operation: str, groups: Iterable[Mapping[str, Any]]) -> MirrorError | None:
    """The operation is done, but not for these groups."""
    failed = [str(group["group"]) for group in groups if group["outcome"] == "failed"]
    if not failed:
        return None
    return GroupRefused(
        f"{operation} of {flow.id} is done; {len(failed)} groups could not be moved: {', '.join(failed[:10])}",
        next_step=f"airmirror translate '{flow.id}' --group {failed[0]}",
        flow=flow.id,
    )


def _verify_request(flow: Flow, params: Params) -> VerifyRequest:
    since = params.get("since")
    if since is not None and params.get("newest") is not None:
        raise UsageRefused("newest and since cannot both be said", next_step="trigger the Dag again with one of them")
    since_ms = None if since is None else _milliseconds(since)
    newest = params.get("newest")
    if newest is None and since is None:
        newest = flow[opt.VERIFY_NEWEST]
    return VerifyRequest(newest=newest or None, since_ms=since_ms, topics=_pattern(params, "topics"))


def _milliseconds(moment: str) -> int:
    """A form's moment; in UTC unless it has a zone, as everywhere in airmirror."""
    at = datetime.fromisoformat(moment)
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def _plan_verify(asked: Asked) -> Shown:
    request = _verify_request(asked.flow, asked.params)
    told = told_verify_plan(asked.flow.id, request, plan_verify(asked.flow, request))
    return _shown(told.title, told)


def verify_arguments(asked: Asked) -> list[str]:
    """What the form says, as the Spark job takes it."""
    params, request = asked.params, _verify_request(asked.flow, asked.params)
    return [
        *(("--newest", str(request.newest)) if request.newest else ()),
        *(("--since-ms", str(request.since_ms)) if request.since_ms is not None else ()),
        *(("--topics", params["topics"]) if params.get("topics") else ()),
    ]


def verified(document: Mapping[str, Any]) -> Shown:
    """What the job left: a report, or the error that kept it from making one."""
    if "equal" not in document:
        raise error_from_json(document)
    told, error = told_verification(document), None
    if not document["equal"]:
        failed = sum("error" in partition for partition in document["partitions"])
        error = VerificationFailed(
            f"flow {document['flow']}: {count(document['differences'], 'difference')}, {count(failed, 'partition')} "
            "could not be compared; the report names them",
            next_step=f"airmirror verify '{document['flow']}' --json lists each partition with its offsets",
            flow=document["flow"],
        )
    return _shown(told.title, told, error)


def _pattern(params: Params, name: str) -> re.Pattern[str] | None:
    text = params.get(name)
    if not text:
        return None
    try:
        return compile_java(text)
    except RegexRefused as error:
        raise UsageRefused(f"param {name}: {error}", next_step="trigger the Dag again with another one") from None


def _cut(document: Any) -> Any:
    """Small enough for XCom: the first entries of each list, and how many were left out."""
    if isinstance(document, list | tuple):
        return [_cut(entry) for entry in document[:LISTED]]
    if not isinstance(document, dict):
        return document
    cut = {name: _cut(value) for name, value in document.items()}
    more = {name: len(value) - LISTED for name, value in document.items() if isinstance(value, list | tuple)}
    return cut | {f"{name}_not_listed": count for name, count in more.items() if count > 0}


PLANS: dict[str, Callable[[Asked], Shown]] = {
    "failover": _plan_failover,
    "failback": _plan_failback,
    "drill": _plan_drill,
    "verify": _plan_verify,
}
# Verifying is a Spark job of its own: see `verify_arguments` and `verified`.
OPERATIONS: dict[str, Callable[[Asked, Say], Shown]] = {
    "failover": _run_failover,
    "failback": _run_failback,
    "drill": _run_drill,
}
