"""The Dags of operations: a form, a plan to read, an approval, the operation itself, and its report behind a link."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param

from mirror.airflow.approval import Approval
from mirror.airflow.dag import topics_param
from mirror.airflow.operation_operators import Form, OperateOperator, PlanOperator, VerifyOperator
from mirror.airflow.retries import RETRY_ARGUMENTS
from mirror.config import Configuration, Flow
from mirror.config import options as opt
from mirror.config.options import Option

# How long a plan waits for a person; after that it is too old to be agreed to, and the run fails.
APPROVAL_TIMEOUT = timedelta(hours=24)
# Ends a comparison that hangs; one of a whole cluster takes hours.
VERIFY_TIMEOUT = timedelta(hours=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation: what its Dag says and asks. What it does is in `operation_tasks`, under the same name."""

    name: str
    title: str
    about: str
    params: Callable[[], dict[str, Param]] = field(default=lambda: {})
    # Whether a person is asked unless the form says otherwise.
    asks: bool = True
    # The option that also runs it by itself, one Dag per flow that sets it.
    schedule: Option[Any] | None = None


def operation_dags(configuration: Configuration, *, only: str | None = None) -> Iterator[DAG]:
    """One Dag per operation for all flows, and one per flow and operation that the file has run by itself."""
    flows = configuration.enabled_flows
    for operation in OPERATIONS:
        if flows and only in (None, f"mirror.{operation.name}"):
            yield _by_hand(configuration, operation)
        for flow in flows:
            scheduled = operation.schedule is not None and flow[operation.schedule] is not None
            if scheduled and only in (None, f"{flow.slug}.{operation.name}"):
                yield _by_itself(configuration, operation, flow)


def _by_hand(configuration: Configuration, operation: Operation) -> DAG:
    flows = configuration.enabled_flows
    names = [flow.id for flow in flows]
    choice: dict[str, Any] = {
        "enum": names,
        "type": "string",
        "title": "Flow",
        "description": "Which flow this is about.",
    }
    params = {
        # Without a default the form asks: no flow is to be failed over because it was the first of the file.
        "flow": Param(names[0], **choice) if len(names) == 1 else Param(**choice),
        **operation.params(),
        "approval": Param(
            operation.asks,
            type="boolean",
            title="Ask for approval",
            description="Show the plan and wait for a person to agree. Off: go on by itself, for automation.",
        ),
    }
    with _dag(operation, f"mirror.{operation.name}", params=params, schedule=None, tags=["operation"]) as dag:
        form = Form(operation.name, configuration, flows, params)
        plan = PlanOperator(task_id="plan", task_display_name="make a plan", form=form)
        approve = Approval(
            task_id="approve",
            task_display_name="approve the plan",
            subject=f"{operation.title} of {{{{ params.flow }}}}: go ahead?",
            body="{{ ti.xcom_pull(task_ids='plan', key='page') }}",
            response_timeout=APPROVAL_TIMEOUT,
        )
        plan >> approve >> _operate(form)
    return dag


def _by_itself(configuration: Configuration, operation: Operation, flow: Flow) -> DAG:
    """Nobody is asked: nobody is there."""
    params = {"flow": Param(flow.id, const=flow.id, title="Flow"), **operation.params()}
    dag_id, schedule = f"{flow.slug}.{operation.name}", flow[operation.schedule] if operation.schedule else None
    with _dag(operation, dag_id, params=params, schedule=schedule, tags=["operation", flow.id]) as dag:
        _operate(Form(operation.name, configuration, (flow,), params))
    return dag


def _operate(form: Form) -> BaseOperator:
    names = {"task_id": form.operation, "task_display_name": form.operation}
    if form.operation == "verify":
        return VerifyOperator(form=form, execution_timeout=VERIFY_TIMEOUT, **names)
    return OperateOperator(form=form, **names)


def _dag(operation: Operation, dag_id: str, *, tags: list[str], **arguments: Any) -> DAG:
    return DAG(
        dag_id=dag_id,
        tags=["airmirror", *tags],
        doc_md=f"{operation.about}\n\nWithout Airflow: `airmirror {operation.name} FLOW`; with `--help` it says more.",
        catchup=False,
        max_active_runs=1,
        default_args={"owner": "airmirror", **RETRY_ARGUMENTS},
        **arguments,
    )


def _drill_params() -> dict[str, Param]:
    return {
        "groups": Param(
            None,
            type=["null", "string"],
            format="regex",
            title="Groups",
            description="Rehearse only groups whose whole name matches this regular expression; empty: all.",
        )
    }


def _failover_params() -> dict[str, Param]:
    return {
        "mode": Param(
            "planned",
            type="string",
            enum=["planned", "unplanned"],
            title="Planned or not",
            description="planned: the source is alive and its producers are stopped; everything is copied first. "
            "unplanned: the source is gone and is asked nothing.",
        ),
        "producers_still_write": Param(
            False,
            type="boolean",
            title="Producers may still write",
            description="Planned, although the source still gets records: what comes behind the last copy stays there.",
        ),
        "verify_newest": Param(
            1000,
            type="integer",
            minimum=0,
            title="Newest records to compare",
            description="Planned: so many records of each partition are compared before groups move; 0: none.",
        ),
    }


def _failback_params() -> dict[str, Param]:
    return {
        "survivors": Param(
            "copy",
            type="string",
            enum=["copy", "keep", "ignore"],
            title="Survivors",
            description="Records on the source that were never copied. copy: to the target first, so that groups meet "
            "them wherever they are. keep: copied when all has returned. ignore: never copied, on record as a gap.",
        ),
        "producers_still_write": Param(
            False,
            type="boolean",
            title="Producers may still write",
            description="Although the target still gets records: what comes behind the last copy does not return.",
        ),
    }


def _verify_params() -> dict[str, Param]:
    return {
        "topics": topics_param("Compare"),
        "newest": Param(
            None,
            type=["null", "integer"],
            minimum=0,
            title="Newest offsets",
            description="Compare so many of the newest offsets of each partition; 0: everything; empty: as "
            "airmirror.verify.newest says.",
        ),
        "since": Param(
            None,
            type=["null", "string"],
            format="date-time",
            title="Not older than",
            description="Compare only records that are not older than this; empty: no such limit.",
        ),
    }


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="failover",
        title="Failover",
        about="Lets applications go on at the target: the flow is shut, consumer groups are set to where they stood, "
        "and the **report**, linked from the task `failover`, says what is there, what is missing and what to type "
        "next. Nothing is copied along the flow until failback; its other Dags skip until then. Safe to run again at "
        "any point: one that was killed goes on where it was.",
        params=_failover_params,
    ),
    Operation(
        name="failback",
        title="Failback",
        about="Brings a flow that failed over back home: what applications wrote on the target returns to the topics "
        "it came from, and only that; records that the source still has and that were never copied (survivors) are "
        "found and listed; groups are set before the first record that they have not seen; then the flow goes forward "
        "as before. Stop the producers on the target first. Safe to run again at any point.",
        params=_failback_params,
    ),
    Operation(
        name="drill",
        title="Drill",
        about="Rehearses a failover while all is well, and touches nothing of the flow: each consumer group gets a "
        "copy under another name on the target, a real consumer reads its first records there, and they are compared "
        "with the source's. The **report**, linked from the task `drill`, says what a failover would have lost, how "
        "long it would have taken, and which group would not have gone on as it should; then the run has failed.",
        params=_drill_params,
        schedule=opt.DRILL_SCHEDULE,
    ),
    Operation(
        name="verify",
        title="Verification",
        about="Compares both sides of a flow record by record, in Spark and in bounded memory: key, value, headers, "
        "timestamp, order, missing, extra, twice; and topics, settings, ACLs and groups. Any difference fails the run. "
        "The **report**, linked from the task `verify`, names the offsets of the first differences of each partition. "
        "Nothing is changed, so nobody is asked unless the form says so.",
        params=_verify_params,
        asks=False,
        schedule=opt.VERIFY_SCHEDULE,
    ),
)
