"""Printing of pages to a terminal with rich: bold titles, dim notes, green and red for valid and invalid results."""

from typing import TextIO

from rich import box
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from forestcoll.presentation.tables import Page, Table

_TITLE_STYLES = {None: "bold", True: "bold green", False: "bold red"}
_INDENT = (0, 0, 0, 2)


def draw(page: Page, stream: TextIO) -> None:
    """Print a page to a terminal. Cells that are too long for its width are wrapped inside their column."""
    console = Console(file=stream, highlight=False)
    console.print(Text(page.title, style=_TITLE_STYLES[page.valid]), soft_wrap=True)
    for part in page.parts():
        if isinstance(part, str):
            console.print(Text(part), soft_wrap=True)
        else:
            _draw_table(console, part)


def _draw_table(console: Console, table: Table) -> None:
    if table.title:
        console.print(Text(table.title, style="bold"), soft_wrap=True)
    console.print(Padding(_rich_table(table), _INDENT, expand=False))
    for note in table.below:
        console.print(Text(f"  {note}", style="dim"), soft_wrap=True)


def _rich_table(table: Table) -> RichTable:
    titled = bool(table.titles)
    drawn = RichTable(
        box=box.SIMPLE_HEAD if titled else None,
        show_header=titled,
        header_style="bold",
        show_edge=False,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for place, column in enumerate(table.shown):
        style = "dim" if not titled and place == 0 else None
        justify: JustifyMethod = "right" if column.right else "left"
        drawn.add_column(Text(column.title or ""), justify=justify, style=style, overflow="fold", no_wrap=bool(style))
    for row in table.cells():
        drawn.add_row(*map(Text, row))
    return drawn
