"""`airmirror heartbeats [FLOW]`: writes heartbeats, copies those of the source, and tells how old they are."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mirror.cli.arguments import add_command, add_flow_argument, add_json_argument, load_configuration
from mirror.cli.failures import raise_joined
from mirror.cli.quantities import duration_text, moment_text
from mirror.cli.tables import print_table
from mirror.config import Flow
from mirror.config import options as opt
from mirror.copy.result import CopyResult
from mirror.errors import MirrorError
from mirror.heartbeats import HeartbeatAge, copy_heartbeats, emit, read_ages
from mirror.wire.heartbeat import Heartbeat

T = TypeVar("T")

HELP = "write and copy heartbeats, and tell how old they are"
DESCRIPTION = """Writes the heartbeat of FLOW's pair on its target, copies the source's heartbeats topics to the target,
and shows the newest heartbeat of every pair that the target knows. Without FLOW: all pairs of the file, as MM2 does,
also those whose flow is not enabled."""
EPILOG = """That flow A->B lives is seen on B by a fresh heartbeat in A.heartbeats: pair B->A writes it on A, and A->B
copies it. Where nothing may be written on a cluster A that is only read: B->A.emit.heartbeats.enabled = false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What was done for one pair, and what its target knows."""

    flow: Flow
    emitted: Heartbeat | None
    copied: CopyResult | None
    ages: tuple[HeartbeatAge, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "flow": self.flow.id,
            "emitted_ms": self.emitted.timestamp_ms if self.emitted else None,
            "copied": self.copied.record_count if self.copied else None,
            "heartbeats": [age.to_json() for age in self.ages],
        }


def add_parser(commands: Any) -> None:
    parser = add_command(commands, "heartbeats", run, HELP, DESCRIPTION, EPILOG)
    add_flow_argument(parser, optional=True, left_out="every pair of the file")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    configuration = load_configuration(args)
    flows = (configuration.flow(args.flow),) if args.flow else configuration.flows
    errors: list[MirrorError] = []

    def attempt(step: Callable[[Flow], T], flow: Flow) -> T | None:
        """A cluster that is down must not keep the others' heartbeats from being written."""
        try:
            return step(flow)
        except MirrorError as error:
            errors.append(error)
            return None

    # First all are written, so that what is copied then is as new as can be.
    emitted = {flow.id: attempt(emit, flow) for flow in flows}
    copied = {flow.id: attempt(_copy, flow) for flow in flows if flow.enabled}
    told = [
        _Told(flow=flow, emitted=emitted[flow.id], copied=copied.get(flow.id), ages=attempt(read_ages, flow) or ())
        for flow in flows
    ]
    if args.json:
        document = {"flows": [each.to_json() for each in told], "errors": [error.to_json() for error in errors]}
        print(json.dumps(document, indent=2))
    else:
        for each in told:
            _print(each)
    raise_joined(errors)
    return 0


def _copy(flow: Flow) -> CopyResult:
    result = copy_heartbeats(flow)
    result.raise_if_incomplete()
    return result


def _print(told: _Told) -> None:
    flow = told.flow
    print_table(
        f"heartbeats on {flow.target}",
        ("topic", "from", "written for", "at", "age"),
        [
            (
                age.topic,
                " <- ".join((flow.target, *age.hops)),
                f"{age.source}->{age.target}",
                moment_text(age.timestamp_ms),
                duration_text(age.age_s),
            )
            for age in told.ages
        ],
        wrapped=("topic",),
        right=("age",),
    )
    print(f"{flow.id}: {_wrote(told)}, {_copied(told)}.{_liveness(told)}")


def _wrote(told: _Told) -> str:
    if told.emitted:
        return "wrote a heartbeat"
    return "could not write one" if told.flow[opt.EMIT_HEARTBEATS_ENABLED] else "wrote none, as the file says"


def _copied(told: _Told) -> str:
    if told.copied:
        return f"copied {told.copied.record_count}"
    return "could not copy any" if told.flow.enabled else "copied none, since the flow is not enabled"


def _liveness(told: _Told) -> str:
    """Whether the target has a heartbeat from the source at all; without one nothing tells a dead flow from a quiet."""
    flow = told.flow
    if not flow.enabled or any(age.hops == (flow.source,) for age in told.ages):
        return ""
    return f" None came from {flow.source} yet: airmirror heartbeats '{flow.target}->{flow.source}', then this again."
