"""A table and a page as values, and as the text, the JSON rows and the lines that they are printed as.

A `Table` holds values, and each `Column` says how one of them is shown, so the text that a person reads and the JSON
that a program reads come from the same rows. A `Page` is all that one result says: a title, then tables and sentences.
`printing` puts a page on a terminal or into a pipe, `html` into a notebook.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from forestcoll.presentation.text import printable

_INDENT = "  "
_GAP = "  "


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        title: the text above it; a table whose columns have no titles is printed without a line of titles.
        show: returns the text of a value.
        right: whether the text is aligned to the right, as numbers are.
        key: the key of the value in JSON; None if JSON leaves the column out.
    """

    title: str = ""
    show: Callable[[Any], str] = str
    right: bool = False
    key: str | None = None


@dataclass(frozen=True)
class Table:
    r"""Rows of values under columns.

    Attributes:
        columns: what stands in each place of a row.
        rows: the values; as many in each row as there are columns.
        title: a line above the table; nothing if empty.
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

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the columns; empty where no column has one."""
        titles = tuple(column.title for column in self.columns)
        return titles if any(titles) else ()

    def cells(self) -> list[tuple[str, ...]]:
        """Return the text of each value, row by row, without control characters."""
        return [
            tuple(printable(column.show(value)) for column, value in zip(self.columns, row, strict=True))
            for row in self.rows
        ]

    def lines(self) -> list[str]:
        """Return the table as aligned text without colour."""
        cells = [each for each in (self.titles, *self.cells()) if each]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        above = [printable(self.title)] * bool(self.title)
        return [*above, *(self._line(row, widths) for row in cells), *(f"{_INDENT}{each}" for each in self.notes)]

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        padded = (
            cell.rjust(width) if column.right else cell.ljust(width)
            for column, cell, width in zip(self.columns, row, widths, strict=True)
        )
        return f"{_INDENT}{_GAP.join(padded)}".rstrip()

    def documents(self) -> list[dict[str, object]]:
        """Return the rows as JSON objects, each value under the key of its column."""
        return [
            {column.key: value for column, value in zip(self.columns, row, strict=True) if column.key is not None}
            for row in self.rows
        ]


def labelled(rows: Iterable[tuple[str, str]]) -> Table:
    """Return labels and what belongs to each as a table without titles.

    Example:
        >>> labelled([("steps", "3"), ("transfers", "24")]).lines()
        ['  steps      3', '  transfers  24']
    """
    return Table((Column(), Column()), tuple(rows))


@dataclass(frozen=True)
class Page:
    """All that one result says to a person.

    Attributes:
        title: its first line.
        blocks: tables and sentences, from top to bottom.
        right: whether what was checked is right; None where nothing was.

    Example:
        >>> Page("a ring", (labelled([("links", "6")]), "All links are alike.")).lines()
        ['a ring', '  links  6', 'All links are alike.']
    """

    title: str
    blocks: tuple[Table | str, ...] = ()
    right: bool | None = None

    def lines(self) -> list[str]:
        """Return the page as text without colour."""
        lines = [printable(self.title)]
        for block in self.blocks:
            lines += [block] if isinstance(block, str) else block.lines()
        return lines
