"""The command `airmirror` in this process, with slots in threads where Spark would be too slow for a test."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pytest

from integration.copying import Mirrored
from mirror.cli import copy, verify
from mirror.cli.main import main
from mirror.copy.execution import InProcessExecutor
from mirror.verify import execution


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    def rows(self, first: str) -> list[list[str]]:
        """The words of each line of a table that begins with this one."""
        return [line.split() for line in self.out.splitlines() if line.split()[:1] == [first]]

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        found: dict[str, Any] = json.loads(self.out)
        return found


def slots_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that copy or compare do it in this process."""
    monkeypatch.setattr(copy, "make_executor", lambda master, flow: nullcontext(InProcessExecutor(2)))
    monkeypatch.setattr(verify, "make_executor", lambda master, flow: nullcontext(execution.InProcessExecutor(2)))


class Command:
    """Runs commands on one flow's file; FLOW is filled in."""

    def __init__(self, flow: Mirrored, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._flow = flow
        self._capsys = capsys
        slots_in_threads(monkeypatch)
        monkeypatch.delenv("AIRMIRROR_RUN_BY", raising=False)

    def __call__(self, name: str, *arguments: str) -> Outcome:
        self._capsys.readouterr()
        code = main(["--config", str(self._flow.config), name, self._flow.flow.id, *arguments])
        told = self._capsys.readouterr()
        return Outcome(code, told.out, told.err)

    def lag(self) -> dict[tuple[str, int], dict[str, Any]]:
        """`lag --json` of the flow, by topic and partition."""
        (flow,) = self("lag", "--json").document["flows"]
        return {(p["topic"], p["partition"]): p for p in flow["partitions"]}

    def flows(self) -> list[dict[str, Any]]:
        """`flows --json`, the flow of this file first."""
        self._capsys.readouterr()
        assert main(["--config", str(self._flow.config), "flows", "--json"]) == 0
        found: list[dict[str, Any]] = json.loads(self._capsys.readouterr().out)["flows"]
        return sorted(found, key=lambda flow: flow["flow"] != self._flow.flow.id)
