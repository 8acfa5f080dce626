"""The description of a result: rows, tables and sentences, from which text, JSON and HTML are made.

A `Row` has a label and a text for the page, and values for JSON. A `Table` contains values, and each `Column` formats
the values of one column. A `Page` is the complete description: a title, then rows, tables and sentences. `printing`
prints a page to a terminal or a pipe, as text or as JSON, and `html` shows it in a notebook.

Names of nodes, networks and units come from any file. So all texts of a page are made printable here, each as one line.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from forestcoll.base.display import Displayed, printable
from forestcoll.base.errors import plural

_INDENT = "  "
_GAP = "  "
_PLAIN = {str, int, float, bool, type(None)}
"""The types whose values JSON has, first because long lists consist of them."""


def plain(value: object, number: Callable[[Fraction], object] = str) -> Any:
    """Return a value as JSON has it.

    Args:
        value: any value. A function without arguments stands for what it returns; only JSON calls it.
        number: returns an exact number as a value of JSON.

    Example:
        >>> plain({"algbw": Fraction(8, 3), "ranks": (0, 1), "output": None, "proof": lambda: "cut"})
        {'algbw': '8/3', 'ranks': [0, 1], 'output': None, 'proof': 'cut'}
    """
    if type(value) in _PLAIN:
        return value
    if callable(value):
        value = value()
    if isinstance(value, Table):
        return value.documents(number)
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(each, number) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, number) for each in value]
    if isinstance(value, Fraction):
        return number(value)
    if isinstance(value, Enum):
        value = value.value
    return str(value) if isinstance(value, Path) else value


@dataclass(frozen=True)
class Row:
    """One line of a result; `row` makes it.

    Attributes:
        label: the name of the line on the page; the line is only in JSON if empty.
        text: what the page says.
        values: the values in JSON by their keys; `plain` makes JSON of them.
    """

    label: str
    text: str
    values: Mapping[str, object]


def row(label: str = "", text: object = "", /, **values: object) -> Row:
    """Return a line of a result: a label and a text on the page, and `values` in JSON.

    Example:
        >>> page = Page("a ring", (row("links", 6, links=6), row(algbw=Fraction(8, 3))))
        >>> page.lines(), page.document()
        (['a ring', '  links  6'], {'links': 6, 'algbw': '8/3'})
    """
    return Row(label, str(text), values)


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        title: the heading; None for a column that is only in JSON. If no column of a table has a title, the table is
            printed without headings.
        show: returns a value as text.
        right: whether the text is aligned to the right, as for numbers.
        key: the key of the value in JSON; None if the column is not part of the JSON.
    """

    title: str | None = ""
    show: Callable[[Any], str] = str
    right: bool = False
    key: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", None if self.title is None else printable(self.title))


@dataclass(frozen=True, repr=False)
class Table(Displayed):
    r"""Rows of values under columns.

    Attributes:
        columns: the columns, from left to right.
        rows: the values of each row, one for each column.
        title: a line above the table; no line if empty.
        notes: lines below the table.
        key: the key of the rows in the JSON of a page; the table is only on the page if empty.
        most: the most rows on the page, with a line that counts the others; JSON has all of them.

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
    key: str = ""
    most: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))
        object.__setattr__(self, "notes", tuple(map(printable, self.notes)))

    @property
    def shown(self) -> tuple[Column, ...]:
        """The columns on the page."""
        return tuple(column for column in self.columns if column.title is not None)

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the columns on the page; empty if no column has a title."""
        titles = tuple(column.title or "" for column in self.shown)
        return titles if any(titles) else ()

    @property
    def below(self) -> tuple[str, ...]:
        """The lines below the table: how many rows are left out, and the notes."""
        more = 0 if self.most is None else len(self.rows) - self.most
        return (f"and {plural(more, 'more row')}; --json lists all.", *self.notes) if more > 0 else self.notes

    def cells(self) -> list[tuple[str, ...]]:
        """Return the values of each row on the page as text without control characters."""
        return [
            tuple(printable(column.show(value)) for column, value in self._pairs(row) if column.title is not None)
            for row in self.rows[: self.most]
        ]

    def _pairs(self, row: tuple[object, ...]) -> Iterator[tuple[Column, Any]]:
        return zip(self.columns, row, strict=True)

    def lines(self) -> list[str]:
        """Return the lines of the table as aligned text without colours."""
        cells = [each for each in (self.titles, *self.cells()) if each]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        above = [self.title] * bool(self.title)
        return [*above, *(self._line(row, widths) for row in cells), *(f"{_INDENT}{each}" for each in self.below)]

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        padded = (
            cell.rjust(width) if column.right else cell.ljust(width)
            for column, cell, width in zip(self.shown, row, widths, strict=True)
        )
        return f"{_INDENT}{_GAP.join(padded)}".rstrip()

    def documents(self, number: Callable[[Fraction], object] = str) -> list[dict[str, Any]]:
        """Return each row as a JSON object, with each value under the key of its column; `number` is as in `plain`."""
        return [
            {column.key: plain(value, number) for column, value in self._pairs(row) if column.key is not None}
            for row in self.rows
        ]


def labelled(rows: Iterable[tuple[str, str]]) -> Table:
    """Return pairs of a label and its text as a table without headings.

    Example:
        >>> labelled([("steps", "3"), ("transfers", "24")]).lines()
        ['  steps      3', '  transfers  24']
    """
    return Table((Column(), Column()), tuple(rows))


@dataclass(frozen=True, repr=False)
class Page(Displayed):
    """The complete description of a result.

    Attributes:
        title: the first line.
        blocks: rows, tables and sentences, from top to bottom.
        valid: the result of a check; None if nothing was checked.

    Example:
        >>> Page("a ring", (row("links", 6), "All links have the same bandwidth.")).lines()
        ['a ring', '  links  6', 'All links have the same bandwidth.']
    """

    title: str
    blocks: tuple[Row | Table | str, ...] = ()
    valid: bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title))
        blocks = (printable(block) if isinstance(block, str) else block for block in self.blocks)
        object.__setattr__(self, "blocks", tuple(blocks))

    def parts(self) -> Iterator[Table | str]:
        """Yield the tables and sentences, with a table for each group of adjacent rows."""
        for is_row, blocks in groupby(self.blocks, lambda block: isinstance(block, Row)):
            if not is_row:
                yield from (block for block in blocks if not isinstance(block, Row))
            elif shown := [(each.label, each.text) for each in blocks if isinstance(each, Row) and each.label]:
                yield labelled(shown)

    def lines(self) -> list[str]:
        """Return the lines of the page as text without colours."""
        lines = [self.title] * bool(self.title)
        for part in self.parts():
            lines += [part] if isinstance(part, str) else part.lines()
        return lines

    def document(self, number: Callable[[Fraction], object] = str) -> dict[str, Any]:
        """Return the JSON object: the values of all rows, and the tables that have a key; `number` is as in `plain`."""
        found: dict[str, Any] = {}
        for block in self.blocks:
            if isinstance(block, Row):
                found |= plain(block.values, number)
            elif isinstance(block, Table) and block.key:
                found[block.key] = block.documents(number)
        return found

    def records(self) -> list[dict[str, Any]]:
        """See `Displayed.records`."""
        tables = (each for each in self.blocks if isinstance(each, Table) and any(one.key for one in each.columns))
        table = next(tables, None)
        return [self.document(float)] if table is None else table.documents(float)
