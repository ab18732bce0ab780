"""Pages that people read: Markdown, as Airflow shows it, and the same as one HTML file to keep or to send.

Names of topics and groups are other people's words: they are shown as they are and mean nothing to a browser.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

# Rows of one table that a person still reads; the JSON beside the page has all.
ROWS_MAX = 100

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: 0.8rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.9rem 0.3rem 0; border-bottom: 1px solid #8884; }
th { font-weight: 600; } td[style*="right"], th[style*="right"] { font-variant-numeric: tabular-nums; }
code { font: 0.92em/1.4 ui-monospace, monospace; background: #8882; padding: 0.1em 0.3em; border-radius: 3px; }
pre { background: #8882; padding: 0.8rem 1rem; border-radius: 4px; overflow-x: auto; }
pre code { background: none; padding: 0; }
@media print { body { margin: 0; max-width: none; font-size: 11pt; } }
"""


def code(text: object) -> str:
    """Somebody's own words inside a page, as they are: no Markdown, no line breaks, no way out of a table's cell."""
    plain = "".join(c if c.isprintable() else "�" for c in str(text))
    if not plain:
        return ""
    fence = "`" * (1 + max((len(run) for run in _runs(plain, "`")), default=0))
    pad = " " if plain.startswith("`") or plain.endswith("`") or plain.strip() != plain else ""
    return f"{fence}{pad}{plain}{pad}{fence}".replace("|", "\\|")


def _runs(text: str, letter: str) -> list[str]:
    return [run for run in "".join(c if c == letter else " " for c in text).split() if run]


def words(text: object) -> str:
    """Our own sentence that may quote somebody's words: nothing in it is Markdown."""
    plain = "".join(c if c.isprintable() else " " for c in str(text))
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~!&" else c for c in plain)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = ()) -> str:
    """A Markdown table of cells that are Markdown already; told in words where rows are left out."""
    every = list(rows)
    aligned = set(right)
    lines = ["| " + " | ".join(headings) + " |"]
    lines.append("|" + "|".join("---:" if heading in aligned else "---" for heading in headings) + "|")
    lines += ["| " + " | ".join(row) + " |" for row in every[:ROWS_MAX]]
    more = f"\n\nand {len(every) - ROWS_MAX:,} more, in the JSON report." if len(every) > ROWS_MAX else ""
    return "\n".join(lines) + more


def commands(lines: Iterable[str]) -> str:
    """Commands to type, as one block."""
    return "```sh\n" + "\n".join(line.replace("```", "") for line in lines) + "\n```"


def document(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def html_page(markdown: str) -> str:
    """One HTML file with all it needs; markup inside the Markdown is shown, not obeyed."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    heading = next((line[2:] for line in markdown.splitlines() if line.startswith("# ")), "airmirror")
    title = html.escape(heading.replace("`", "").replace("\\", ""))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}</body></html>\n"
    )


def count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def seconds(value: float | None) -> str:
    """`0.4 s`, `75 s`, `12 min`, `3 h 20 min`, `2 d 7 h`; a dash where nothing is known."""
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    minutes = round(value / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def moment(at_ms: int | None) -> str:
    """A moment to the second, in UTC; a dash where nothing is known."""
    return "–" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
