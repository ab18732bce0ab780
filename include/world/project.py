"""Where the project lies on this disk: everything the embedded world fetches or writes is below its root."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def root() -> Path:
    """The checkout's root: the first folder above this file with a pyproject.toml (the install is editable)."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "pyproject.toml").is_file():
            return folder
    raise RuntimeError("the embedded world needs a checkout of airmirror: install it with `make setup` (editable)")
