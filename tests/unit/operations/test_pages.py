"""Pages show other people's names as they are, and give a browser nothing to obey."""

from __future__ import annotations

import re

import pytest

from mirror.operations.pages import ROWS_MAX, code, document, html_page, seconds, table, words

HOSTILE = (
    "plain",
    "a|b",
    "`ticks`",
    "``",
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "**bold** _and_ ~~so~~ &amp; on",
    "line\nbreak",
    "ends with \\",
    "![i](x)",
)


@pytest.mark.parametrize("write", [code, words])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_shown_whole_in_one_cell_and_means_nothing(write: object, name: str) -> None:
    assert callable(write)
    page = html_page(document("# title", table(("name", "next"), [(write(name), "cell")])))
    cells = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    assert len(cells) == 2
    assert cells[1] == "cell"
    inside = re.sub(r"</?code>", "", cells[0])
    assert not re.search(r"<[a-z/!]", inside), cells[0]
    shown = inside.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    assert shown.strip() == re.sub(r"\n", "�" if write is code else " ", name)


def test_a_title_is_escaped() -> None:
    assert "<title>Drill of A-&gt;B</title>" in html_page("# Drill of `A->B`\n")


def test_a_long_table_says_what_it_leaves_out() -> None:
    text = table(("n",), [(str(n),) for n in range(ROWS_MAX + 3)])
    assert "and 3 more, in the JSON report." in text
    assert f"| {ROWS_MAX} |" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.44, "0.4 s"), (75, "75 s"), (600, "10 min"), (12_000, "3 h 20 min"), (200_000, "2 d 7 h")],
)
def test_times_are_short(value: float | None, text: str) -> None:
    assert seconds(value) == text
