"""Tables on stdout, the same in every command: names stay whole, long values wrap, pipes get wide lines."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

# Without a terminal there is no width to respect; wide lines keep a row on one line for grep.
PIPE_WIDTH = 200


def print_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    wrapped: Collection[str] = (),
    right: Collection[str] = (),
    dim: Sequence[bool] = (),
) -> None:
    """Prints one table: `wrapped` columns may break over lines, `right` ones align right, `dim` rows step back."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(
            heading,
            overflow="fold",
            no_wrap=heading not in wrapped,
            justify="right" if heading in right else "left",
        )
    for number, row in enumerate(rows):
        # Text, because regexes have brackets, which rich would read as markup.
        style = "dim" if number < len(dim) and dim[number] else None
        table.add_row(*(Text(str(cell)) for cell in row), style=style)
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)
