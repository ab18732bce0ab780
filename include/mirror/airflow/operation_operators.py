"""The tasks of an operation's Dag: the plan as a page, and the doing, whose report is kept and linked."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator, BaseOperatorLink, Context
from airflow.sdk.configuration import conf
from airflow.sdk.exceptions import AirflowException

from mirror.airflow.skipping import skipped_when_another_run_owns_the_flow
from mirror.airflow.spark_job import SparkJobOperator
from mirror.config import Configuration, Flow
from mirror.errors import AttemptsExhausted, UsageRefused

if TYPE_CHECKING:
    from mirror.airflow.operation_tasks import Shown

# XCom keys: the plan's page as Markdown, for the approval, and the report as HTML, for its own address.
PAGE = "page"
HTML = "report_html"
# Where the plugin serves reports.
REPORTS = "/airmirror/reports"


class ReportLink(BaseOperatorLink):
    """The button on the task's page that opens the report."""

    name = "Report"

    def get_link(self, operator: BaseOperator, *, ti_key: Any) -> str:
        place = (ti_key.dag_id, ti_key.run_id, ti_key.task_id)
        path = "/".join(urllib.parse.quote(part, safe="") for part in place)
        return f"{conf.get('api', 'base_url', fallback='').rstrip('/')}{REPORTS}/{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a run was asked for: the flow that it is about, and its params."""

    flow: Flow
    params: Mapping[str, Any]
    configuration: Configuration

    @property
    def home(self) -> Flow:
        """The flow that goes the other way."""
        return self.configuration.opposite(self.flow)


class Form:
    """What the Dag's form asks: the flow by its name, and the names of all that can be said."""

    def __init__(
        self, operation: str, configuration: Configuration, flows: Iterable[Flow], known: Iterable[str]
    ) -> None:
        self.operation = operation
        self.configuration = configuration
        self._flows = {flow.id: flow for flow in flows}
        self._known = tuple(known)

    def read(self, context: Context) -> Asked:
        """What the run was asked for; what nobody could mean is refused."""
        params = dict(context["params"])
        unknown = sorted(set(context["dag_run"].conf or {}) - set(self._known))
        if unknown or params["flow"] not in self._flows:
            # Airflow passes over unknown names, and a mistyped `group` would mean all of them.
            problem = f"unknown params: {', '.join(unknown)}" if unknown else f"no enabled flow {params['flow']}"
            raise UsageRefused(f"{problem}; known: {', '.join(self._known)}", next_step="trigger the Dag again")
        return Asked(flow=self._flows[params["flow"]], params=params, configuration=self.configuration)


class PlanOperator(BaseOperator):
    """Shows what would be done; writes nothing anywhere."""

    def __init__(self, *, form: Form, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._form = form

    def execute(self, context: Context) -> dict[str, Any]:
        from mirror.airflow.operation_tasks import PLANS

        asked = self._form.read(context)
        with skipped_when_another_run_owns_the_flow():
            plan = PLANS[self._form.operation](asked)
        self.log.info("%s", plan.markdown)
        context["ti"].xcom_push(key=PAGE, value=plan.markdown)
        return plan.document


class OperateOperator(BaseOperator):
    """Does it in this process."""

    operator_extra_links = (ReportLink(),)

    def __init__(self, *, form: Form, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._form = form

    def execute(self, context: Context) -> dict[str, Any]:
        from mirror.airflow.operation_tasks import OPERATIONS

        asked = self._form.read(context)
        # Who has the flow, as claims, states and other runs' errors name it; this process does nothing else.
        os.environ["AIRMIRROR_RUN_BY"] = f"Airflow, {context['ti'].dag_id}"
        with skipped_when_another_run_owns_the_flow():
            done = OPERATIONS[self._form.operation](asked, self.log.info)
        return _keep(self, context, done)

    def on_kill(self) -> None:
        """Ended from outside: leave by an exception, so that whatever must be put in order is put in order."""
        raise AirflowException("this task was ended from outside")


class VerifyOperator(SparkJobOperator):
    """Compares both sides in a Spark job, which may take hours, and ends with this task."""

    operator_extra_links = (ReportLink(),)

    def __init__(self, *, form: Form, **arguments: Any) -> None:
        path = form.configuration.path
        super().__init__(job="verify_flow.py", config_path=path, name="airmirror verify", **arguments)
        self._form = form

    def execute(self, context: Context) -> dict[str, Any]:  # type: ignore[override]  # the parent returns nothing
        from mirror.airflow.operation_tasks import verified, verify_arguments

        asked = self._form.read(context)
        flow, instance = asked.flow, context["ti"]
        exit_code, document = self.run_job(
            flow,
            run=f"{instance.run_id}_try{instance.try_number}",
            by=f"Airflow, {instance.dag_id}",
            arguments=verify_arguments(asked),
        )
        if document is None:
            raise AttemptsExhausted(
                f"{flow}: Spark ended with code {exit_code} before the comparison could say anything",
                next_step=f"read this log from its beginning; airmirror verify '{flow}' runs the same without Airflow",
                flow=flow.id,
            )
        return _keep(self, context, verified(document))


def _keep(operator: BaseOperator, context: Context, done: Shown) -> dict[str, Any]:
    """Keep the report, also when the operation failed, because that is when it is read; then fail."""
    operator.log.info("%s", done.markdown)
    operator.log.info("report: %s", ReportLink().get_link(operator, ti_key=context["ti"]))
    context["ti"].xcom_push(key=HTML, value=done.html)
    context["ti"].xcom_push(key="return_value", value=done.document)
    if done.error is not None:
        raise done.error
    return done.document
