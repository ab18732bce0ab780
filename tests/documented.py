"""The examples of docs/custom-classes.md, put where a user who follows the page would put them."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "custom-classes.md"
_BLOCK = re.compile(r"```(python|properties)\n(.*?)```", re.DOTALL)
_FILE = re.compile(r"# (acme/\w+\.py)\n")


def install(directory: Path) -> str:
    """Write the page's modules into `directory`; gives the page's lines for the mm2.properties, with paths in there."""
    lines = ""
    (directory / "acme").mkdir(exist_ok=True)
    (directory / "acme" / "__init__.py").touch()
    for language, block in _BLOCK.findall(PAGE.read_text()):
        if language == "properties":
            lines += block
        else:
            name = _FILE.match(block)
            assert name is not None, f"an example of the page does not say which file it is:\n{block}"
            (directory / name[1]).write_text(block)
    return re.sub(r"/(etc|var/log)/airmirror", str(directory), lines)


def lines_of(directory: Path, *options: str) -> str:
    """Of these options alone, and of what belongs to them: `topic.filter` for topic.filter.class and its own."""
    chosen = [line for line in install(directory).splitlines() if line.startswith(options)]
    return "\n".join(chosen) + "\n"
