"""What the Spark jobs and the task that starts them agree on: the arguments, the leash, the document that is left.

Imports neither Airflow nor Spark, because both sides use it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirror.airflow.connections import from_answers
from mirror.airflow.leash import end_with
from mirror.config.providers import ask_for_connections


def add_job_arguments(parser: argparse.ArgumentParser, *, last_word: str) -> None:
    """The arguments that every job takes; `last_word` says what this one leaves in its file."""
    parser.add_argument("flow", help="A->B or A-to-B")
    parser.add_argument("--config", help="the mm2.properties; its credentials are read here and not passed on")
    parser.add_argument("--topics", default="", help="only topics whose whole name matches this regex")
    parser.add_argument("--leash", default="", help="named pipe: end when nobody holds its other end")
    parser.add_argument("--last-word", type=Path, help=last_word)


def follow(leash: str) -> None:
    """End with the task at the other end, and take from it Airflow's Connections, which only it could ask for."""
    if leash:
        ask_for_connections(from_answers(end_with(leash).line()))


def leave(path: Path | None, document: Mapping[str, Any]) -> None:
    """Whole or not at all: whoever reads it must not meet half of it."""
    if path is not None:
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(document, default=str))
        os.replace(unfinished, path)


def left(path: Path) -> Mapping[str, Any] | None:
    """What the job left behind: a result, or an error; None where it came to neither."""
    if not path.is_file():
        return None
    document: Mapping[str, Any] = json.loads(path.read_text())
    return document
