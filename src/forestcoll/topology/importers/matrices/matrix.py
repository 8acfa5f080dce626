"""A matrix of bandwidths as a table: numbers in GB/s, separated by commas, semicolons, tabs or blanks.

The first line may hold the names of the nodes, and each line may begin with one. The value in a row and a column is
what the node of the row sends to that of the column.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import plural, shown
from forestcoll.base.exact import to_fraction
from forestcoll.base.units import BANDWIDTH_UNIT, bandwidth_in
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.matrices.square import Square, square_network
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

_EMPTY = {"", "-", "x", "n/a", "na", "nan", "none", "self"}
_NUMBER = re.compile(r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,3})?\s?(?:[KMGT]i?[Bb](?:/s|ps))?")
_MOST_ROWS = 4096
_MOST_DIGITS = 80

Rows = list[tuple[int, list[str]]]


def _rows(text: str) -> Rows:
    """Return the cells of each line, with the number of the line; comments and blank lines are left out."""
    lines = [(number, line.partition("#")[0].rstrip()) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line.strip()]
    mark = next((each for each in (",", ";", "\t") if lines and all(each in line for _, line in lines)), None)
    rows = [(number, [cell.strip().strip("\"'") for cell in line.split(mark)]) for number, line in lines]
    return rows if mark is None else _without_last_marks(rows)


def _without_last_marks(rows: Rows) -> Rows:
    """Return the rows without the empty cell that a mark at the end of a line makes."""
    least = min((len(cells) for _, cells in rows), default=0)
    all_end_so = all(len(cells) > 2 and cells[-1] == "" for _, cells in rows)
    return [
        (line, cells[:-1] if all_end_so or (len(cells) > least and cells[-1] == "") else cells) for line, cells in rows
    ]


def _is_value(cell: str) -> bool:
    return len(cell) < _MOST_DIGITS and (cell.lower() in _EMPTY or _NUMBER.fullmatch(cell) is not None)


def _parts(rows: Rows) -> tuple[list[str] | None, Rows]:
    """Return the names, if there are any, and the rows of values, whose number is not checked here."""
    count = len(rows)
    widths = {len(cells) for _, cells in rows[1:]} or {len(rows[0][1])}
    if len(widths) != 1:
        return None, rows
    width, head = widths.pop(), rows[0][1]
    if _is_one_row_with_names(rows):
        return head, rows[1:]
    if width == len(head) == count and not (count > 2 and _has_titles(rows)):
        return None, rows
    if width == len(head) == count + 1:
        return [cells[0] for _, cells in rows], [(line, cells[1:]) for line, cells in rows]
    if width in (count - 1, count) and len(head) in (count - 1, count):
        return head[-(count - 1) :], [(line, cells[-(count - 1) :]) for line, cells in rows[1:]]
    return None, rows


def _has_titles(rows: Rows) -> bool:
    """Return whether the first line and the first column of a square are names: texts, or numbers from 0."""
    across, down = rows[0][1][1:], [cells[0] for _, cells in rows[1:]]
    if not all(map(_is_value, across)):
        return True
    return rows[0][1][0] == "" and across == down == [str(place) for place in range(len(across))]


def _is_one_row_with_names(rows: Rows) -> bool:
    """Return whether only the first row of a matrix is there, below the names."""
    (_, head), (_, cells) = rows[0], rows[-1]
    return (
        len(rows) == 2 and len(head) == len(cells) > 1 and all(map(_is_value, cells)) and not any(map(_is_value, head))
    )


@importers.add("matrix", summary="a matrix of bandwidths, as CSV", tried=900)
@dataclass(frozen=True)
class BandwidthMatrix(Importer):
    """Reads a matrix of bandwidths, as CSV."""

    matrix: str = option("matrix")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is a square of which most cells are numbers, with or without names.

        Cells that are no bandwidths are refused when the matrix is read, with their line.
        """
        if "\n" not in text.strip() or len(text) > 2**26:
            return False
        rows = _rows(text)
        if not 2 <= len(rows) <= _MOST_ROWS + 1:
            return False
        _, body = _parts(rows)
        if _is_one_row_with_names(rows):
            return "," in text or ";" in text
        square = all(len(cells) == len(body) for _, cells in body)
        values = sum(_is_value(cell) for _, cells in body for cell in cells)
        return square and 2 * values > len(body) ** 2 > 1 and not _is_list_of_edges(body)

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network that the matrix means."""
        rows = _rows("\n".join(source.lines))
        if not rows:
            raise source.error("is empty; expected a matrix of bandwidths")
        names, body = _parts(rows)
        if len(body) > _MOST_ROWS:
            raise source.error(f"has more than {_MOST_ROWS} rows; import a smaller matrix")
        values = []
        for line, cells in body:
            if len(cells) != len(body):
                raise source.error(
                    f"has {plural(len(cells), 'value')}, but the matrix has {plural(len(body), 'row')}; write a square",
                    line,
                )
            values.append(tuple(_value(source, cell, line) for cell in cells))
        found = names or [str(number) for number in range(len(body))]
        holes = [
            (line, one, other)
            for (line, _), one, row in zip(body, found, values, strict=True)
            for other, value in zip(found, row, strict=True)
            if value is None and one != other
        ]
        if holes:
            line, one, other = holes[0]
            notes.ignore(f"{plural(len(holes), 'pair')} without a value, such as {one} to {other} (line {line})")
        return square_network(source, Square(tuple(found), tuple(values)), self.matrix, notes)


def _is_list_of_edges(body: Rows) -> bool:
    """Return whether three lines of three numbers are rather edges: two nodes that differ, and a bandwidth."""
    ends = all(cells[0] != cells[1] and cells[0].isdecimal() and cells[1].isdecimal() for _, cells in body)
    return len(body) == 3 and ends and any(cells[place] not in ("0", "0.0") for place, (_, cells) in enumerate(body))


def _value(source: Source, cell: str, line: int) -> Fraction | None:
    if cell.lower() in _EMPTY:
        return None
    try:
        value = bandwidth_in(BANDWIDTH_UNIT, cell) if cell[-1:].isalpha() else to_fraction(cell)
    except ValueError as error:
        raise source.error(f"{shown(cell)} {error}; expected GB/s", line) from None
    if value < 0:
        raise source.error(f"{shown(cell)} is below 0; expected GB/s", line)
    return value
