"""Tables and pages: values that can be printed as text, and written as JSON or HTML.

A `Table` contains values, and each `Column` formats the values of one column. So text and JSON are made from the same
rows. A `Page` is the complete text of a result: a title, then tables and sentences. `printing` prints a page to a
terminal or a pipe, and `html` shows it in a notebook.

Names of nodes, networks and units come from any file. So all texts of a page are made printable here, each as one line.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from forestcoll.base.display import Displayed, printable

_INDENT = "  "
_GAP = "  "


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        title: the heading. If no column of a table has a title, the table is printed without headings.
        show: returns a value as text.
        right: whether the text is aligned to the right, as for numbers.
        key: the key of the value in JSON; None if the column is not part of the JSON.
    """

    title: str = ""
    show: Callable[[Any], str] = str
    right: bool = False
    key: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))


@dataclass(frozen=True)
class Table(Displayed):
    r"""Rows of values under columns.

    Attributes:
        columns: the columns, from left to right.
        rows: the values of each row, one for each column.
        title: a line above the table; no line if empty.
        notes: lines below the table.

    Example:
        >>> table = Table((Column("links", right=True, key="links"), Column("kind")), ((8, "NVLink"), (16, "PCIe")))
        >>> print("\n".join(table.lines()))
          links  kind
              8  NVLink
             16  PCIe
        >>> table.documents()
        [{'links': 8}, {'links': 16}]
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))
        object.__setattr__(self, "notes", tuple(map(printable, self.notes)))

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the columns; empty if no column has a title."""
        titles = tuple(column.title for column in self.columns)
        return titles if any(titles) else ()

    def cells(self) -> list[tuple[str, ...]]:
        """Return the values of each row as text without control characters."""
        return [
            tuple(printable(column.show(value)) for column, value in zip(self.columns, row, strict=True))
            for row in self.rows
        ]

    def lines(self) -> list[str]:
        """Return the lines of the table as aligned text without colours."""
        cells = [each for each in (self.titles, *self.cells()) if each]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        above = [self.title] * bool(self.title)
        return [*above, *(self._line(row, widths) for row in cells), *(f"{_INDENT}{each}" for each in self.notes)]

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        padded = (
            cell.rjust(width) if column.right else cell.ljust(width)
            for column, cell, width in zip(self.columns, row, widths, strict=True)
        )
        return f"{_INDENT}{_GAP.join(padded)}".rstrip()

    def documents(self) -> list[dict[str, object]]:
        """Return each row as a JSON object, with each value under the key of its column."""
        return [
            {column.key: value for column, value in zip(self.columns, row, strict=True) if column.key is not None}
            for row in self.rows
        ]


def labelled(rows: Iterable[tuple[str, str]]) -> Table:
    """Return pairs of a label and its text as a table without headings.

    Example:
        >>> labelled([("steps", "3"), ("transfers", "24")]).lines()
        ['  steps      3', '  transfers  24']
    """
    return Table((Column(), Column()), tuple(rows))


@dataclass(frozen=True)
class Page(Displayed):
    """The complete text of a result.

    Attributes:
        title: the first line.
        blocks: tables and sentences, from top to bottom.
        valid: the result of a check; None if nothing was checked.

    Example:
        >>> Page("a ring", (labelled([("links", "6")]), "All links have the same bandwidth.")).lines()
        ['a ring', '  links  6', 'All links have the same bandwidth.']
    """

    title: str
    blocks: tuple[Table | str, ...] = ()
    valid: bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))
        blocks = (printable(block) if isinstance(block, str) else block for block in self.blocks)
        object.__setattr__(self, "blocks", tuple(blocks))

    def lines(self) -> list[str]:
        """Return the lines of the page as text without colours."""
        lines = [self.title] * bool(self.title)
        for block in self.blocks:
            lines += [block] if isinstance(block, str) else block.lines()
        return lines
