"""Loads own classes and functions by the import paths that the file gives them.

They are looked for wherever Python looks, and at last in the folder of the mm2.properties. Nothing is imported before
a task or a command needs it. docs/custom-classes.md is for those who write them.
"""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mirror.config import Flow
from mirror.config import options as opt
from mirror.config import types as t
from mirror.config.import_paths import ImportPath, own_path
from mirror.config.options import Option
from mirror.errors import ConfigurationRefused

log = logging.getLogger(__name__)

DOCUMENT = "docs/custom-classes.md"


def load(path: str, *, option: str, folder: Path | None = None) -> Any:
    """The class or function behind an import path; `option` is whose value it is, for the refusal.

    On Spark's executors there is no folder: what they need of it came with the job.
    """
    parsed = own_path(path)
    if parsed is None:
        raise refused(option, path, "expected package.module:Name")
    make_importable(folder)
    try:
        module = importlib.import_module(parsed.module)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{parsed.module}.".startswith(f"{error.name}."):
            where = f", nor in {folder}" if folder is not None else ""
            raise refused(
                option, path, f"no module {error.name} on Python's path{where}; Java classes cannot be loaded"
            ) from error
        raise refused(option, path, f"its module could not be imported: {error}") from error
    except Exception as error:
        # A user's module may raise anything.
        raise refused(option, path, f"its module could not be imported: {type(error).__name__}: {error}") from error
    try:
        return getattr(module, parsed.name)
    except AttributeError:
        raise refused(option, path, f"{module.__file__ or parsed.module} has no {parsed.name}") from None


def load_configured(flow: Flow, option: Option[str], base: type[Any], functions: Sequence[str]) -> Any:
    """The flow's own class for an option: made without arguments, then given the flow's properties, as Java's are.

    It needs the functions, not the base: a class that has them all is as good.
    """
    path = flow[option]
    cls = load(path, option=option.name, folder=flow.folder)
    missing = [name for name in functions if not callable(getattr(cls, name, None))]
    missing += sorted(set(getattr(cls, "__abstractmethods__", ())) - set(missing))
    if missing:
        given = f"extend {base.__module__}.{base.__qualname__}, and "
        raise refused(option.name, path, f"it lacks {', '.join(missing)}", next_step=f"{given}give these functions")
    try:
        made = cls()
        configure = getattr(made, "configure", None)
        if configure is not None:
            configure(flow.raw)
    except Exception as error:
        # How a user's class says that its properties are wrong.
        raise refused(option.name, path, f"it could not be made: {type(error).__name__}: {error}") from error
    log.debug("loaded flow=%s %s=%s", flow.id, option.name, path)
    return made


def refused(option: str, path: str, why: str, *, next_step: str = "") -> ConfigurationRefused:
    """The refusal of an own class or function; `why` says what is wrong with it."""
    told = f"{option} = {path}: {why}"
    example = f"{DOCUMENT} has an example of each kind"
    return ConfigurationRefused(
        told, next_step=f"{next_step}; {example}" if next_step else example, problems=[told], option=option
    )


def own_paths(flow: Flow) -> Iterator[ImportPath]:
    """Every own class and function that the flow's options name; and other flows', where it asks them for a way."""
    for asked in (flow, *(flow.file_flows if flow[opt.PROVENANCE_HEADERS] else ())):
        for option in opt.USED:
            if option.type in t.IMPORTED and (path := own_path(asked[option])) is not None:
                yield path


def make_importable(folder: Path | None) -> None:
    """Let Python look into the folder too; last, so that nothing there gets in front of anything else."""
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
        importlib.invalidate_caches()
