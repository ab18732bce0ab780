"""Airflow's Connections as plain fields, and how to get at one where Airflow itself is not in this process."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from mirror.config.providers import NoAnswer

FIELDS = ("password", "login", "host", "port", "schema", "extra")
# Seconds for `airflow connections get`: it imports all of Airflow, on a busy machine for most of a minute.
COMMAND_TIMEOUT_S = 90


def field_of(fields: Mapping[str, Any], connection: str, name: str) -> str:
    """One field of a Connection, or one of its extra's."""
    value = fields.get(name) if name in FIELDS else _extra(fields).get(name)
    if value in (None, ""):
        extra = f" or in its extra ({', '.join(sorted(_extra(fields)))})" if _extra(fields) else ""
        raise NoAnswer(
            f"Airflow's Connection {connection} has no {name}",
            f"give it one, or use a field that it has: {', '.join(FIELDS)}{extra}",
        )
    return value if isinstance(value, str) else json.dumps(value)


def _extra(fields: Mapping[str, Any]) -> dict[str, Any]:
    extra = fields.get("extra")
    try:
        found = json.loads(extra) if isinstance(extra, str) and extra else extra
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def look_up(connection: str, name: str) -> str:
    """A field for the command `airmirror`: from AIRFLOW_CONN_..., else from the command `airflow`."""
    found = _fields(connection)
    if isinstance(found, NoAnswer):
        raise found
    return field_of(found, connection, name)


@functools.cache  # also of what is not there: the command takes seconds to say so, and every client asks
def _fields(connection: str) -> Mapping[str, Any] | NoAnswer:
    try:
        return from_environment(connection) or _from_command(connection)
    except NoAnswer as error:
        return error


def from_environment(connection: str) -> Mapping[str, Any] | None:
    """What AIRFLOW_CONN_ID says, as JSON or as an address."""
    text = os.environ.get(f"AIRFLOW_CONN_{connection.upper()}", "")
    if not text:
        return None
    if text.lstrip().startswith("{"):
        document: dict[str, Any] = json.loads(text)
        return document
    parts = urlsplit(text)
    return {
        "host": unquote(parts.hostname or ""),
        "login": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "port": parts.port,
        "schema": unquote(parts.path.lstrip("/")),
        "extra": dict(parse_qsl(parts.query)),
    }


def _from_command(connection: str) -> Mapping[str, Any]:
    beside = Path(sys.executable).with_name("airflow")
    airflow = str(beside) if beside.exists() else shutil.which("airflow")
    if airflow is None:
        raise NoAnswer(
            f"Airflow, which has the Connection {connection}, is not installed here",
            f"set AIRFLOW_CONN_{connection.upper()} to the Connection as JSON, or run this where Airflow is",
        )
    # The answer comes through a pipe; the Connection's name is all that the process list shows.
    command = [airflow, "connections", "get", connection, "--output", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False)
        (document,) = json.loads(done.stdout) if done.returncode == 0 else (None,)
    except (subprocess.TimeoutExpired, ValueError):
        document = None
    if document is None:
        raise NoAnswer(
            f"`airflow connections get` knows no Connection {connection}, or Airflow's database does not answer",
            f"airflow connections add {connection} --conn-type generic ..., "
            f"or set AIRFLOW_CONN_{connection.upper()} to the Connection as JSON",
        )
    return {**document, "extra": document.get("extra_dejson") or document.get("extra")}
