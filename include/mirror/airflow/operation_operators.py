"""The tasks of an operation's Dag: the plan as a page, and the doing, whose report is kept and linked."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Iterable
from typing import Any

from airflow.sdk import BaseOperator, BaseOperatorLink, Context
from airflow.sdk.configuration import conf
from airflow.sdk.exceptions import AirflowException

from mirror.airflow.skipping import skipped_when_another_run_owns_the_flow
from mirror.config import Flow
from mirror.errors import UsageRefused

# XCom keys: the page as Markdown for Airflow and as HTML for its own address.
PAGE = "page"
HTML = "report_html"
DOCUMENT = "report"
# Where the plugin serves reports.
REPORTS = "/airmirror/reports"


class ReportLink(BaseOperatorLink):
    """The button on the task's page that opens the report."""

    name = "Report"

    def get_link(self, operator: BaseOperator, *, ti_key: Any) -> str:
        place = (ti_key.dag_id, ti_key.run_id, ti_key.task_id)
        path = "/".join(urllib.parse.quote(part, safe="") for part in place)
        return f"{conf.get('api', 'base_url', fallback='').rstrip('/')}{REPORTS}/{path}"


class _OnOneFlow(BaseOperator):
    """Runs a function of `operation_tasks` on the flow that the form names."""

    def __init__(self, *, operation: str, flows: tuple[Flow, ...], known: Iterable[str], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._operation = operation
        self._known = tuple(known)
        self._flows = {flow.id: flow for flow in flows}

    def _asked(self, context: Context) -> tuple[Flow, dict[str, Any]]:
        params = dict(context["params"])
        unknown = sorted(set(context["dag_run"].conf or {}) - set(self._known))
        if unknown or params["flow"] not in self._flows:
            # Airflow passes over unknown names, and a mistyped `group` would mean all of them.
            problem = f"unknown params: {', '.join(unknown)}" if unknown else f"no enabled flow {params['flow']}"
            raise UsageRefused(f"{problem}; known: {', '.join(self._known)}", next_step="trigger the Dag again")
        return self._flows[params["flow"]], params


class PlanOperator(_OnOneFlow):
    """Shows what would be done; writes nothing anywhere."""

    def execute(self, context: Context) -> dict[str, Any]:
        from mirror.airflow.operation_tasks import OPERATIONS

        flow, params = self._asked(context)
        with skipped_when_another_run_owns_the_flow():
            plan = OPERATIONS[self._operation].plan(flow, params)
        self.log.info("%s", plan.markdown)
        context["ti"].xcom_push(key=PAGE, value=plan.markdown)
        return plan.document


class OperateOperator(_OnOneFlow):
    """Does it; its report is kept also when it failed, because that is when it is read."""

    operator_extra_links = (ReportLink(),)

    def execute(self, context: Context) -> dict[str, Any]:
        from mirror.airflow.operation_tasks import OPERATIONS

        flow, params = self._asked(context)
        # Who has the flow, as claims, states and other runs' errors name it; this process does nothing else.
        os.environ["AIRMIRROR_RUN_BY"] = f"Airflow, {context['ti'].dag_id}"
        with skipped_when_another_run_owns_the_flow():
            done = OPERATIONS[self._operation].run(flow, params, self.log.info)
        self.log.info("%s", done.markdown)
        self.log.info("report: %s", ReportLink().get_link(self, ti_key=context["ti"]))
        context["ti"].xcom_push(key=HTML, value=done.html)
        context["ti"].xcom_push(key="return_value", value=done.document)
        if done.error is not None:
            raise done.error
        return done.document

    def on_kill(self) -> None:
        """Ended from outside: leave by an exception, so that whatever must be put in order is put in order."""
        raise AirflowException("this task was ended from outside")
