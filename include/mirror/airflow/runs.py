"""Which run of a flow a task is, what its form asked for, and whether another run holds the flow."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from airflow.sdk import Context

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config.java_regex import RegexRefused, compile_java
from mirror.copy.claim import living_holder
from mirror.copy.control import Control, ControlState
from mirror.copy.links import links_of
from mirror.errors import ClaimHeld, UsageRefused
from mirror.kafka.cluster import Cluster
from mirror.wire import control as wire

# Those of the copy Dag's form.
PARAMS = ("topics", "window")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRun:
    """One try of one task: every try is a run of its own, so that no result is taken for another's."""

    dag_run: str
    try_number: int
    topics: str
    window_s: int
    by: str

    @property
    def id(self) -> str:
        return f"{self.dag_run}_try{self.try_number}"

    def is_same_dag_run(self, run: str) -> bool:
        return run.startswith(f"{self.dag_run}_try")

    @property
    def pattern(self) -> re.Pattern[str] | None:
        if not self.topics:
            return None
        try:
            return compile_java(self.topics)
        except RegexRefused as error:
            raise UsageRefused(f"param topics: {error}", next_step="trigger the Dag again with another one") from None


def run_of(flow: Flow, context: Context) -> TaskRun:
    """The run that a task's context describes."""
    instance, params = context["ti"], context["params"]
    unknown = sorted(set(context["dag_run"].conf or {}) - set(PARAMS))
    if unknown:
        # Airflow passes over them, and a mistyped `topic` would copy all.
        raise UsageRefused(
            f"unknown params: {', '.join(unknown)}; known: {', '.join(PARAMS)}", next_step="trigger the Dag again"
        )
    window = params.get("window")
    return TaskRun(
        dag_run=re.sub(r"[^A-Za-z0-9_.-]", "_", instance.run_id),
        try_number=instance.try_number,
        topics=params.get("topics") or "",
        window_s=flow[opt.COPY_WINDOW_SECONDS] if window is None else int(window),
        by=f"Airflow, {instance.dag_id}",
    )


def wait_for_turn(flow: Flow, run: TaskRun, say: Callable[[str], None]) -> None:
    """Raise ClaimHeld while another run copies the flow; wait where it is an earlier try of this very run.

    An earlier try that was killed keeps its claim until it counts as dead, and stepping aside for it would end the
    retry with nothing done. One that still gives signs of life is doing this try's work.
    """
    links = links_of(flow)
    said = False
    with Cluster(flow.target, links.target_admin) as target:
        control = Control(links, target)
        while (holder := _living(flow, control, control.read())) is not None:
            where = f"run {holder.run} ({holder.holder} on {holder.host}, pid {holder.pid})"
            if not run.is_same_dag_run(holder.run):
                raise ClaimHeld(f"{flow} is being copied by {where}", flow=flow.id, run=holder.run)
            if not said:
                say(f"waiting for an earlier try to end, or to count as dead: {where}")
                said = True
            time.sleep(0.4)


def _living(flow: Flow, control: Control, state: ControlState) -> wire.Claim | None:
    if state.claim is None:
        return None
    now_ms = control.write(wire.Clock(flow=state.claim.flow))
    return living_holder(state, now_ms, flow[opt.CLAIM_RENEW_SECONDS])
