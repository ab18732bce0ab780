"""`--report FILE`: what an operation found, kept as a page or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirror.errors import UsageRefused
from mirror.operations.pages import html_page

_KINDS = (".html", ".md", ".json")


def add_report_argument(parser: argparse.ArgumentParser) -> None:
    """The option --report; its ending says what is written, and is checked before anything is done."""
    parser.add_argument(
        "--report",
        metavar="FILE",
        type=_path,
        help="also write the report to FILE: a page (.html, .md), or the whole document (.json)",
    )


def _path(text: str) -> str:
    path = Path(text)
    if path.suffix not in _KINDS:
        raise argparse.ArgumentTypeError(f"expected a name that ends with {', '.join(_KINDS)}: {text}")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"no such directory: {path.parent}")
    return text


def write_report(path: Path, document: Mapping[str, Any], page: str) -> None:
    """Write the report in the kind that its name asks for."""
    if path.suffix == ".json":
        text = json.dumps(document, indent=2) + "\n"
    else:
        text = html_page(page) if path.suffix == ".html" else page
    try:
        path.write_text(text)
    except OSError as error:
        raise UsageRefused(
            f"could not write {path}: {error}", next_step="run this again with another --report"
        ) from None
