"""What executors get of this machine's code, as zips: the library, and the modules of a flow's own classes."""

from __future__ import annotations

import logging
import sys
import zipfile
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from pathlib import Path

from mirror.config import Flow
from mirror.config.import_paths import spec_of
from mirror.custom import own_paths

log = logging.getLogger(__name__)

LIBRARY, OWN_CODE = "mirror.zip", "airmirror-own-code.zip"


def shipped(flow: Flow, directory: Path) -> tuple[Path, ...]:
    """The zips for a job of this flow, made in `directory` where spark-submit has not brought them already."""
    return (package_zip(directory), *own_code(flow, directory))


def package_zip(directory: Path) -> Path:
    """The library as one file in `directory`, for executors that have nothing of the project's disk."""
    import mirror

    root = Path(mirror.__file__).parent
    if (brought := _zip_around(root)) is not None:
        return brought
    path = directory / LIBRARY
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*.py")):
            archive.write(file, Path("mirror") / file.relative_to(root))
    return path


def own_code(flow: Flow, directory: Path) -> tuple[Path, ...]:
    """The modules and packages of the flow's own classes: one zip in `directory`, and those they came in already.

    A package goes whole, with all files in it; a single module alone, without the modules beside it.
    """
    brought: set[Path] = set()
    files: dict[Path, Path] = {}
    for top in sorted({path.top for path in own_paths(flow)}):
        spec = spec_of(top, flow.folder)
        if spec is None or top == "mirror" or top in sys.stdlib_module_names:
            continue
        if spec.origin is not None and (archive_path := _zip_around(Path(spec.origin).parent)) is not None:
            brought.add(archive_path)
        else:
            files |= {inside: file for file, inside in _files_of(top, spec)}
    return (*sorted(brought), *((_written(directory / OWN_CODE, files),) if files else ()))


def _written(path: Path, files: dict[Path, Path]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, file in sorted(files.items()):
            archive.write(file, inside)
    return path


def _zip_around(folder: Path) -> Path | None:
    """The zip that holds this folder, where the code came as one."""
    return next((place for place in (folder, *folder.parents) if place.suffix == ".zip" and place.is_file()), None)


def _files_of(top: str, spec: ModuleSpec) -> Iterator[tuple[Path, Path]]:
    """Each file of a module or package, and its place in the zip."""
    if spec.submodule_search_locations is None:
        if spec.origin is not None and spec.origin.endswith(".py"):
            yield Path(spec.origin), Path(f"{top}.py")
        return
    for location in map(Path, spec.submodule_search_locations):
        inside = [file for file in sorted(location.rglob("*")) if "__pycache__" not in file.parts]
        if any(file.name.endswith(tuple(EXTENSION_SUFFIXES)) for file in inside):
            # Python cannot load compiled parts from a zip, and the zip would hide an installed package.
            log.info("not shipped: %s has compiled parts and must be installed where executors run", top)
            return
        yield location, Path(top)
        yield from ((file, Path(top) / file.relative_to(location)) for file in inside)
