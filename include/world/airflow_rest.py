"""What the demo and the tests ask of Airflow's REST API."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

_FINAL = {"success", "failed"}
_TIMEOUT_S = 60
_ATTEMPTS = 3


class AirflowRest:
    """A client logged in as one user; its calls return the decoded JSON of the answer."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self.url = url
        self._login = {"username": user, "password": password}
        self._token: str | None = None

    def token(self) -> str:
        """The user's bearer token, asked for once."""
        if self._token is None:
            self._token = str(self._send("POST", "/auth/token", self._login, token=None)["access_token"])
        return self._token

    def get(self, path: str, **query: Any) -> Any:
        return self._send("GET", path + (f"?{urllib.parse.urlencode(query)}" if query else ""), None, self.token())

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._send("POST", path, body, self.token(), attempts=1)

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._send("PATCH", path, body, self.token(), attempts=1)

    def trigger(self, dag: str, conf: Mapping[str, Any] | None = None) -> str:
        """Start a run of a Dag and return its id, which is ours: said twice, it is still one run."""
        run = f"manual__{uuid.uuid4()}"
        body = {"logical_date": None, "conf": dict(conf or {}), "dag_run_id": run}
        try:
            self._send("POST", f"{_dag(dag)}/dagRuns", body, self.token())
        except urllib.error.HTTPError as refused:
            if refused.code != HTTPStatus.CONFLICT:  # of a run that a first try started, though its answer was 500
                raise
        return run

    def wait_run(self, dag: str, run: str, timeout_s: float = 180) -> str:
        """Wait until a run ends, well or not; returns its state."""
        deadline = time.monotonic() + timeout_s
        while (state := str(self.get(_run(dag, run))["state"])) not in _FINAL:
            if time.monotonic() > deadline:
                tasks = {task["task_id"]: task["state"] for task in self.task_instances(dag, run)}
                raise TimeoutError(f"run {run} of {dag} is still {state} after {timeout_s} s: {tasks}")
            time.sleep(0.4)
        return state

    def task_instances(self, dag: str, run: str) -> list[dict[str, Any]]:
        return list(self.get(f"{_run(dag, run)}/taskInstances")["task_instances"])

    def xcom(self, dag: str, run: str, task: str, key: str = "return_value") -> Any:
        """What a task returned."""
        path = f"{_run(dag, run)}/taskInstances/{_quote(task)}/xcomEntries/{_quote(key)}"
        return self.get(path, deserialize="false", stringify="false")["value"]

    def logs(self, dag: str, run: str, task: str, try_number: int = 1) -> str:
        """A task's log as text, one line per event."""
        path = f"{_run(dag, run)}/taskInstances/{_quote(task)}/logs/{try_number}"
        content = self.get(path, full_content="true")["content"]
        return "\n".join(line if isinstance(line, str) else str(line.get("event", line)) for line in content)

    def dags(self) -> list[str]:
        return [dag["dag_id"] for dag in self.get("/api/v2/dags", limit=100)["dags"]]

    def import_errors(self) -> list[dict[str, Any]]:
        """Dag files that Airflow could not read, with their tracebacks."""
        return list(self.get("/api/v2/importErrors")["import_errors"])

    def pause(self, dag: str, paused: bool = True) -> None:
        self._send("PATCH", _dag(dag), {"is_paused": paused}, self.token())

    def health(self) -> dict[str, str]:
        """Each component's state; empty as long as nobody answers."""
        try:
            answer = self._send("GET", "/api/v2/monitor/health", None, token=None)
        except (OSError, ValueError):
            return {}
        return {name: str((part or {}).get("status")) for name, part in answer.items()}

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None, token: str | None, *, attempts: int = _ATTEMPTS
    ) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        # No proxy of this machine stands between us and loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        # Asking twice does no harm, nor does saying the same twice: a busy machine's API server may let a question wait
        # for half a minute, or answer 500 because SQLite is locked (at once for a transaction that has read and now
        # would write, whatever the timeout).
        for attempts_left in reversed(range(attempts)):
            try:
                with opener.open(request, timeout=_TIMEOUT_S) as answer:
                    return json.loads(answer.read() or b"null")
            except urllib.error.HTTPError as refused:
                if refused.code < 500 or not attempts_left:
                    refused.add_note(f"{method} {path}: {refused.read().decode(errors='replace')[:2000]}")
                    raise
            except TimeoutError as late:
                if not attempts_left:
                    late.add_note(f"{method} {path}: no answer in {_TIMEOUT_S} s")
                    raise
        raise AssertionError("the last attempt returns or raises")


def _quote(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _dag(dag: str) -> str:
    return f"/api/v2/dags/{_quote(dag)}"


def _run(dag: str, run: str) -> str:
    return f"{_dag(dag)}/dagRuns/{_quote(run)}"
