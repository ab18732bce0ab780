"""Spark's daemon of Python workers on this machine, started with bytecode that is there already.

Spark puts PySpark before everything else on its workers' path as a zip of sources, which Python compiles anew in every
daemon and every worker: two to three seconds of CPU for each copy. Where the zip is part of an installed PySpark, that
PySpark is taken instead: the same modules, compiled when they were installed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def without_zips_of_installed(path: Sequence[str]) -> list[str]:
    """The path without PySpark's zip where the package that it lies in can be imported from the path itself."""
    return [entry for entry in path if not (entry.endswith("/pyspark.zip") and _home(entry) in path)]


def _home(entry: str) -> str:
    """Where a package `pyspark` must lie that holds `pyspark/python/lib/pyspark.zip`; empty when it is none."""
    package = Path(entry).parents[2]
    return str(package.parent) if package.name == "pyspark" and (package / "__init__.py").is_file() else ""


if __name__ == "__main__":
    sys.path[:] = without_zips_of_installed(sys.path)
    # Every worker is forked from here: what all of them need is loaded once.
    from pyspark.daemon import manager

    import mirror.copy.slot  # noqa: F401

    manager()
