"""What a Spark job and its task agree on."""

from __future__ import annotations

import argparse
from pathlib import Path

from mirror.airflow.job import add_job_arguments, leave, left


def test_a_document_is_left_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "last-word.json"
    assert left(path) is None
    leave(path, {"equal": True, "at": Path("/somewhere")})
    leave(path, {"equal": False})
    assert left(path) == {"equal": False}
    assert list(tmp_path.iterdir()) == [path]


def test_a_job_that_nobody_asked_for_a_document_leaves_none() -> None:
    parser = argparse.ArgumentParser()
    add_job_arguments(parser, last_word="the report")
    args = parser.parse_args(["A->B"])
    assert (args.leash, args.topics, args.last_word) == ("", "", None)
    leave(args.last_word, {"equal": True})
