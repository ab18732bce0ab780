"""A report as a person reads it: sections of text, tables and commands, the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; white-space: pre-wrap; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a report; what it has not is left out."""

    heading: str
    text: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    commands: tuple[str, ...] = ()


def moment(at_ms: int | None) -> str:
    """A moment to the second, in UTC."""
    if at_ms is None:
        return "unknown"
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def span(seconds: float) -> str:
    """A duration in its largest two units."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def page(title: str, sections: Sequence[Section]) -> str:
    """The report as one HTML file that needs nothing else: it may be read where there is no network left."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        *(_section(section) for section in sections),
        "</body></html>",
    ]
    return "\n".join(parts)


def _section(section: Section) -> str:
    parts = [f"<h2>{escape(section.heading)}</h2>"]
    parts += [f"<p>{escape(text)}</p>" for text in section.text]
    if section.rows:
        parts.append(f"<table><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in section.headings)}</tr>")
        parts += [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in section.rows]
        parts.append("</table>")
    if section.commands:
        parts.append(f"<pre>{escape(chr(10).join(section.commands))}</pre>")
    return "\n".join(parts)
