"""The README is true: every test, path, target, link and command that it names exists."""

from __future__ import annotations

import ast
import re
import shlex

import pytest

from mirror.cli.main import COMMANDS as KNOWN_COMMANDS
from mirror.cli.main import build_parser
from world import project

ROOT = project.root()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [line.split(" #")[0].strip() for block in BLOCKS for line in block.splitlines() if line.strip()]
# Names in backticks that look like a path of the repository: with a slash or a suffix, and no placeholder.
PATHS = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:md|yaml|toml))`")


def functions_of(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("named", sorted(set(re.findall(r"tests/[\w/]+\.py(?:::\w+)?", TEXT))))
def test_a_test_that_is_named_exists(named: str) -> None:
    path, _, function = named.partition("::")
    assert (ROOT / path).is_file()
    assert not function or function in functions_of(path)


def test_every_promise_names_its_test() -> None:
    table = TEXT.split("## What it promises")[1].split("## How it works")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 15
    assert [row for row in rows if not re.search(r"`tests/[\w/]+\.py::test_\w+` \|$", row)] == []


@pytest.mark.parametrize("path", sorted({found for found in PATHS.findall(TEXT) if "::" not in found}))
def test_a_path_that_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: object) -> None:
    assert hasattr(page, "read_text")
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert link.startswith("http") or (page.parent / link).exists(), link


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\bmake ([a-z-]+)\b(?=[`\s])", "\n".join(COMMANDS) + "\n"))))
def test_a_target_in_a_block_exists(target: str) -> None:
    assert re.search(rf"^{target}:.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`make ([a-z-]+)", TEXT))))
def test_a_target_in_the_text_exists(target: str) -> None:
    assert re.search(rf"^{target}:.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("airmirror ")])
def test_a_command_that_is_shown_is_understood(command: str) -> None:
    arguments = build_parser().parse_args(shlex.split(command)[1:])
    assert callable(arguments.run)


def test_no_command_is_left_out() -> None:
    assert [name for name in KNOWN_COMMANDS if not re.search(rf"(airmirror .*|`){name}\b", TEXT)] == []


def test_nothing_else_is_in_the_blocks() -> None:
    assert {command.split()[0] for command in COMMANDS} == {"airmirror", "make"}


def test_every_decision_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = sorted(page.name for page in (ROOT / "docs" / "decisions").glob("*.md"))
    assert [page for page in pages if f"decisions/{page}" not in index] == []
