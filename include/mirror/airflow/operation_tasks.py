"""What the operations' tasks do, each under its name; only tasks import this."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from mirror.airflow.outcomes import error_from_json
from mirror.airflow.spark_job import spark_master
from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.java_regex import RegexRefused, compile_java
from mirror.copy.progress import SilentProgress
from mirror.errors import GroupRefused, MirrorError, UsageRefused, VerificationFailed
from mirror.operations.drill import DrillRequest, plan_drill, run_drill
from mirror.operations.drill.page import told_plan, told_report
from mirror.operations.failover import run_failover
from mirror.operations.failover_plan import FailoverRequest, plan_failover
from mirror.operations.pages import html_page
from mirror.operations.report import Section, markdown
from mirror.operations.verify_page import told_plan as told_verify_plan
from mirror.operations.verify_page import told_report as told_verification
from mirror.spark import SparkExecutor
from mirror.verify import VerifyRequest, plan_verify

# Entries of a list in a document that goes through Airflow's database; the rest are counted.
LISTED = 200

Params = Mapping[str, Any]
Say = Callable[[str], None]


class Tells(Protocol):
    """A plan or a report."""

    def sections(self) -> Sequence[Section]: ...

    def to_json(self) -> dict[str, Any]: ...


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


def _plan_drill(flow: Flow, params: Params) -> Shown:
    told = told_plan(plan_drill(flow, DrillRequest(groups=_pattern(params, "groups"))))
    return _shown(told.title, told)


def _run_drill(flow: Flow, params: Params, say: Say) -> Shown:
    report = run_drill(flow, DrillRequest(groups=_pattern(params, "groups")), say)
    told = told_report(report)
    return _shown(told.title, told, report.failure())


def _failover_request(params: Params) -> FailoverRequest:
    return FailoverRequest(
        planned=params["mode"] == "planned",
        producers_still_write=params["producers_still_write"],
        verify_newest=params["verify_newest"],
    )


def _plan_failover(flow: Flow, params: Params) -> Shown:
    return _shown(f"Failover of {flow.id}: the plan", plan_failover(flow, _failover_request(params)))


def _run_failover(flow: Flow, params: Params, say: Say) -> Shown:
    with SparkExecutor(master=spark_master(), name=f"airmirror failover {flow}", flow=flow) as executor:
        report = run_failover(flow, _failover_request(params), LoggedProgress(say), executor=lambda: executor)
    failed = [group["group"] for group in report.groups if group["outcome"] == "failed"]
    error = None
    if failed:
        message = f"flow {flow.id} failed over; {len(failed)} groups could not be moved: {', '.join(failed[:10])}"
        error = GroupRefused(message, next_step=f"airmirror failover '{flow.id}', which goes on", flow=flow.id)
    return _shown(report.title, report, error)


def _verify_request(flow: Flow, params: Params) -> VerifyRequest:
    since = params.get("since")
    if since is not None and params.get("newest") is not None:
        raise UsageRefused("newest and since cannot both be said", next_step="trigger the Dag again with one of them")
    since_ms = None if since is None else int(datetime.fromisoformat(since).timestamp() * 1000)
    newest = params.get("newest")
    if newest is None and since is None:
        newest = flow[opt.VERIFY_NEWEST]
    return VerifyRequest(newest=newest or None, since_ms=since_ms, topics=_pattern(params, "topics"))


def _plan_verify(flow: Flow, params: Params) -> Shown:
    request = _verify_request(flow, params)
    told = told_verify_plan(flow.id, request, plan_verify(flow, request))
    return _shown(told.title, told)


def verify_arguments(flow: Flow, params: Params) -> list[str]:
    """What the form says, as the Spark job takes it."""
    request = _verify_request(flow, params)
    return [
        *(("--newest", str(request.newest)) if request.newest else ()),
        *(("--since-ms", str(request.since_ms)) if request.since_ms is not None else ()),
        *(("--topics", params["topics"]) if params.get("topics") else ()),
    ]


def verified(document: Mapping[str, Any]) -> Shown:
    """What the job left: a report, or the error that kept it from making one."""
    if "equal" not in document:
        raise error_from_json(document)
    told = told_verification(document)
    error = None
    if not document["equal"]:
        failed = sum("error" in partition for partition in document["partitions"])
        error = VerificationFailed(
            f"flow {document['flow']}: {document['differences']} differences, {failed} partitions could not be "
            "compared; the report names them",
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


PLANS: dict[str, Callable[[Flow, Params], Shown]] = {
    "failover": _plan_failover,
    "drill": _plan_drill,
    "verify": _plan_verify,
}
# Verifying is a Spark job of its own: see `verify_arguments` and `verified`.
OPERATIONS: dict[str, Callable[[Flow, Params, Say], Shown]] = {"failover": _run_failover, "drill": _run_drill}
