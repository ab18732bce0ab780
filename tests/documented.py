"""The examples of the pages about own code, put where a user who follows the pages would put them."""

from __future__ import annotations

import re
from pathlib import Path

_DOCS = Path(__file__).parents[1] / "docs"
CLASSES, RECORDS = _DOCS / "custom-classes.md", _DOCS / "records.md"
_BLOCK = re.compile(r"```(python|properties)\n(.*?)```", re.DOTALL)
_FILE = re.compile(r"# ([\w/]+\.py)\b.*\n")


def classes(directory: Path) -> str:
    """Write the page's modules into `directory`; gives its lines for the mm2.properties, with their paths in there."""
    (directory / "acme").mkdir(exist_ok=True)
    (directory / "acme" / "__init__.py").touch()
    _write_modules(CLASSES, directory)
    return re.sub(r"/(etc|var/log)/airmirror", str(directory), "".join(_blocks(CLASSES, "properties")))


def chosen_classes(directory: Path, *beginnings: str, flow: str = "") -> str:
    """The same, and of the lines those that begin so, behind a flow where one is named."""
    chosen = [line for line in classes(directory).splitlines() if line.startswith(beginnings)]
    return "".join(f"{flow}.{line}\n" if flow else f"{line}\n" for line in chosen)


def record_function(directory: Path, flow: str = "") -> str:
    """Write the module of the page's record function; gives its line, behind a flow where one is named."""
    _write_modules(RECORDS, directory)
    text = "".join(_blocks(RECORDS, "properties"))
    (line,) = re.findall(r"airmirror\.record\.function.*", text)
    return f"{flow}.{line}\n" if flow else f"{line}\n"


def _write_modules(page: Path, directory: Path) -> None:
    for block in _blocks(page, "python"):
        name = _FILE.match(block)
        assert name is not None, f"an example of {page.name} does not say which file it is:\n{block}"
        (directory / name[1]).write_text(block)


def _blocks(page: Path, language: str) -> list[str]:
    return [block for kind, block in _BLOCK.findall(page.read_text()) if kind == language]
