"""Tables on stdout, the same in every command: names stay whole, long values wrap, pipes get wide lines."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

# Without a terminal there is no width to respect; a row stays on one line for grep, however long its names are.
PIPE_WIDTH_MIN = 200


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
    from rich.measure import Measurement
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
    console = Console()
    if not sys.stdout.isatty():
        unbounded = console.options.update(max_width=sys.maxsize)
        console = Console(width=max(PIPE_WIDTH_MIN, Measurement.get(console, unbounded, table).maximum))
    console.print(table)
