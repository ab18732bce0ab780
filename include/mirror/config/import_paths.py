"""Names of own classes and functions in the file: how they are written, and whether their module is there.

Nothing of the user's is run here: a Dag file's parsing must neither execute it nor import what it imports.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

# MM2's package, the one that some guides write by mistake, and the admin's.
_JAVA_BUILT_IN = re.compile(r"^org\.apache\.kafka\.(connect\.mirror|mirror|clients\.admin)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPath:
    """An own class or function: `package.module:Name`, or `package.module.Name`."""

    module: str
    name: str

    @property
    def top(self) -> str:
        """The module or package that has to be shipped where the whole is to be found."""
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


def built_in_name(text: str) -> str:
    """The last part of a class of MM2's own, by its full Java name or that part alone; else empty."""
    text = text.removeprefix("class ")
    short = _JAVA_BUILT_IN.sub("", text)
    return "" if "." in short or ":" in short else short


def own_path(text: str) -> ImportPath | None:
    """The text as an import path; None for nothing and for a class of MM2's own."""
    text = text.removeprefix("class ")
    module, _, name = text.replace(":", ".").rpartition(".")
    if not module or built_in_name(text):
        return None
    return ImportPath(module=module, name=name)


def spec_of(module: str, folder: Path | None) -> ModuleSpec | None:
    """Where Python would find a module, the user's folder after all other places; imports none of it."""
    top, *inner = module.split(".")
    spec = _top_level(top, folder)
    for part in inner:
        if spec is None or spec.submodule_search_locations is None:
            return None
        # By the part alone: with the whole name Python would ask the packages around it, which are not imported.
        spec = PathFinder.find_spec(part, list(spec.submodule_search_locations))
    return spec


def _top_level(name: str, folder: Path | None) -> ModuleSpec | None:
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: already imported, by somebody who left no spec
        found = None
    if found is None and folder is not None:
        # What was written a moment ago is found too, whatever was cached of the folder.
        PathFinder.invalidate_caches()
        found = PathFinder.find_spec(name, [str(folder)])
    return found
